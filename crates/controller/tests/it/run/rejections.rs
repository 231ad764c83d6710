//! Calls that the API server rejects: leadership, writes and retries.

use mooring_nodes::record::{self, counts};
use mooring_simulator::kubernetes::Key;
use serde_json::{Value, json};

use crate::run::cluster::Cluster;
use crate::run::modes::Provisioning;

fn reject(cluster: &Cluster, method: &str, path: &str, status: u16) {
    let rule =
        json!({"when": {"method": method, "path": path}, "then": {"status": {"status": status}}});
    let rule = serde_json::from_value(rule).unwrap();
    cluster.shell.with(|world, _| world.kubernetes_mut().add_fault(rule));
}

fn clear(cluster: &Cluster) {
    cluster.shell.with(|world, _| world.kubernetes_mut().clear_faults());
}

/// Counts calls of this method whose path contains this text.
fn calls(cluster: &Cluster, method: &str, words: &str) -> usize {
    let trace = cluster.shell.with(|world, _| world.kubernetes().trace());
    trace.lines().filter(|line| line.contains(method) && line.contains(words)).count()
}

/// A replica without synced caches would only keep others from leading.
#[tokio::test(start_paused = true)]
async fn replica_that_cannot_list_nodeclaims_does_not_lead() {
    let cluster = Cluster::new(false, Provisioning::Extension.failing());
    reject(&cluster, "GET", "*/nodeclaims", 500);
    let blind = cluster.start("blind");
    cluster.pass(120).await;
    assert_eq!(cluster.holder(), "");
    assert!(blind.health.readyz(cluster.shell.now()).is_err());
    clear(&cluster);
    cluster.pass(60).await;
    assert_eq!(cluster.holder(), "blind");
    blind.stop().await;
}

