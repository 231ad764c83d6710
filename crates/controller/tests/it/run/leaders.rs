//! Several replicas: one writes, and another takes over.

use crate::run::cluster::Cluster;
use crate::run::modes::Provisioning;

#[tokio::test(start_paused = true)]
async fn failover_after_a_kill_reports_nothing_twice() {
    for how in Provisioning::ALL {
        let cluster = Cluster::new(false, how.failing());
        let first = cluster.start("a");
        cluster.pass(5).await;
        let second = cluster.start("b");
        cluster.provision(how, "default-x1").await;
        cluster.pass(60).await;
        assert_eq!(cluster.holder(), "a");
        first.kill().await;
        cluster.pass(30).await;
        assert_eq!(cluster.holder(), "b");
        cluster.pass(how.timeout_seconds()).await;
        assert_eq!(cluster.condition_of("default-x1").1, how.reason(), "{how:?}");
        assert_eq!(cluster.events().len(), 2, "{how:?}: {:?}", cluster.events());
        assert_eq!(cluster.record().entries().count(), 1, "{how:?}");
        second.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn stopped_leader_releases_its_lease() {
    let cluster = Cluster::new(false, Provisioning::Scriptless.failing());
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
async fn writes_stop_when_the_lease_cannot_be_renewed() {
    for how in Provisioning::ALL {
        let cluster = Cluster::new(false, how.failing());
        let replica = cluster.start("a");
        cluster.pass(5).await;
        cluster.provision(how, "default-x1").await;
        // Shortly before the bootstrap is known to have failed.
        let wait = if how.announces() { 10 } else { 14 * 60 };
        cluster.pass(wait).await;
        let rule = serde_json::json!({
            "when": {"service": "kubernetes", "method": "PUT", "path": "*/leases/*"},
            "then": {"status": {"status": 500}}, "untilSeconds": 35 + wait + 400,
        });
        let rule = serde_json::from_value(rule).unwrap();
        cluster.shell.with(|world, _| world.kubernetes_mut().add_fault(rule));
        let broken = cluster.shell.now();
        // The bootstrap fails in this time, and Karpenter deletes the node.
        cluster.pass(250).await;
        let late: Vec<_> = cluster
            .writes()
            .into_iter()
            .filter(|(.., at)| at.duration_since(broken).as_secs() >= 10)
            .collect();
        assert_eq!(late, [], "{how:?}: written without a lease");
        // After the next renewal the failure is reported: from Karpenter's event alone, or by the clock.
        cluster.pass(300).await;
        let reason = if how.announces() { "CSEFailureUnconfirmed" } else { "NodeNotRegistered" };
        assert_eq!(cluster.record().entries().count(), 1, "{how:?}");
        assert!(cluster.events().iter().any(|event| event.2 == reason), "{how:?}");
        replica.stop().await;
    }
}
