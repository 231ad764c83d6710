//! What Karpenter does to claims, and when.

use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter::{self, Mode};
use mooring_simulator::world::Options;
use serde_json::{Value, json};

use crate::support::{Bench, NODE_CLAIMS, condition};

const BROKEN: &str = "202601.27.0";

fn with(karpenter: karpenter::Options) -> Bench {
    Bench::new("healthy", Options { karpenter: Some(karpenter), ..Options::default() })
}

fn on_broken_image() -> karpenter::Options {
    karpenter::Options { image_version: BROKEN.to_owned(), ..karpenter::Options::default() }
}

fn launch(bench: &mut Bench, name: &str) {
    bench.world.create_claim(name, bench.now).unwrap();
    bench.pass(3);
}

fn says(bench: &Bench, claim: &str, kind: &str) -> String {
    let claim = bench.get(NODE_CLAIMS, claim).unwrap();
    condition(claim, kind).unwrap()["status"].as_str().unwrap().to_owned()
}

fn events(bench: &Bench) -> Vec<Value> {
    bench
        .world
        .kubernetes()
        .objects("events", Some("default"))
        .filter(|event| event["reason"] == "AsyncProvisioningError")
        .cloned()
        .collect()
}

fn has_vm(bench: &Bench, name: &str) -> bool {
    let azure = bench.world.azure();
    azure.resource(&format!("{}/{name}", azure.options().compute("virtualMachines"))).is_some()
}

#[test]
fn a_claim_is_launched_in_seconds_and_ready_in_minutes() {
    let mut bench = with(karpenter::Options::default());
    launch(&mut bench, "default-a");
    assert_eq!(says(&bench, "default-a", "Launched"), "True");
    assert_eq!(says(&bench, "default-a", "Registered"), "Unknown");
    let provider_id = bench.get(NODE_CLAIMS, "default-a").unwrap()["status"]["providerID"].clone();
    assert!(provider_id.as_str().unwrap().ends_with("/virtualMachines/aks-default-a"));
    bench.pass(40 + 60 + 10 + 15 + 5);
    for kind in ["Registered", "Initialized", "Ready"] {
        assert_eq!(says(&bench, "default-a", kind), "True", "{kind}");
    }
    let claim = bench.get(NODE_CLAIMS, "default-a").unwrap();
    assert_eq!(claim["status"]["nodeName"], "aks-default-a");
    assert_eq!(bench.get("nodes", "aks-default-a").unwrap()["spec"]["providerID"], provider_id);
    let writers: Vec<&str> = bench
        .world
        .kubernetes()
        .writes()
        .filter(|write| write.resource == NODE_CLAIMS && write.subresource == "status")
        .filter(|write| write.key.name == "default-a" && write.verb == "patch")
        .map(|write| write.user.as_str())
        .collect();
    assert_eq!(writers, ["karpenter"; 3], "launched, registered, initialized");
}

#[test]
fn a_failed_machine_stays_as_long_as_it_is_told_to_however_fast_the_world_is() {
    let mut options = Options { karpenter: Some(on_broken_image()), ..Options::default() };
    options.azure.speed = 1000.0;
    options.karpenter.as_mut().unwrap().linger_seconds = 4;
    let mut bench = Bench::new("healthy", options);
    launch(&mut bench, "default-b");
    assert_eq!(events(&bench).len(), 1, "the failure is announced");
    assert!(has_vm(&bench, "aks-default-b"), "and its machine can still be read");
    bench.pass(4);
    assert!(!has_vm(&bench, "aks-default-b"));
}

#[test]
fn a_failed_bootstrap_is_announced_then_the_machine_goes_and_then_the_claim() {
    let mut bench = with(on_broken_image());
    launch(&mut bench, "default-b");
    // Boot, bootstrap, and the poll that notices.
    bench.pass(40 + 75 + 3);
    let event = events(&bench).pop().expect("the failure is announced");
    let message = event["message"].as_str().unwrap();
    assert!(message.starts_with("Failed to register: creating VM CSE for VM \"aks-default-b\""));
    assert!(message.contains("VMExtensionProvisioningError") && !message.contains("211"));
    assert_eq!(message.len(), "Failed to register: ".len() + 500);
    assert_eq!(event["source"]["component"], "karpenter");
    assert_eq!(event["involvedObject"]["name"], "default-b");
    // The machine is about to go; the claim says nothing new.
    assert!(has_vm(&bench, "aks-default-b"));
    assert_eq!(says(&bench, "default-b", "Launched"), "True");
    assert_eq!(says(&bench, "default-b", "Registered"), "Unknown");
    bench.pass(15);
    assert!(has_vm(&bench, "aks-default-b"), "a forced deletion takes 20 seconds");
    assert!(
        bench.get(NODE_CLAIMS, "default-b").unwrap()["metadata"]["deletionTimestamp"].is_null()
    );
    bench.pass(10);
    assert!(!has_vm(&bench, "aks-default-b"));
    bench.pass(5);
    assert!(bench.get(NODE_CLAIMS, "default-b").is_none());
    let order: Vec<(&str, &str)> = bench
        .world
        .kubernetes()
        .writes()
        .filter(|write| write.user == "karpenter")
        .map(|write| (write.verb, write.resource.as_str()))
        .collect();
    let expected = [
        ("patch", NODE_CLAIMS),
        ("create", "events"),
        ("delete", NODE_CLAIMS),
        ("patch", NODE_CLAIMS),
        ("patch", NODE_CLAIMS),
    ];
    assert_eq!(order, expected, "launched; announced; deleted; terminating; let go");
}