/// A patch that conflicts is followed by a read of the object.
#[tokio::test(start_paused = true)]
async fn nodeclaim_is_forgotten_if_its_read_returns_404() {
    for (status, claims) in [(404, 0), (500, 1)] {
        let cluster = Cluster::new(false, Provisioning::Scriptless.failing());
        let replica = cluster.start("a");
        cluster.pass(5).await;
        cluster.claim("default-x1");
        cluster.pass(10).await;
        cluster.shell.with(|world, _| world.stop_karpenter());
        reject(&cluster, "PATCH", "*/nodeclaims/*/status", 409);
        reject(&cluster, "GET", "*/nodeclaims/default-x1", status);
        // The first condition, and the time in which an event could still report it.
        cluster.pass(20 * 60).await;
        assert!(calls(&cluster, "GET", "/nodeclaims/default-x1") > 0, "{status}");
        assert_eq!(gauge(&replica.metrics.text(), "claims"), claims, "{status}");
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn replica_leads_without_reading_the_record() {
    let cluster = Cluster::new(false, Provisioning::Extension.failing());
    reject(&cluster, "GET", "*/configmaps/*", 403);
    let replica = cluster.start("a");
    cluster.pass(10).await;
    assert_eq!(cluster.holder(), "a");
    cluster.claim("default-x1");
    cluster.pass(300).await;
    assert_eq!(cluster.condition_of("default-x1").1, "CSEFailed");
    assert_eq!(cluster.events().len(), 2);
    replica.stop().await;
    assert!(!cluster.take_forbidden().is_empty());
}

/// A leader that does not know past failures would report or count them again.
#[tokio::test(start_paused = true)]
async fn writes_wait_until_record_and_counts_are_read() {
    for name in [record::NAME, counts::NAME] {
        let cluster = Cluster::new(false, Provisioning::Extension.failing());
        reject(&cluster, "GET", &format!("*/configmaps/{name}"), 500);
        let replica = cluster.start("a");
        cluster.claim("default-x1");
        cluster.pass(120).await;
        assert_eq!(cluster.writes(), [], "{name}");
        clear(&cluster);
        cluster.pass(180).await;
        assert_eq!(cluster.condition_of("default-x1").1, "CSEFailed", "{name}");
        assert_eq!(cluster.events().len(), 2, "{name}");
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn rejected_record_is_not_sent_again() {
    for (status, sent) in [(403, 1), (422, 1), (500, 5)] {
        let cluster = Cluster::new(false, Provisioning::Extension.failing());
        let replica = cluster.start("a");
        cluster.pass(10).await;
        // The counts.
        let before = calls(&cluster, "POST", "/configmaps");
        reject(&cluster, "POST", "*/configmaps", status);
        cluster.claim("default-x1");
        cluster.pass(300).await;
        assert_eq!(calls(&cluster, "POST", "/configmaps"), before + sent, "{status}");
        assert_eq!(cluster.condition_of("default-x1").1, "CSEFailed", "{status}");
        assert_eq!(cluster.events().len(), 2, "{status}");
        let text = replica.metrics.text();
        assert!(text.contains("mooring_write_failures_total{kind=\"record\"} 1"), "{text}");
        replica.stop().await;
        cluster.take_forbidden();
    }
}

/// Granted permissions take minutes to propagate.
#[tokio::test(start_paused = true)]
async fn denied_condition_is_retried_after_five_minutes() {
    let cluster = Cluster::new(false, Provisioning::Scriptless.failing());
    let replica = cluster.start("a");
    cluster.pass(10).await;
    let rights = set_rules(&cluster, &json!([]));
    let without: Vec<Value> = rights
        .as_array()
        .unwrap()
        .iter()
        .filter(|rule| !rule["verbs"].to_string().contains("patch"))
        .cloned()
        .collect();
    set_rules(&cluster, &json!(without));
    cluster.claim("default-x1");
    cluster.pass(5 * 60 + 30).await;
    let refused = |cluster: &Cluster| {
        let trace = cluster.shell.with(|world, _| world.kubernetes().trace());
        let own = trace.lines().filter(|line| line.contains("PATCH") && line.contains("403"));
        own.count()
    };
    assert_eq!(refused(&cluster), 1);
    cluster.pass(4 * 60).await;
    assert_eq!(refused(&cluster), 1);
    cluster.pass(2 * 60).await;
    assert_eq!(refused(&cluster), 2, "after five minutes");
    set_rules(&cluster, &rights);
    cluster.pass(5 * 60).await;
    assert_eq!(cluster.condition_of("default-x1").1, "NodeNotRegistered");
    let text = replica.metrics.text();
    assert!(text.contains("mooring_write_failures_total{kind=\"condition\"} 2"), "{text}");
    replica.stop().await;
    cluster.take_forbidden();
}

/// Sets the RBAC rules of the controller, and returns the previous ones.
fn set_rules(cluster: &Cluster, rules: &Value) -> Value {
    cluster.shell.with(|world, now| {
        let resource = "clusterroles.rbac.authorization.k8s.io";
        let key = Key::new(None, "mooring");
        let before = world.kubernetes().get(resource, &key).unwrap()["rules"].clone();
        world.kubernetes_mut().change(resource, &key, &json!({"rules": rules}), now).unwrap();
        before
    })
}

fn gauge(text: &str, kind: &str) -> i64 {
    let name = format!("mooring_queue_length{{kind=\"{kind}\"}} ");
    text.lines().find_map(|line| line.strip_prefix(&name)).unwrap().parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn deleted_nodeclaims_are_forgotten() {
    for how in [Provisioning::Scriptless, Provisioning::Extension] {
        let cluster = Cluster::new(false, how.failing());
        let replica = cluster.start("a");
        cluster.pass(5).await;
        for number in 0..3 {
            cluster.claim(&format!("default-x{number}"));
        }
        cluster.pass(30).await;
        let text = replica.metrics.text();
        let counts = ["claims", "pending", "waiting"].map(|kind| gauge(&text, kind));
        assert_eq!(counts, [3, 3, 0], "{how:?}: none is due yet");
        // An event about a deleted NodeClaim may still arrive for ten minutes.
        cluster.pass(how.timeout_seconds() + 2 * 3600).await;
        let text = replica.metrics.text();
        let counts = ["claims", "pending", "waiting"].map(|kind| gauge(&text, kind));
        assert_eq!(counts, [0, 0, 0], "{how:?}");
        replica.stop().await;
    }
}

/// A VM that cannot be read is never explained.
#[tokio::test(start_paused = true)]
async fn unexplained_nodeclaims_are_forgotten_after_their_events() {
    let cluster = Cluster::new(false, Provisioning::Extension.failing());
    let replica = cluster.start("a");
    cluster.pass(5).await;
    let rule = json!({"when": {"service": "arm", "path": "*/virtualMachines/*", "method": "GET"}, "then": {"status": {"status": 503}}});
    let rule = serde_json::from_value(rule).unwrap();
    cluster.shell.with(|world, now| world.azure_mut().add_fault(rule, now));
    cluster.claim("default-x1");
    cluster.pass(50).await;
    cluster.shell.with(|world, now| {
        let key = Key::new(None, "default-x1");
        world.kubernetes_mut().delete(crate::run::cluster::CLAIMS, &key, now).unwrap();
    });
    cluster.pass(5 * 60).await;
    assert!(cluster.is_gone("default-x1"));
    assert_eq!(gauge(&replica.metrics.text(), "claims"), 1, "an event may still report it");
    cluster.pass(2 * 3600).await;
    assert_eq!(gauge(&replica.metrics.text(), "claims"), 0);
    replica.stop().await;
}
