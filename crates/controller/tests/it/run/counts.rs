//! Counts of joined and failed nodes against the whole controller.

use mooring_nodes::record::counts::{CountsDocument, Filter, KEY, NAME};
use mooring_simulator::azure::Cse;
use mooring_simulator::kubernetes::Key;
use serde_json::{Value, json};

use crate::run::cluster::{Cluster, NAMESPACE};
use crate::run::modes::Provisioning;

fn sums(counts: &CountsDocument) -> (u64, u64) {
    let totals = counts.totals(Filter::default());
    let failed = totals.iter().flat_map(|total| total.failed.values()).sum();
    (totals.iter().map(|total| total.joined).sum(), failed)
}

fn object(cluster: &Cluster) -> Value {
    cluster.shell.with(|world, _| {
        let key = Key::new(Some(NAMESPACE), NAME);
        world.kubernetes().get("configmaps", &key).cloned().unwrap()
    })
}

/// Returns the times of writes of the counts, in seconds since the first.
fn write_times(cluster: &Cluster) -> Vec<i64> {
    let uid = object(cluster)["metadata"]["uid"].as_str().unwrap().to_owned();
    let writes = cluster.writes().into_iter().filter(|(_, of, ..)| *of == uid);
    let times: Vec<i64> = writes.map(|(.., at)| at.as_second()).collect();
    times.iter().map(|time| time - times[0]).collect()
}

fn fault(cluster: &Cluster, rule: Value) {
    let rule = serde_json::from_value(rule).unwrap();
    cluster.shell.with(|world, _| world.kubernetes_mut().add_fault(rule));
}

/// Karpenter restarts as well, so only the VM shows the failure.
#[tokio::test(start_paused = true)]
async fn failure_during_an_outage_has_the_time_of_the_node() {
    let how = Provisioning::Extension;
    let cluster = Cluster::new(false, how.failing());
    let first = cluster.start("a");
    cluster.pass(25 * 60).await;
    first.kill().await;
    cluster.claim("default-x1");
    cluster.pass(60).await;
    cluster.shell.with(|world, now| world.karpenter_mut().unwrap().restart(now));
    cluster.pass(10 * 60).await;
    let started = cluster.shell.now();
    let second = cluster.start("b");
    cluster.pass(60).await;
    let record = cluster.record();
    let entry = record.entries().next().unwrap();
    assert_eq!(entry.reason, "CSEFailed");
    let launched = entry.launched.unwrap();
    let (failed, reported) = (entry.at.duration_since(launched), entry.reported_at());
    assert!((60..180).contains(&failed.as_secs()), "{failed}: {} of {started}", entry.at);
    assert!(reported >= started, "{reported}");
    let condition = cluster.condition("default-x1", "CSEProvisioned").unwrap();
    assert_eq!(condition["lastTransitionTime"], entry.at.to_string());
    let half_hours = cluster.counts().unwrap().series(Filter::default(), cluster.shell.now());
    let failed: Vec<u64> = half_hours.iter().map(|one| one.failed.values().sum()).collect();
    assert_eq!(failed, [1, 0], "it failed before 05:30, and was reported after");
    second.stop().await;
}