#[test]
fn a_claim_that_never_registers_goes_after_fifteen_minutes() {
    let mut bench = with(karpenter::Options::default());
    let hangs = Cse { seconds: None, ..Cse::default() };
    bench.world.karpenter_mut().unwrap().set_fate("default-c", hangs);
    launch(&mut bench, "default-c");
    bench.pass(14 * 60);
    assert!(
        bench.get(NODE_CLAIMS, "default-c").unwrap()["metadata"]["deletionTimestamp"].is_null()
    );
    bench.pass(57);
    assert!(
        !bench.get(NODE_CLAIMS, "default-c").unwrap()["metadata"]["deletionTimestamp"].is_null()
    );
    bench.pass(30);
    assert!(bench.get(NODE_CLAIMS, "default-c").is_none() && !has_vm(&bench, "aks-default-c"));
    assert!(events(&bench).is_empty());
}

#[test]
fn after_a_restart_nobody_waits_for_the_bootstrap() {
    let mut bench = with(on_broken_image());
    launch(&mut bench, "default-d");
    let now = bench.now;
    bench.world.karpenter_mut().unwrap().restart(now);
    bench.pass(10 * 60);
    assert!(events(&bench).is_empty() && has_vm(&bench, "aks-default-d"));
    assert!(bench.get(NODE_CLAIMS, "default-d").is_some());
    bench.pass(6 * 60);
    assert!(bench.get(NODE_CLAIMS, "default-d").is_none());
}

#[test]
fn a_write_from_a_stale_copy_drops_what_others_wrote() {
    for (stale, kept) in [(0.0, true), (1.0, false)] {
        let mut bench =
            with(karpenter::Options { stale, stale_seconds: 10, ..karpenter::Options::default() });
        launch(&mut bench, "default-e");
        // The node registers two seconds after another's condition was written.
        bench.pass(40 + 60 + 10 - 3);
        let time = bench.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let foreign = json!([{"op": "add", "path": "/status/conditions/-", "value": {
            "type": "CSEProvisioned", "status": "True", "reason": "CSESucceeded", "message": "", "lastTransitionTime": time,
        }}]);
        let path = "/apis/karpenter.sh/v1/nodeclaims/default-e/status";
        let (status, _) = bench.kube(
            "PATCH",
            path,
            "simulated-administrator",
            "application/json-patch+json",
            &foreign.to_string(),
        );
        assert_eq!(status, 200);
        bench.pass(5);
        assert_eq!(says(&bench, "default-e", "Registered"), "True");
        let claim = bench.get(NODE_CLAIMS, "default-e").unwrap();
        assert_eq!(condition(claim, "CSEProvisioned").is_some(), kept, "stale {stale}");
    }
}

#[test]
fn machine_mode_says_so_on_the_claim_and_fails_in_the_words_of_aks() {
    let mut bench = with(karpenter::Options { mode: Mode::Machine, ..on_broken_image() });
    launch(&mut bench, "default-f");
    let claim = bench.get(NODE_CLAIMS, "default-f").unwrap();
    let machine = claim["metadata"]["annotations"]["karpenter.azure.com/aks-machine-resource-id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(machine.ends_with("/agentPools/aksmachines/machines/default-f"), "{machine}");
    assert!(
        claim["status"]["providerID"]
            .as_str()
            .unwrap()
            .ends_with("/aks-aksmachines-default-f-12345678-vm")
    );
    bench.pass(40 + 75 + 3);
    let (status, body) = bench.arm("GET", &machine, "");
    assert_eq!(status, 200, "{body}");
    assert_eq!(body["properties"]["provisioningState"], "Failed");
    assert_eq!(
        body["properties"]["status"]["provisioningError"]["code"],
        "VMExtensionProvisioningError"
    );
    let message = events(&bench)[0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("failed to create AKS machine \"default-f\""), "{message}");
    bench.pass(60);
    assert!(bench.get(NODE_CLAIMS, "default-f").is_none());
    assert_eq!(bench.arm("GET", &machine, "").0, 404);
}

#[test]
fn a_scriptless_machine_has_no_extension_to_ask() {
    let mut bench =
        with(karpenter::Options { mode: Mode::Scriptless, ..karpenter::Options::default() });
    launch(&mut bench, "default-g");
    bench.pass(60);
    let vm = format!("{}/aks-default-g", bench.world.azure().options().compute("virtualMachines"));
    let (status, body) =
        bench.arm("GET", &format!("{vm}?api-version=2024-11-01&$expand=instanceView"), "");
    assert_eq!((status, &body["properties"]["provisioningState"]), (200, &json!("Succeeded")));
    assert!(
        body["resources"].is_null() && body["properties"]["instanceView"]["extensions"].is_null()
    );
    bench.pass(80);
    assert_eq!(says(&bench, "default-g", "Ready"), "True");
}

#[test]
fn failed_claims_have_successors_up_to_a_bound() {
    let mut bench = with(karpenter::Options { replacements: 2, ..on_broken_image() });
    launch(&mut bench, "default-h");
    bench.pass(30 * 60);
    assert_eq!(events(&bench).len(), 3, "the first and two successors");
    assert_eq!(bench.world.kubernetes().count(NODE_CLAIMS), 0);
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let run = || {
        let options = karpenter::Options { stale: 0.5, replacements: 3, ..on_broken_image() };
        let mut bench =
            Bench::new("oras-missing", Options { karpenter: Some(options), ..Options::default() });
        launch(&mut bench, "default-i");
        for _ in 0..20 {
            bench.pass(61);
        }
        bench.world.trace()
    };
    let first = run();
    assert!(first.lines().count() > 20, "{first}");
    assert_eq!(first, run());
}
