//! Killed behind every write, and started again: the end is the same, and nothing is written twice.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter::{Mode, Options};

use crate::cluster::Cluster;

const CLAIMS: [&str; 3] = ["default-x1", "default-x2", "default-x3"];

/// What is left of a run, without its times.
#[derive(Debug, PartialEq, Eq)]
struct End {
    conditions: BTreeMap<String, (String, String, String)>,
    events: Vec<(String, String, String, String)>,
    record: Vec<(String, String, String)>,
}

fn end(cluster: &Cluster) -> End {
    let mut record: Vec<_> = cluster
        .record()
        .entries()
        .map(|entry| (entry.node_claim.clone(), entry.reason.clone(), entry.message.clone()))
        .collect();
    record.sort();
    End {
        conditions: CLAIMS.map(|claim| (claim.to_owned(), cluster.told(claim))).into(),
        events: cluster.events().into_iter().collect(),
        record,
    }
}

fn world(atomic: bool) -> Cluster {
    let image = "202601.27.0".to_owned();
    let cluster = Cluster::new(
        atomic,
        Options {
            mode: Mode::Vm,
            bootstraps: [(image.clone(), Cse::oras_missing())].into(),
            image_version: image,
            ..Options::default()
        },
    );
    cluster.shell.with(|world, _| {
        let karpenter = world.karpenter_mut().unwrap();
        karpenter.set_fate("default-x2", Cse::default());
        karpenter.set_fate("default-x3", Cse { registers: false, ..Cse::default() });
    });
    cluster
}

/// At most one status patch for each form of the condition, and one event for each object and reason.
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
    let events = cluster.events();
    let mut objects: Vec<_> =
        events.iter().map(|(kind, name, reason, note)| (kind, name, reason, note)).collect();
    objects.dedup();
    assert_eq!(objects.len(), events.len());
}

#[tokio::test(start_paused = true)]
async fn a_crash_behind_any_write_changes_nothing_in_the_end() {
    crash_behind_every_write(false).await;
}

#[tokio::test(start_paused = true)]
async fn a_crash_behind_any_write_changes_nothing_on_the_older_schema() {
    crash_behind_every_write(true).await;
}

async fn crash_behind_every_write(atomic: bool) {
    let clean = world(atomic);
    let (replica, wire) = clean.start_to_crash("a", usize::MAX - 1);
    clean.pass(5).await;
    for claim in CLAIMS {
        clean.claim(claim);
    }
    clean.pass(500).await;
    replica.stop().await;
    let (expected, writes) = (end(&clean), wire.writes.load(Ordering::SeqCst));
    costs_no_more_than_it_must(&clean, "clean");
    assert!(writes >= 8, "{writes}");
    assert_eq!(expected.conditions["default-x1"].1, "CSEFailed");
    assert_eq!(expected.record.len(), 2, "{expected:?}");
    for behind in 0..writes {
        let cluster = world(atomic);
        let (replica, wire) = cluster.start_to_crash("a", behind);
        cluster.pass(5).await;
        for claim in CLAIMS {
            cluster.claim(claim);
        }
        let crashed = tokio::time::timeout(Duration::from_mins(15), wire.crashed.notified());
        crashed.await.unwrap_or_else(|_| panic!("there is no write {behind}"));
        replica.kill().await;
        let next = cluster.start("b");
        cluster.pass(500).await;
        next.stop().await;
        let what = format!("crash behind write {behind} of {writes}");
        let mut end = end(&cluster);
        // A claim may be gone before the next leader can write on it; then its condition says what the
        // last one wrote, and the record and the events say the rest.
        for (claim, told) in &mut end.conditions {
            if told.1 == "CSERunning" || told.1.is_empty() {
                told.clone_from(&expected.conditions[claim]);
            }
        }
        assert_eq!(end, expected, "{what}");
        costs_no_more_than_it_must(&cluster, &what);
    }
}
