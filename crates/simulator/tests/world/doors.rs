//! Endpoints for the demo: bootstraps that run elsewhere, an injected wedge, another speed.

use mooring_simulator::azure::{Correlation, Cse, Printed};
use mooring_simulator::cluster::Options;
use mooring_simulator::karpenter::{self, Mode};
use mooring_simulator::scenario::Wedge;

use crate::support::{Bench, NODE_CLAIMS, condition};

const IMAGE: &str = "202601.27.0";

/// Returns a fixture in which bootstraps on this image run elsewhere.
fn with_open_bootstraps() -> Bench {
    let waits = Cse { seconds: None, ..Cse::default() };
    let karpenter = karpenter::Options {
        mode: Mode::Vm,
        bootstraps: [(IMAGE.to_owned(), waits)].into(),
        ..karpenter::Options::default()
    };
    Bench::new("healthy", Options { karpenter: Some(karpenter), ..Options::default() })
}

fn launch(bench: &mut Bench, name: &str) {
    bench.world.karpenter_mut().unwrap().roll_image(IMAGE);
    bench.world.create_claim(name, bench.now).unwrap();
    bench.pass(3);
}

fn end(bench: &mut Bench, vm: &str, cse: Cse) -> bool {
    let now = bench.now;
    let ended = bench.world.azure_mut().end_bootstrap(vm, cse, now);
    bench.pass(1);
    ended
}

#[test]
fn a_bootstrap_that_runs_elsewhere_is_waited_for_and_told_as_it_ended() {
    let mut bench = with_open_bootstraps();
    launch(&mut bench, "default-a");
    assert!(bench.world.azure().waiting_bootstraps().is_empty(), "the machine does not run yet");
    bench.pass(40 + 3);
    let waiting = bench.world.azure().waiting_bootstraps();
    assert_eq!(waiting.len(), 1);
    assert_eq!(
        (waiting[0].name.as_str(), waiting[0].image_version.as_str()),
        ("aks-default-a", IMAGE)
    );
    let stdout = "{\"ExitCode\":\"232\",\"Error\":\"ERR_ORAS_BINARY_NOT_FOUND\"}\n".to_owned();
    let printed = Printed { stdout: stdout.clone(), stderr: "provision failed\n".to_owned() };
    let cse = Cse { exit_code: 232, printed: Some(printed), ..Cse::default() };
    assert!(end(&mut bench, "aks-default-a", cse.clone()));
    assert!(!end(&mut bench, "aks-default-a", cse), "it ends once");
    let azure = bench.world.azure();
    let id = format!("{}/aks-default-a", azure.options().compute("virtualMachines"));
    let extension = azure.resource(&format!("{id}/extensions/cse-agent-karpenter")).unwrap();
    let message = &extension["properties"]["instanceView"]["statuses"][0]["message"];
    let message = message.as_str().unwrap();
    assert!(message.starts_with("Enable failed: failed to execute command: command terminated with exit status=232\n[stdout]\n"));
    assert!(
        message.contains(&stdout) && message.ends_with("[stderr]\nprovision failed\n"),
        "{message}"
    );
    bench.pass(60);
    assert!(bench.get(NODE_CLAIMS, "default-a").is_none(), "Karpenter has heard of it");
}

#[test]
fn a_bootstrap_that_went_well_elsewhere_becomes_a_node() {
    let mut bench = with_open_bootstraps();
    launch(&mut bench, "default-b");
    launch(&mut bench, "default-c");
    bench.pass(40 + 3);
    assert!(end(&mut bench, "aks-default-b", Cse::default()));
    assert!(end(&mut bench, "aks-default-c", Cse { registers: false, ..Cse::default() }));
    bench.pass(60);
    let status = |bench: &Bench, claim: &str| {
        condition(bench.get(NODE_CLAIMS, claim).unwrap(), "Registered").unwrap()["status"].clone()
    };
    assert_eq!(status(&bench, "default-b"), "True");
    assert_eq!(status(&bench, "default-c"), "Unknown", "a bootstrap is no node");
}

#[test]
fn a_wedge_that_strikes_looks_as_if_it_had_been_there_for_long() {
    let mut bench = Bench::new("healthy", Options::default());
    let wedge = |pool: &str| Wedge {
        pool: pool.to_owned(),
        failed_writes: 12,
        unregistered_nodes: 1,
        correlation: Correlation::Shared,
    };
    let now = bench.now;
    assert!(!bench.world.azure_mut().strike(&wedge("nosuch"), now));
    assert!(bench.world.azure_mut().strike(&wedge("system"), now));
    bench.pass(1);
    let azure = bench.world.azure();
    let pool = format!("{}/agentPools/system", azure.options().cluster_id());
    assert_eq!(azure.resource(&pool).unwrap()["properties"]["provisioningState"], "Failed");
    let nodes = bench.world.kubernetes().objects("nodes", None);
    let system = nodes.filter(|node| node["metadata"]["labels"]["agentpool"] == "system").count();
    assert_eq!(system, 2, "one of three is gone");
    assert_eq!(azure.state()["wedged"].as_array().unwrap().len(), 1);
}

#[test]
fn another_speed_holds_for_what_comes_and_not_for_what_is_under_way() {
    let mut bench = with_open_bootstraps();
    launch(&mut bench, "default-d");
    bench.world.set_speed(20.0);
    launch(&mut bench, "default-e");
    let names = |bench: &Bench| -> Vec<String> {
        bench.world.azure().waiting_bootstraps().into_iter().map(|vm| vm.name).collect()
    };
    assert_eq!(names(&bench), ["aks-default-e"], "43 seconds in 3");
    bench.pass(40 + 3);
    assert_eq!(names(&bench).len(), 2);
}
