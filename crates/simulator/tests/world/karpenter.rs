//! Karpenter's writes to NodeClaims, and their timing.

use mooring_simulator::azure::{Cse, Join};
use mooring_simulator::cluster::Options;
use mooring_simulator::karpenter::{self, Mode};
use mooring_simulator::kubernetes::Key;
use serde_json::{Value, json};

use crate::support::{Bench, NODE_CLAIMS, condition};

pub(crate) const BROKEN: &str = "202601.27.0";

pub(crate) fn with(karpenter: karpenter::Options) -> Bench {
    Bench::new("healthy", Options { karpenter: Some(karpenter), ..Options::default() })
}

/// Returns a Karpenter that creates bootstrap extensions, which fail.
pub(crate) fn on_broken_image() -> karpenter::Options {
    karpenter::Options {
        mode: Mode::Vm,
        image_version: BROKEN.to_owned(),
        ..karpenter::Options::default()
    }
}

pub(crate) fn launch(bench: &mut Bench, name: &str) {
    bench.world.create_claim(name, bench.now).unwrap();
    bench.pass(3);
}

pub(crate) fn says(bench: &Bench, claim: &str, kind: &str) -> String {
    let claim = bench.get(NODE_CLAIMS, claim).unwrap();
    condition(claim, kind).unwrap()["status"].as_str().unwrap().to_owned()
}

pub(crate) fn events(bench: &Bench) -> Vec<Value> {
    bench
        .world
        .kubernetes()
        .objects("events", Some("default"))
        .filter(|event| event["reason"] == "AsyncProvisioningError")
        .cloned()
        .collect()
}

pub(crate) fn requests(bench: &Bench) -> Vec<Value> {
    let requests = "certificatesigningrequests.certificates.k8s.io";
    bench.world.kubernetes().objects(requests, None).cloned().collect()
}

/// Returns the VM of a NodeClaim with its instance view.
pub(crate) fn vm(bench: &mut Bench, claim: &str) -> Value {
    let vms = bench.world.azure().options().compute("virtualMachines");
    let (status, body) = bench.arm(
        "GET",
        &format!("{vms}/aks-{claim}?api-version=2024-11-01&$expand=instanceView"),
        "",
    );
    assert_eq!(status, 200, "{body}");
    body
}

pub(crate) fn has_vm(bench: &Bench, name: &str) -> bool {
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
    // Boot, the poll that notices, bootstrap, and the poll that notices.
    bench.pass(40 + 3 + 75 + 3);
    let event = events(&bench).pop().expect("the failure is announced");
    let message = event["message"].as_str().unwrap();
    assert!(message.starts_with("Failed to register: creating VM CSE for VM \"aks-default-b\""));
    assert!(message.contains("VMExtensionProvisioningError") && !message.contains("211"));
    assert_eq!(message.len(), "Failed to register: ".len() + 500 + "...".len());
    assert_eq!(event["source"]["component"], "karpenter");
    assert_eq!(event["involvedObject"]["name"], "default-b");
    // The VM is about to be deleted; the NodeClaim is unchanged.
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
    // Other events are about routine operations.
    let order: Vec<(&str, &str)> = bench
        .world
        .kubernetes()
        .writes()
        .filter(|write| write.user == "karpenter")
        .filter(|write| write.resource != "events" || write.key.name.contains(".asyncprovisioning"))
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
        // The node registers two seconds after another client wrote its condition.
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
    assert!(machine.ends_with("/agentPools/aksmanagedap/machines/default-f"), "{machine}");
    assert_eq!(claim["status"]["imageID"], format!("AKSAzureLinux-V3gen2-{BROKEN}"));
    assert!(
        claim["status"]["providerID"]
            .as_str()
            .unwrap()
            .ends_with("/aks-aksmanagedap-default-f-12345678-vm")
    );
    bench.pass(40 + 75);
    let (status, body) = bench.arm("GET", &machine, "");
    assert_eq!(status, 200, "{body}");
    assert_eq!(body["properties"]["provisioningState"], "Failed");
    let error = &body["properties"]["status"]["provisioningError"];
    assert_eq!(error["code"], "VMExtensionProvisioningError");
    assert_eq!(error["details"][0]["code"], "VMExtensionError_OrasPullNetworkTimeout");
    assert!(!error.to_string().contains("211"), "a name and no number: {error}");
    bench.pass(3);
    let message = events(&bench)[0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("failed to create AKS machine \"default-f\""), "{message}");
    assert!(message.contains("code=VMExtensionError_OrasPullNetworkTimeout"), "{message}");
    bench.pass(60);
    assert!(bench.get(NODE_CLAIMS, "default-f").is_none());
    assert_eq!(bench.arm("GET", &machine, "").0, 404);
    let trace = bench.world.azure().trace().text();
    assert!(trace.contains("agentPools/aksmanagedap/deleteMachines"), "{trace}");
    assert!(!trace.contains("DELETE"), "AKS deletes the VM: {trace}");
}

