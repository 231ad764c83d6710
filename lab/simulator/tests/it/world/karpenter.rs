//! Karpenter's writes to NodeClaims, and their timing.

use mooring_simulator::azure::{Cse, Join};
use mooring_simulator::cluster::ClusterOptions;
use mooring_simulator::karpenter::{self, ProvisionMode};
use mooring_simulator::kubernetes::Key;
use serde_json::{Value, json};

use super::support::{Harness, NODE_CLAIMS, condition};

pub(crate) const BROKEN: &str = "202601.27.0";

pub(crate) fn with(karpenter: karpenter::KarpenterOptions) -> Harness {
    Harness::new(
        "healthy",
        ClusterOptions { karpenter: Some(karpenter), ..ClusterOptions::default() },
    )
}

/// Returns a Karpenter that creates bootstrap extensions, which fail.
pub(crate) fn on_broken_image() -> karpenter::KarpenterOptions {
    karpenter::KarpenterOptions {
        mode: ProvisionMode::Vm,
        image_version: BROKEN.to_owned(),
        ..karpenter::KarpenterOptions::default()
    }
}

pub(crate) fn launch(harness: &mut Harness, name: &str) {
    harness.world.create_claim(name, harness.now).unwrap();
    harness.pass(3);
}

pub(crate) fn says(harness: &Harness, claim: &str, kind: &str) -> String {
    let claim = harness.get(NODE_CLAIMS, claim).unwrap();
    condition(claim, kind).unwrap()["status"].as_str().unwrap().to_owned()
}

pub(crate) fn events(harness: &Harness) -> Vec<Value> {
    harness
        .world
        .kubernetes()
        .objects("events", Some("default"))
        .filter(|event| event["reason"] == "AsyncProvisioningError")
        .cloned()
        .collect()
}

pub(crate) fn requests(harness: &Harness) -> Vec<Value> {
    let requests = "certificatesigningrequests.certificates.k8s.io";
    harness.world.kubernetes().objects(requests, None).cloned().collect()
}

/// Returns the VM of a NodeClaim with its instance view.
pub(crate) fn vm(harness: &mut Harness, claim: &str) -> Value {
    let vms = harness.world.azure().options().compute("virtualMachines");
    let (status, body) = harness.arm(
        "GET",
        &format!("{vms}/aks-{claim}?api-version=2024-11-01&$expand=instanceView"),
        "",
    );
    assert_eq!(status, 200, "{body}");
    body
}

pub(crate) fn has_vm(harness: &Harness, name: &str) -> bool {
    let azure = harness.world.azure();
    azure.resource(&format!("{}/{name}", azure.options().compute("virtualMachines"))).is_some()
}

