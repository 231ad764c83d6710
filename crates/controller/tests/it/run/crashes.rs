//! Crashes after every write: the end state is the same, and nothing is written twice.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mooring_nodes::record::counts::{Filter, Total};
use mooring_simulator::azure::Cse;

use crate::run::cluster::Cluster;
use crate::run::modes::Provisioning;

const CLAIMS: [&str; 3] = ["default-x1", "default-x2", "default-x3"];

/// End state of a run, without times.
#[derive(Debug, PartialEq, Eq)]
struct End {
    conditions: BTreeMap<String, (String, String, String)>,
    events: Vec<(String, String, String, String)>,
    record: Vec<(String, String, String)>,
    counts: Vec<Total>,
}

fn end(cluster: &Cluster) -> End {
    let mut record: Vec<_> = cluster
        .record()
        .entries()
        .map(|entry| (entry.node_claim.clone(), entry.reason.clone(), entry.message.clone()))
        .collect();
    record.sort();
    End {
        conditions: CLAIMS.map(|claim| (claim.to_owned(), cluster.condition_of(claim))).into(),
        events: cluster.events(),
        record,
        counts: cluster.counts().unwrap().totals(Filter::default()),
    }
}

fn world(how: Provisioning, atomic: bool) -> Cluster {
    let cluster = Cluster::new(atomic, how.failing());
    cluster.shell.with(|world, _| {
        let karpenter = world.karpenter_mut().unwrap();
        karpenter.set_cse("default-x2", Cse::default());
        karpenter.set_cse("default-x3", Cse { registers: false, ..Cse::default() });
    });
    cluster
}

/// One after another, so that a leader exists whenever one of them ends.
async fn provision_all(cluster: &Cluster, how: Provisioning) {
    for claim in CLAIMS {
        cluster.provision(how, claim).await;
        cluster.pass(30).await;
    }
}

/// Asserts at most one status patch for each version of the condition, and no event twice.
fn costs_no_more_than_it_must(cluster: &Cluster, what: &str) {
    let mut patches: BTreeMap<String, usize> = BTreeMap::new();
    for (resource, uid, how, _) in cluster.writes() {
        assert!(
            ["configmaps", "events.events.k8s.io", "events", "nodeclaims.karpenter.sh"]
                .contains(&resource.as_str()),
            "{what}: {resource}"
        );
        if resource.starts_with("nodeclaims") {
            assert_eq!(how, "patch status", "{what}");
            *patches.entry(uid).or_default() += 1;
        }
    }
    let forms: usize = CLAIMS.iter().map(|claim| cluster.forms(claim).len()).sum();
    let patches: usize = patches.values().sum();
    assert!(patches <= forms, "{what}: {patches} patches for {forms} forms");
    let mut events = cluster.events();
    let all = events.len();
    events.dedup();
    assert_eq!(events.len(), all, "{what}: {events:?}");
}

#[tokio::test(start_paused = true)]
async fn crash_after_any_write_changes_nothing() {
    crash_after_every_write(Provisioning::Scriptless, false).await;
}

mod slow {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn crash_after_any_write_changes_nothing_in_other_modes() {
        for how in [Provisioning::Extension, Provisioning::Machine, Provisioning::ExtensionLost] {
            crash_after_every_write(how, false).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn crash_after_any_write_changes_nothing_on_the_old_schema() {
        // With and without an extension: other modes do not depend on the schema.
        for how in [Provisioning::Scriptless, Provisioning::Extension] {
            crash_after_every_write(how, true).await;
        }
    }
}

async fn crash_after_every_write(how: Provisioning, atomic: bool) {
    let clean = world(how, atomic);
    let (replica, wire) = clean.start_to_crash("a", usize::MAX - 1);
    clean.pass(5).await;
    provision_all(&clean, how).await;
    clean.pass(how.timeout_seconds() + 200).await;
    replica.stop().await;
    let (expected, writes) = (end(&clean), wire.writes.load(Ordering::SeqCst));
    costs_no_more_than_it_must(&clean, "clean");
    assert!(writes >= 8, "{how:?}: {writes}");
    assert_eq!(expected.conditions["default-x1"].1, how.reason());
    let failed = if how == Provisioning::ExtensionLost { 3 } else { 2 };
    assert_eq!(expected.record.len(), failed, "{how:?}: {expected:?}");
    let counted: u64 = expected.counts.iter().flat_map(|total| total.failed.values()).sum();
    let joined: u64 = expected.counts.iter().map(|total| total.joined).sum();
    assert_eq!((counted, joined), (failed as u64, 3 - failed as u64), "{how:?}: {expected:?}");
    for last_write in 0..writes {
        let cluster = world(how, atomic);
        let (replica, wire) = cluster.start_to_crash("a", last_write);
        cluster.pass(5).await;
        let mut provisioned = std::pin::pin!(provision_all(&cluster, how));
        let crashed = async {
            let crashed = tokio::time::timeout(Duration::from_mins(30), wire.crashed.notified());
            crashed.await.unwrap_or_else(|_| panic!("{how:?}: there is no write {last_write}"));
            replica.kill().await;
            cluster.start("b")
        };
        let (next, ()) = tokio::join!(crashed, &mut provisioned);
        cluster.pass(how.timeout_seconds() + 200).await;
        next.stop().await;
        let what = format!("{how:?}: crash after write {last_write} of {writes}");
        assert_eq!(end(&cluster), expected, "{what}");
        costs_no_more_than_it_must(&cluster, &what);
    }
}