#[tokio::test(start_paused = true)]
async fn failover_counts_every_node_once() {
    for how in Provisioning::WORKING {
        let cluster = Cluster::new(false, how.failing());
        cluster.shell.with(|world, _| {
            world.karpenter_mut().unwrap().set_cse("default-x2", Cse::default());
        });
        let mut replica = cluster.start("a");
        cluster.pass(5).await;
        cluster.provision(how, "default-x1").await;
        cluster.provision(how, "default-x2").await;
        // Kills around the writes, in the minutes without a leader as well.
        for round in 0..12 {
            cluster.pass(how.timeout_seconds() / 8 + 7 * round).await;
            replica.kill().await;
            replica = cluster.start(&format!("b{round}"));
        }
        cluster.pass(300).await;
        assert_eq!(sums(&cluster.counts().unwrap()), (1, 1), "{how:?}");
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn outcomes_without_a_controller_are_counted_later() {
    let cluster = Cluster::new(false, Provisioning::Extension.with_cse(Cse::default()));
    let first = cluster.start("a");
    cluster.pass(30).await;
    first.stop().await;
    cluster.claim("default-x1");
    // Longer than ids are remembered.
    cluster.pass(9 * 3600).await;
    let second = cluster.start("b");
    cluster.pass(120).await;
    assert_eq!(sums(&cluster.counts().unwrap()), (1, 0));
    second.stop().await;
}

#[tokio::test(start_paused = true)]
async fn rejected_or_lost_writes_count_nothing_twice() {
    for (name, then) in [
        ("rejected", json!({"status": {"status": 500}})),
        ("conflict", json!({"status": {"status": 409}})),
        ("lost", json!("timeoutAfter")),
    ] {
        let cluster = Cluster::new(false, Provisioning::Extension.failing());
        let replica = cluster.start("a");
        cluster.pass(20).await;
        let path = format!("*/configmaps/{NAME}");
        fault(
            &cluster,
            json!({"when": {"method": "PUT", "path": path}, "then": then, "untilSeconds": 600}),
        );
        cluster.claim("default-x1");
        cluster.claim("default-x2");
        cluster.pass(580).await;
        let made = cluster.shell.with(|world, _| world.kubernetes().injected_faults());
        assert!(made > 0, "{name}: nothing went wrong");
        cluster.pass(700).await;
        assert_eq!(sums(&cluster.counts().unwrap()), (0, 2), "{name}");
        assert_eq!(cluster.record().entries().count(), 2, "{name}");
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn unreadable_counts_are_kept_and_stop_nothing() {
    let index = r#"{"schema":"mooring.counts/v1","since":"2026-11-15T05:00:00Z","settledBefore":"2026-11-15T05:00:00Z","halfHours":[{"at":"2026-11-15T05:00:00Z","rows":[[7,0,null,1]]}]}"#;
    for text in ["", "{", "[]", r#"{"schema":"mooring.counts/v2"}"#, index] {
        let cluster = Cluster::new(false, Provisioning::Extension.failing());
        cluster.shell.with(|world, now| {
            let object = json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": NAME, "namespace": NAMESPACE}, "data": {KEY: text},
            });
            world.kubernetes_mut().create(object, now).unwrap();
        });
        let replica = cluster.start("a");
        cluster.pass(5).await;
        cluster.claim("default-x1");
        cluster.pass(400).await;
        assert_eq!(cluster.record().entries().count(), 1, "{text}");
        assert_eq!(cluster.events().len(), 2, "{text}");
        assert_eq!(object(&cluster)["data"][KEY], text);
        let metrics = replica.metrics.text();
        assert!(metrics.contains(r#"mooring_write_failures_total{kind="counts"} 1"#), "{metrics}");
        replica.stop().await;
    }
}

mod slow {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn nodes_are_counted_by_pool_image_and_cause() {
        let cluster = Cluster::new(false, Provisioning::Extension.failing());
        let replica = cluster.start("a");
        cluster.pass(5).await;
        let start = cluster.shell.now();
        cluster.shell.with(|world, _| {
            let karpenter = world.karpenter_mut().unwrap();
            karpenter.set_cse("default-x8", Cse::default());
            karpenter.set_cse("default-x9", Cse::default());
        });
        for number in 0..10 {
            cluster.claim(&format!("default-x{number}"));
            cluster.pass(20).await;
        }
        cluster.pass(600).await;
        let times = write_times(&cluster);
        assert!(times.windows(2).skip(1).all(|pair| pair[1] - pair[0] >= 60), "{times:?}");
        // The first creates the counts.
        assert!((3..=8).contains(&times.len()), "{times:?}");
        let counts = cluster.counts().unwrap();
        let [total] = &counts.totals(Filter { pool: Some("default"), ..Filter::default() })[..]
        else {
            panic!("{counts:?}")
        };
        assert_eq!(total.joined, 2);
        assert_eq!(total.failed, [("OrasBinaryMissing".to_owned(), 8)].into());
        assert!(total.image.ends_with("/202601.27.0"), "{}", total.image);
        assert!(counts.totals(Filter { pool: Some("other"), ..Filter::default() }).is_empty());
        let series =
            counts.series(Filter { since: Some(start), ..Filter::default() }, cluster.shell.now());
        assert_eq!(series.iter().map(|one| one.joined).sum::<u64>(), 2);
        assert!(counts.since() <= start);
        // Nothing changes, and nothing is written.
        cluster.pass(3 * 3600).await;
        assert_eq!(write_times(&cluster).len(), times.len());
        replica.stop().await;
    }
}