#[test]
fn by_default_a_machine_has_only_the_billing_extension() {
    let mut bench = with(karpenter::Options::default());
    launch(&mut bench, "default-g");
    bench.pass(60);
    let body = vm(&mut bench, "default-g");
    assert_eq!(body["properties"]["provisioningState"], "Succeeded");
    let extensions = body["resources"].as_array().unwrap();
    assert_eq!(extensions.len(), 1);
    assert_eq!(extensions[0]["name"], "computeAksLinuxBilling");
    let billing = &extensions[0]["properties"];
    assert_eq!(
        (&billing["publisher"], &billing["type"], &billing["provisioningState"]),
        (&json!("Microsoft.AKS"), &json!("Compute.AKS.Linux.Billing"), &json!("Succeeded"))
    );
    let image = &body["properties"]["storageProfile"]["imageReference"];
    let claim = bench.get(NODE_CLAIMS, "default-g").unwrap();
    assert!(claim["status"]["imageID"].as_str().unwrap().starts_with("/CommunityGalleries/"));
    assert_eq!(image["communityGalleryImageId"], claim["status"]["imageID"]);
    bench.pass(80);
    assert_eq!(says(&bench, "default-g", "Ready"), "True");
}

#[test]
fn extensions_come_after_the_vm_and_a_restart_in_between_loses_them() {
    let options = karpenter::Options { mode: Mode::Vm, ..karpenter::Options::default() };
    let mut bench = with(options);
    launch(&mut bench, "default-k");
    bench.pass(39);
    let body = vm(&mut bench, "default-k");
    assert_eq!(body["properties"]["provisioningState"], "Succeeded");
    assert!(body["resources"].is_null(), "none for some seconds");
    bench.pass(3);
    assert_eq!(vm(&mut bench, "default-k")["resources"][0]["name"], "cse-agent-karpenter");
    bench.pass(61);
    let extensions = vm(&mut bench, "default-k")["resources"].as_array().unwrap().len();
    assert_eq!(extensions, 2, "then billing");

    launch(&mut bench, "default-l");
    bench.pass(30);
    let now = bench.now;
    bench.world.karpenter_mut().unwrap().restart(now);
    bench.pass(13 * 60);
    let body = vm(&mut bench, "default-l");
    assert!(body["resources"].is_null(), "nobody creates them: {}", body["resources"]);
    assert_eq!(body["properties"]["provisioningState"], "Succeeded");
    assert!(bench.get(NODE_CLAIMS, "default-l").is_some());
    bench.pass(3 * 60);
    assert!(bench.get(NODE_CLAIMS, "default-l").is_none());
}

#[test]
fn a_stopped_karpenter_deletes_nothing_and_everything_when_it_is_back() {
    let mut bench = with(karpenter::Options {
        image_version: BROKEN.to_owned(),
        ..karpenter::Options::default()
    });
    for number in 0..5 {
        launch(&mut bench, &format!("default-{number}"));
    }
    bench.world.stop_karpenter();
    bench.pass(3600);
    assert_eq!(bench.world.kubernetes().count(NODE_CLAIMS), 5);
    let now = bench.now;
    bench.world.resume_karpenter(now);
    bench.pass(2);
    let deleted = bench.world.kubernetes().objects(NODE_CLAIMS, None);
    let deleted = deleted.filter(|claim| !claim["metadata"]["deletionTimestamp"].is_null());
    assert_eq!(deleted.count(), 5, "in one burst");
}