#[test]
fn a_claim_is_launched_in_seconds_and_ready_in_minutes() {
    let mut harness = with(karpenter::KarpenterOptions::default());
    launch(&mut harness, "default-a");
    assert_eq!(says(&harness, "default-a", "Launched"), "True");
    assert_eq!(says(&harness, "default-a", "Registered"), "Unknown");
    let provider_id =
        harness.get(NODE_CLAIMS, "default-a").unwrap()["status"]["providerID"].clone();
    assert!(provider_id.as_str().unwrap().ends_with("/virtualMachines/aks-default-a"));
    harness.pass(40 + 60 + 10 + 15 + 5);
    for kind in ["Registered", "Initialized", "Ready"] {
        assert_eq!(says(&harness, "default-a", kind), "True", "{kind}");
    }
    let claim = harness.get(NODE_CLAIMS, "default-a").unwrap();
    assert_eq!(claim["status"]["nodeName"], "aks-default-a");
    assert_eq!(harness.get("nodes", "aks-default-a").unwrap()["spec"]["providerID"], provider_id);
    let writers: Vec<&str> = harness
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
fn failed_vm_lingers_regardless_of_speed() {
    let mut options =
        ClusterOptions { karpenter: Some(on_broken_image()), ..ClusterOptions::default() };
    options.azure.speed = 1000.0;
    options.karpenter.as_mut().unwrap().linger_seconds = 4;
    let mut harness = Harness::new("healthy", options);
    launch(&mut harness, "default-b");
    assert_eq!(events(&harness).len(), 1, "the failure is announced");
    assert!(has_vm(&harness, "aks-default-b"), "and its machine can still be read");
    harness.pass(4);
    assert!(!has_vm(&harness, "aks-default-b"));
}

#[test]
fn failed_bootstrap_is_reported_before_the_deletions() {
    let mut harness = with(on_broken_image());
    launch(&mut harness, "default-b");
    // Boot, the poll that notices, bootstrap, and the poll that notices.
    harness.pass(40 + 3 + 75 + 3);
    let event = events(&harness).pop().expect("the failure is announced");
    let message = event["message"].as_str().unwrap();
    assert!(message.starts_with("Failed to register: creating VM CSE for VM \"aks-default-b\""));
    assert!(message.contains("VMExtensionProvisioningError") && !message.contains("211"));
    assert_eq!(message.len(), "Failed to register: ".len() + 500 + "...".len());
    assert_eq!(event["source"]["component"], "karpenter");
    assert_eq!(event["involvedObject"]["name"], "default-b");
    // The VM is about to be deleted; the NodeClaim is unchanged.
    assert!(has_vm(&harness, "aks-default-b"));
    assert_eq!(says(&harness, "default-b", "Launched"), "True");
    assert_eq!(says(&harness, "default-b", "Registered"), "Unknown");
    harness.pass(15);
    assert!(has_vm(&harness, "aks-default-b"), "a forced deletion takes 20 seconds");
    assert!(
        harness.get(NODE_CLAIMS, "default-b").unwrap()["metadata"]["deletionTimestamp"].is_null()
    );
    harness.pass(10);
    assert!(!has_vm(&harness, "aks-default-b"));
    harness.pass(5);
    assert!(harness.get(NODE_CLAIMS, "default-b").is_none());
    // Other events are about routine operations.
    let order: Vec<(&str, &str)> = harness
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
fn restart_loses_the_bootstrap_poller() {
    let mut harness = with(on_broken_image());
    launch(&mut harness, "default-d");
    let now = harness.now;
    harness.world.karpenter_mut().unwrap().restart(now);
    harness.pass(10 * 60);
    assert!(events(&harness).is_empty() && has_vm(&harness, "aks-default-d"));
    assert!(harness.get(NODE_CLAIMS, "default-d").is_some());
    harness.pass(6 * 60);
    assert!(harness.get(NODE_CLAIMS, "default-d").is_none());
}

#[test]
fn a_write_from_a_stale_copy_drops_what_others_wrote() {
    for (stale, kept) in [(0.0, true), (1.0, false)] {
        let mut harness = with(karpenter::KarpenterOptions {
            stale,
            stale_seconds: 10,
            ..karpenter::KarpenterOptions::default()
        });
        launch(&mut harness, "default-e");
        // The node registers two seconds after another client wrote its condition.
        harness.pass(40 + 60 + 10 - 3);
        let time = harness.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let foreign = json!([{"op": "add", "path": "/status/conditions/-", "value": {
            "type": "CSEProvisioned", "status": "True", "reason": "CSESucceeded", "message": "", "lastTransitionTime": time,
        }}]);
        let path = "/apis/karpenter.sh/v1/nodeclaims/default-e/status";
        let (status, _) = harness.kube(
            "PATCH",
            path,
            "simulated-administrator",
            "application/json-patch+json",
            &foreign.to_string(),
        );
        assert_eq!(status, 200);
        harness.pass(5);
        assert_eq!(says(&harness, "default-e", "Registered"), "True");
        let claim = harness.get(NODE_CLAIMS, "default-e").unwrap();
        assert_eq!(condition(claim, "CSEProvisioned").is_some(), kept, "stale {stale}");
    }
}

#[test]
fn machine_mode_annotates_nodeclaim_and_fails_like_aks() {
    let mut harness =
        with(karpenter::KarpenterOptions { mode: ProvisionMode::Machine, ..on_broken_image() });
    launch(&mut harness, "default-f");
    let claim = harness.get(NODE_CLAIMS, "default-f").unwrap();
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
    harness.pass(40 + 75);
    let (status, body) = harness.arm("GET", &machine, "");
    assert_eq!(status, 200, "{body}");
    assert_eq!(body["properties"]["provisioningState"], "Failed");
    let error = &body["properties"]["status"]["provisioningError"];
    assert_eq!(error["code"], "VMExtensionProvisioningError");
    assert_eq!(error["details"][0]["code"], "VMExtensionError_OrasPullNetworkTimeout");
    assert!(!error.to_string().contains("211"), "a name and no number: {error}");
    harness.pass(3);
    let message = events(&harness)[0]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("failed to create AKS machine \"default-f\""), "{message}");
    assert!(message.contains("code=VMExtensionError_OrasPullNetworkTimeout"), "{message}");
    harness.pass(60);
    assert!(harness.get(NODE_CLAIMS, "default-f").is_none());
    assert_eq!(harness.arm("GET", &machine, "").0, 404);
    let trace = harness.world.azure().trace().text();
    assert!(trace.contains("agentPools/aksmanagedap/deleteMachines"), "{trace}");
    assert!(!trace.contains("DELETE"), "AKS deletes the VM: {trace}");
}

#[test]
fn by_default_a_machine_has_only_the_billing_extension() {
    let mut harness = with(karpenter::KarpenterOptions::default());
    launch(&mut harness, "default-g");
    harness.pass(60);
    let body = vm(&mut harness, "default-g");
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
    let claim = harness.get(NODE_CLAIMS, "default-g").unwrap();
    assert!(claim["status"]["imageID"].as_str().unwrap().starts_with("/CommunityGalleries/"));
    assert_eq!(image["communityGalleryImageId"], claim["status"]["imageID"]);
    harness.pass(80);
    assert_eq!(says(&harness, "default-g", "Ready"), "True");
}

#[test]
fn extensions_follow_the_vm_and_a_restart_loses_them() {
    let options = karpenter::KarpenterOptions {
        mode: ProvisionMode::Vm,
        ..karpenter::KarpenterOptions::default()
    };
    let mut harness = with(options);
    launch(&mut harness, "default-k");
    harness.pass(39);
    let body = vm(&mut harness, "default-k");
    assert_eq!(body["properties"]["provisioningState"], "Succeeded");
    assert!(body["resources"].is_null(), "none for some seconds");
    harness.pass(3);
    assert_eq!(vm(&mut harness, "default-k")["resources"][0]["name"], "cse-agent-karpenter");
    harness.pass(61);
    let extensions = vm(&mut harness, "default-k")["resources"].as_array().unwrap().len();
    assert_eq!(extensions, 2, "then billing");

    launch(&mut harness, "default-l");
    harness.pass(30);
    let now = harness.now;
    harness.world.karpenter_mut().unwrap().restart(now);
    harness.pass(13 * 60);
    let body = vm(&mut harness, "default-l");
    assert!(body["resources"].is_null(), "nobody creates them: {}", body["resources"]);
    assert_eq!(body["properties"]["provisioningState"], "Succeeded");
    assert!(harness.get(NODE_CLAIMS, "default-l").is_some());
    harness.pass(3 * 60);
    assert!(harness.get(NODE_CLAIMS, "default-l").is_none());
}

#[test]
fn karpenter_deletes_only_after_it_is_started_again() {
    let mut harness = with(karpenter::KarpenterOptions {
        image_version: BROKEN.to_owned(),
        ..karpenter::KarpenterOptions::default()
    });
    for number in 0..5 {
        launch(&mut harness, &format!("default-{number}"));
    }
    harness.world.stop_karpenter();
    harness.pass(3600);
    assert_eq!(harness.world.kubernetes().count(NODE_CLAIMS), 5);
    let now = harness.now;
    harness.world.resume_karpenter(now);
    harness.pass(2);
    let deleted = harness.world.kubernetes().objects(NODE_CLAIMS, None);
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
        let mut harness = with(karpenter::KarpenterOptions::default());
        let cse = Cse { join, ..Cse::default() };
        harness.world.karpenter_mut().unwrap().set_cse("default-n", cse);
        launch(&mut harness, "default-n");
        harness.pass(180);
        let requests = requests(&harness);
        let decision = requests[0]["status"]["conditions"][0]["type"].as_str();
        assert_eq!((requests.len(), decision), (1, approval), "{join:?}");
        assert_eq!(requests[0]["spec"]["username"], "system:bootstrap:abcdef");
        let node = harness.get("nodes", "aks-default-n");
        assert_eq!(node.is_some(), has_node, "{join:?}");
        let has_id = node.is_some_and(|node| node["spec"]["providerID"].is_string());
        assert_eq!(has_id, has_node && join != Join::NoProviderId);
        let registered = says(&harness, "default-n", "Registered") == "True";
        assert_eq!(registered, registers, "{join:?}");
        let ready = says(&harness, "default-n", "Ready") == "True";
        assert_eq!(ready, join == Join::Ready, "{join:?}");
        harness.pass(24 * 3600);
        assert!(self::requests(&harness).is_empty(), "they are removed in the end");
    }
}

