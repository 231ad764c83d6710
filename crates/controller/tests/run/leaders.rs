//! Several replicas: one writes, and another takes over.

use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter::{Mode, Options};

use crate::cluster::Cluster;

fn failing() -> Options {
    let image = "202601.27.0".to_owned();
    Options {
        mode: Mode::Vm,
        bootstraps: [(image.clone(), Cse::oras_missing())].into(),
        image_version: image,
        ..Options::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_killed_leader_is_followed_by_another_and_nothing_is_told_twice() {
    let cluster = Cluster::new(false, failing());
    let first = cluster.start("a");
    cluster.pass(5).await;
    let second = cluster.start("b");
    cluster.claim("default-x1");
    cluster.pass(90).await;
    assert_eq!(cluster.holder(), "a");
    first.kill().await;
    cluster.pass(30).await;
    assert_eq!(cluster.holder(), "b");
    cluster.pass(200).await;
    assert_eq!(cluster.told("default-x1").1, "CSEFailed");
    assert_eq!(cluster.events().len(), 2, "{:?}", cluster.events());
    assert_eq!(cluster.record().entries().count(), 1);
    second.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_is_told_to_stop_gives_the_lease_back() {
    let cluster = Cluster::new(false, failing());
    let first = cluster.start("a");
    cluster.pass(5).await;
    let second = cluster.start("b");
    cluster.pass(5).await;
    assert_eq!(cluster.holder(), "a");
    first.stop().await;
    assert_eq!(cluster.holder(), "");
    cluster.pass(4).await;
    assert_eq!(cluster.holder(), "b");
    second.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_cannot_be_renewed_stops_all_writes_at_once() {
    let cluster = Cluster::new(false, failing());
    let replica = cluster.start("a");
    cluster.pass(5).await;
    cluster.claim("default-x1");
    cluster.pass(30).await;
    let rule = serde_json::json!({
        "when": {"service": "kubernetes", "method": "PUT", "path": "*/leases/*"},
        "then": {"status": {"status": 500}}, "untilSeconds": 400,
    });
    let rule = serde_json::from_value(rule).unwrap();
    cluster.shell.with(|world, _| world.kubernetes_mut().add_fault(rule));
    let broken = cluster.shell.now();
    // The bootstrap fails meanwhile, and Karpenter says so.
    cluster.pass(250).await;
    let late: Vec<_> = cluster
        .writes()
        .into_iter()
        .filter(|(.., at)| at.duration_since(broken).as_secs() >= 10)
        .collect();
    assert_eq!(late, [], "written without a lease");
    // When it can be renewed again, what is to be told is told, from Karpenter's event alone.
    cluster.pass(300).await;
    assert_eq!(cluster.record().entries().count(), 1);
    assert!(cluster.events().iter().any(|event| event.2 == "CSEFailureUnconfirmed"));
    replica.stop().await;
}