#[test]
fn a_kubelet_gets_as_far_as_it_gets() {
    for (join, approval, has_node, registers) in [
        (Join::Ready, Some("Approved"), true, true),
        (Join::NeverReady, Some("Approved"), true, true),
        (Join::NoProviderId, Some("Approved"), true, false),
        (Join::CsrDenied, Some("Denied"), false, false),
        (Join::CsrPending, None, false, false),
    ] {
        let mut bench = with(karpenter::Options::default());
        let cse = Cse { join, ..Cse::default() };
        bench.world.karpenter_mut().unwrap().set_fate("default-n", cse);
        launch(&mut bench, "default-n");
        bench.pass(180);
        let requests = requests(&bench);
        let decision = requests[0]["status"]["conditions"][0]["type"].as_str();
        assert_eq!((requests.len(), decision), (1, approval), "{join:?}");
        assert_eq!(requests[0]["spec"]["username"], "system:bootstrap:abcdef");
        let node = bench.get("nodes", "aks-default-n");
        assert_eq!(node.is_some(), has_node, "{join:?}");
        let has_id = node.is_some_and(|node| node["spec"]["providerID"].is_string());
        assert_eq!(has_id, has_node && join != Join::NoProviderId);
        let registered = says(&bench, "default-n", "Registered") == "True";
        assert_eq!(registered, registers, "{join:?}");
        let ready = says(&bench, "default-n", "Ready") == "True";
        assert_eq!(ready, join == Join::Ready, "{join:?}");
        bench.pass(24 * 3600);
        assert!(self::requests(&bench).is_empty(), "they are removed in the end");
    }
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
fn a_node_without_a_provider_id_stops_all_provisioning_after_a_restart() {
    let mut bench = with(karpenter::Options { replacements: 1, ..on_broken_image() });
    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "aks-default-lost", "labels": {"karpenter.sh/nodepool": "default"}},
    });
    let now = bench.now;
    bench.world.kubernetes_mut().create(node, now).unwrap();
    launch(&mut bench, "default-j");
    let now = bench.now;
    bench.world.karpenter_mut().unwrap().restart(now);
    bench.pass(60 * 60);
    assert_eq!(bench.world.kubernetes().count(NODE_CLAIMS), 0, "the successor is not created");
    let (key, now) = (Key::new(None, "aks-default-lost"), bench.now);
    bench.world.kubernetes_mut().delete("nodes", &key, now).unwrap();
    bench.pass(10);
    assert_eq!(bench.world.kubernetes().count(NODE_CLAIMS), 1);
}

#[test]
fn a_change_of_a_foreign_condition_is_an_event_with_its_message() {
    let mut bench = with(karpenter::Options::default());
    launch(&mut bench, "default-k");
    let foreign = json!([{"op": "add", "path": "/status/conditions/-", "value": {
        "type": "CSEProvisioned", "status": "False", "reason": "CSEFailed", "message": "it failed",
        "lastTransitionTime": "2026-11-15T05:00:00Z",
    }}]);
    let path = "/apis/karpenter.sh/v1/nodeclaims/default-k/status";
    let form = "application/json-patch+json";
    bench.kube("PATCH", path, "simulated-administrator", form, &foreign.to_string());
    bench.pass(2);
    let events = bench.world.kubernetes().objects("events", Some("default"));
    let told: Vec<&Value> = events.filter(|event| event["reason"] == "CSEProvisioned").collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["type"], "Normal");
    assert!(
        told[0]["message"]
            .as_str()
            .unwrap()
            .ends_with("Unknown -> False, Reason: CSEFailed, Message: it failed")
    );
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