#[test]
fn failed_claims_have_successors_up_to_a_bound() {
    let mut harness = with(karpenter::KarpenterOptions { replacements: 2, ..on_broken_image() });
    launch(&mut harness, "default-h");
    harness.pass(30 * 60);
    assert_eq!(events(&harness).len(), 3, "the first and two successors");
    assert_eq!(harness.world.kubernetes().count(NODE_CLAIMS), 0);
}

#[test]
fn node_without_provider_id_blocks_provisioning_at_restart() {
    let mut harness = with(karpenter::KarpenterOptions { replacements: 1, ..on_broken_image() });
    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "aks-default-lost", "labels": {"karpenter.sh/nodepool": "default"}},
    });
    let now = harness.now;
    harness.world.kubernetes_mut().create(node, now).unwrap();
    launch(&mut harness, "default-j");
    let now = harness.now;
    harness.world.karpenter_mut().unwrap().restart(now);
    harness.pass(60 * 60);
    assert_eq!(harness.world.kubernetes().count(NODE_CLAIMS), 0, "the successor is not created");
    let (key, now) = (Key::new(None, "aks-default-lost"), harness.now);
    harness.world.kubernetes_mut().delete("nodes", &key, now).unwrap();
    harness.pass(10);
    assert_eq!(harness.world.kubernetes().count(NODE_CLAIMS), 1);
}

