//! Endpoints for the demo: bootstraps that run elsewhere, an injected wedge, another speed.

use mooring_simulator::azure::{Correlation, Cse, CseOutput};
use mooring_simulator::cluster::ClusterOptions;
use mooring_simulator::karpenter::{self, ProvisionMode};
use mooring_simulator::scenario::WedgeSettings;

use super::support::{Harness, NODE_CLAIMS, condition};

const IMAGE: &str = "202601.27.0";

/// Returns a fixture in which bootstraps on this image run elsewhere.
fn with_open_bootstraps() -> Harness {
    let waits = Cse { seconds: None, ..Cse::default() };
    let karpenter = karpenter::KarpenterOptions {
        mode: ProvisionMode::Vm,
        bootstraps: [(IMAGE.to_owned(), waits)].into(),
        ..karpenter::KarpenterOptions::default()
    };
    Harness::new(
        "healthy",
        ClusterOptions { karpenter: Some(karpenter), ..ClusterOptions::default() },
    )
}

fn launch(harness: &mut Harness, name: &str) {
    harness.world.karpenter_mut().unwrap().roll_image(IMAGE);
    harness.world.create_claim(name, harness.now).unwrap();
    harness.pass(3);
}

fn end(harness: &mut Harness, vm: &str, cse: Cse) -> bool {
    let now = harness.now;
    let ended = harness.world.azure_mut().end_bootstrap(vm, cse, now);
    harness.pass(1);
    ended
}

#[test]
fn external_bootstrap_is_awaited_and_reported() {
    let mut harness = with_open_bootstraps();
    launch(&mut harness, "default-a");
    assert!(harness.world.azure().waiting_bootstraps().is_empty(), "the machine does not run yet");
    harness.pass(40 + 3);
    let waiting = harness.world.azure().waiting_bootstraps();
    assert_eq!(waiting.len(), 1);
    assert_eq!(
        (waiting[0].name.as_str(), waiting[0].image_version.as_str()),
        ("aks-default-a", IMAGE)
    );
    let stdout = "{\"ExitCode\":\"232\",\"Error\":\"ERR_ORAS_BINARY_NOT_FOUND\"}\n".to_owned();
    let printed = CseOutput { stdout: stdout.clone(), stderr: "provision failed\n".to_owned() };
    let cse = Cse { exit_code: 232, printed: Some(printed), ..Cse::default() };
    assert!(end(&mut harness, "aks-default-a", cse.clone()));
    assert!(!end(&mut harness, "aks-default-a", cse), "it ends once");
    let azure = harness.world.azure();
    let id = format!("{}/aks-default-a", azure.options().compute("virtualMachines"));
    let extension = azure.resource(&format!("{id}/extensions/cse-agent-karpenter")).unwrap();
    let message = &extension["properties"]["instanceView"]["statuses"][0]["message"];
    let message = message.as_str().unwrap();
    assert!(message.starts_with("Enable failed: failed to execute command: command terminated with exit status=232\n[stdout]\n"));
    assert!(
        message.contains(&stdout) && message.ends_with("[stderr]\nprovision failed\n"),
        "{message}"
    );
    harness.pass(60);
    assert!(harness.get(NODE_CLAIMS, "default-a").is_none(), "Karpenter has heard of it");
}

#[test]
fn a_bootstrap_that_went_well_elsewhere_becomes_a_node() {
    let mut harness = with_open_bootstraps();
    launch(&mut harness, "default-b");
    launch(&mut harness, "default-c");
    harness.pass(40 + 3);
    assert!(end(&mut harness, "aks-default-b", Cse::default()));
    assert!(end(&mut harness, "aks-default-c", Cse { registers: false, ..Cse::default() }));
    harness.pass(60);
    let status = |harness: &Harness, claim: &str| {
        condition(harness.get(NODE_CLAIMS, claim).unwrap(), "Registered").unwrap()["status"].clone()
    };
    assert_eq!(status(&harness, "default-b"), "True");
    assert_eq!(status(&harness, "default-c"), "Unknown", "a bootstrap is no node");
}

#[test]
fn injected_wedge_has_its_past_failures() {
    let mut harness = Harness::new("healthy", ClusterOptions::default());
    let wedge = |pool: &str| WedgeSettings {
        pool: pool.to_owned(),
        failed_writes: 12,
        unregistered_nodes: 1,
        correlation: Correlation::Shared,
    };
    let now = harness.now;
    assert!(!harness.world.azure_mut().inject_wedge(&wedge("nosuch"), now));
    assert!(harness.world.azure_mut().inject_wedge(&wedge("system"), now));
    harness.pass(1);
    let azure = harness.world.azure();
    let pool = format!("{}/agentPools/system", azure.options().cluster_id());
    assert_eq!(azure.resource(&pool).unwrap()["properties"]["provisioningState"], "Failed");
    let nodes = harness.world.kubernetes().objects("nodes", None);
    let system = nodes.filter(|node| node["metadata"]["labels"]["agentpool"] == "system").count();
    assert_eq!(system, 2, "one of three is gone");
    assert_eq!(azure.state()["wedged"].as_array().unwrap().len(), 1);
}

#[test]
fn new_speed_applies_only_to_later_changes() {
    let mut harness = with_open_bootstraps();
    launch(&mut harness, "default-d");
    harness.world.set_speed(20.0);
    launch(&mut harness, "default-e");
    let names = |harness: &Harness| -> Vec<String> {
        harness.world.azure().waiting_bootstraps().into_iter().map(|vm| vm.name).collect()
    };
    assert_eq!(names(&harness), ["aks-default-e"], "43 seconds in 3");
    harness.pass(40 + 3);
    assert_eq!(names(&harness).len(), 2);
}