#[test]
fn a_change_of_a_foreign_condition_is_an_event_with_its_message() {
    let mut harness = with(karpenter::KarpenterOptions::default());
    launch(&mut harness, "default-k");
    let foreign = json!([{"op": "add", "path": "/status/conditions/-", "value": {
        "type": "CSEProvisioned", "status": "False", "reason": "CSEFailed", "message": "it failed",
        "lastTransitionTime": "2026-11-15T05:00:00Z",
    }}]);
    let path = "/apis/karpenter.sh/v1/nodeclaims/default-k/status";
    let form = "application/json-patch+json";
    harness.kube("PATCH", path, "simulated-administrator", form, &foreign.to_string());
    harness.pass(2);
    let events = harness.world.kubernetes().objects("events", Some("default"));
    let provisioned: Vec<&Value> =
        events.filter(|event| event["reason"] == "CSEProvisioned").collect();
    assert_eq!(provisioned.len(), 1, "{provisioned:?}");
    assert_eq!(provisioned[0]["type"], "Normal");
    assert!(
        provisioned[0]["message"]
            .as_str()
            .unwrap()
            .ends_with("Unknown -> False, Reason: CSEFailed, Message: it failed")
    );
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let run = || {
        let options =
            karpenter::KarpenterOptions { stale: 0.5, replacements: 3, ..on_broken_image() };
        let mut harness = Harness::new(
            "oras-missing",
            ClusterOptions { karpenter: Some(options), ..ClusterOptions::default() },
        );
        launch(&mut harness, "default-i");
        for _ in 0..20 {
            harness.pass(61);
        }
        harness.world.trace()
    };
    let first = run();
    assert!(first.lines().count() > 20, "{first}");
    assert_eq!(first, run());
}
