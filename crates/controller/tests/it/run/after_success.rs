//! Nodes that do not register although their CSE succeeded.

use mooring_simulator::azure::{Cse, Join};
use mooring_simulator::karpenter::{KarpenterOptions, ProvisionMode};
use mooring_simulator::kubernetes::Key;
use serde_json::json;

use crate::run::cluster::{CLAIMS, Cluster};
use crate::run::modes::Provisioning;
use crate::run::registration::{started, why};

const WITH_CSE: [Provisioning; 2] = [Provisioning::Extension, Provisioning::Machine];

/// A node on which CSE succeeds and kubelet does not start.
fn idle() -> Cse {
    Cse { registers: false, ..Cse::default() }
}

fn reasons(cluster: &Cluster) -> Vec<(String, String)> {
    let record = cluster.record();
    record.entries().map(|entry| (entry.reason.clone(), entry.cause.clone())).collect()
}

/// Returns the kinds of objects with such an event.
fn reported(cluster: &Cluster) -> Vec<String> {
    let events = cluster.events().into_iter();
    events.filter(|event| event.2 == "NodeNotRegistered").map(|event| event.0).collect()
}

fn entry(cause: &str) -> (String, String) {
    ("NodeNotRegistered".to_owned(), cause.to_owned())
}

/// Creates the Node of a NodeClaim, as its kubelet would.
fn join(cluster: &Cluster, claim: &str, ready: &str) {
    cluster.shell.with(|world, now| {
        let object = world.kubernetes().get(CLAIMS, &Key::new(None, claim)).unwrap().clone();
        let node = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": format!("aks-{claim}"), "labels": {"karpenter.sh/nodepool": "default"}},
            "spec": {
                "providerID": object["status"]["providerID"],
                "taints": [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}],
            },
        });
        world.kubernetes_mut().create(node, now).unwrap();
    });
    set_ready(cluster, claim, ready);
}

/// Registers the node of a NodeClaim, as Karpenter would.
fn register(cluster: &Cluster, claim: &str) {
    cluster.shell.with(|world, now| {
        world.stop_karpenter();
        let key = Key::new(None, claim);
        let mut patch = world.kubernetes().get(CLAIMS, &key).unwrap().clone();
        for condition in patch["status"]["conditions"].as_array_mut().unwrap() {
            if condition["type"] == "Registered" {
                condition["status"] = json!("True");
                condition["reason"] = json!("Registered");
                condition["lastTransitionTime"] = json!(format!("{now:.0}"));
            }
        }
        let patch = json!({"status": {"conditions": patch["status"]["conditions"]}});
        world.kubernetes_mut().change(CLAIMS, &key, &patch, now).unwrap();
    });
}

fn set_ready(cluster: &Cluster, claim: &str, ready: &str) {
    cluster.shell.with(|world, now| {
        let key = Key::new(None, &format!("aks-{claim}"));
        let patch = json!({"status": {"conditions": [{"type": "Ready", "status": ready}]}});
        world.kubernetes_mut().change("nodes", &key, &patch, now).unwrap();
    });
}

/// Karpenter gives up on a node 15 minutes after its creation, regardless of the success of CSE.
#[tokio::test(start_paused = true)]
async fn late_success_does_not_hide_a_registration_timeout() {
    for how in WITH_CSE {
        let cse = Cse { seconds: Some(12 * 60), ..idle() };
        let (cluster, replica) = started(how.with_cse(cse)).await;
        cluster.claim("default-x1");
        cluster.pass(17 * 60).await;
        assert_eq!(reasons(&cluster), [entry("NoCSR")], "{how:?}");
        let (_, reason, message) = cluster.condition_of("default-x1");
        assert_eq!(reason, "NodeNotRegistered", "{message}");
        assert!(message.contains("CSE succeeded; ") && message.contains("after 15m"));
        replica.stop().await;
    }
}

/// An unregistered node has not joined.
#[tokio::test(start_paused = true)]
async fn image_is_blamed_for_all_unregistered_nodes() {
    let bad = "202602.10.0";
    let options = KarpenterOptions {
        mode: ProvisionMode::Vm,
        bootstraps: [(bad.to_owned(), idle())].into(),
        ..KarpenterOptions::default()
    };
    let (cluster, replica) = started(options).await;
    for number in 0..8 {
        cluster.claim(&format!("default-good{number}"));
    }
    cluster.pass(300).await;
    cluster.shell.with(|world, _| world.karpenter_mut().unwrap().roll_image(bad));
    for number in 0..6 {
        cluster.claim(&format!("default-bad{number}"));
    }
    cluster.pass(16 * 60).await;
    let events = cluster.events();
    let blamed = events.iter().find(|event| event.2 == "ImageFailsBootstrap").unwrap();
    assert!(blamed.3.contains(": 4 of 4 nodes failed with NoCSR. "), "{}", blamed.3);
    replica.stop().await;
}

/// A deletion by a user is not a timeout of Karpenter.
#[tokio::test(start_paused = true)]
async fn nodeclaim_deleted_soon_after_success_is_not_reported() {
    let (cluster, replica) = started(Provisioning::Extension.with_cse(idle())).await;
    cluster.claim("default-x1");
    cluster.pass(4 * 60).await;
    assert_eq!(cluster.condition_of("default-x1").1, "CSESucceeded");
    let reads = replica.requests();
    cluster.shell.with(|world, now| {
        world.kubernetes_mut().delete(CLAIMS, &Key::new(None, "default-x1"), now).unwrap();
    });
    cluster.pass(20 * 60).await;
    assert_eq!((reasons(&cluster).len(), cluster.events().len()), (0, 0));
    assert_eq!(replica.requests(), reads, "nothing is left to read");
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn node_that_registers_after_its_report_has_joined() {
    let (cluster, replica) = started(Provisioning::Extension.with_cse(idle())).await;
    cluster.claim("default-x1");
    cluster.pass(9 * 60).await;
    assert_eq!(cluster.condition_of("default-x1").1, "NodeNotRegistered");
    register(&cluster, "default-x1");
    cluster.pass(3 * 60).await;
    let (status, reason, message) = cluster.condition_of("default-x1");
    assert_eq!((&*status, &*reason), ("True", "CSESucceeded"), "{message}");
    assert_eq!(reasons(&cluster), [entry("NoCSR")], "what was recorded stays");
    replica.stop().await;
}

/// Only Karpenter has not noticed a Node that is Ready, so nothing is reported while it may.
#[tokio::test(start_paused = true)]
async fn ready_node_is_not_reported() {
    let (cluster, replica) = started(Provisioning::Extension.with_cse(idle())).await;
    cluster.claim("default-x1");
    cluster.pass(3 * 60).await;
    cluster.shell.with(|world, _| world.stop_karpenter());
    join(&cluster, "default-x1", "True");
    cluster.pass(8 * 60).await;
    assert_eq!((reasons(&cluster).len(), cluster.events().len()), (0, 0));
    assert_eq!(cluster.condition_of("default-x1").1, "CSESucceeded");
    set_ready(&cluster, "default-x1", "False");
    cluster.pass(6 * 60).await;
    assert_eq!(reasons(&cluster), [entry("NodeNeverReady")]);
    replica.stop().await;
}

/// Azure does not respond when the node is overdue: the state of the cluster is reported without it.
#[tokio::test(start_paused = true)]
async fn cluster_state_is_reported_without_azure() {
    let cse = Cse { join: Join::CsrDenied, ..Cse::default() };
    let (cluster, replica) = started(Provisioning::Extension.with_cse(cse)).await;
    cluster.claim("default-x1");
    cluster.pass(4 * 60).await;
    assert_eq!(cluster.condition_of("default-x1").1, "CSESucceeded");
    let rule = json!({"when": {"path": "*"}, "then": {"status": {"status": 503}}});
    let rule = serde_json::from_value(rule).unwrap();
    cluster.shell.with(|world, now| world.azure_mut().add_fault(rule, now));
    cluster.pass(8 * 60).await;
    assert_eq!(reasons(&cluster), [entry("CSRDenied")]);
    replica.stop().await;
}

mod slow {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn cause_is_reported_five_minutes_after_the_success() {
        for how in WITH_CSE {
            for (cse, cause, words) in [
                (idle(), "NoCSR", "kubelet did not start or cannot reach the API server"),
                (Cse { join: Join::CsrPending, ..Cse::default() }, "CSRPending", "is pending"),
                (Cse { join: Join::CsrDenied, ..Cse::default() }, "CSRDenied", "was denied"),
                (
                    Cse { join: Join::NoProviderId, ..Cse::default() },
                    "NodeWithoutProviderID",
                    "kubectl delete node aks-",
                ),
            ] {
                let (cluster, replica) = started(how.with_cse(cse)).await;
                cluster.claim("default-x1");
                cluster.pass(10 * 60).await;
                assert_eq!(reasons(&cluster), [entry(cause)], "{how:?}");
                let (status, reason, message) = cluster.condition_of("default-x1");
                assert_eq!((&*status, &*reason), ("False", "NodeNotRegistered"), "{message}");
                assert!(message.contains("CSE succeeded; "), "{message}");
                assert!(message.contains(words), "{cause}: {message}");
                assert!(!message.contains("the bootstrap failed"), "{message}");
                assert_eq!(reported(&cluster), ["NodeClaim", "NodePool"]);
                let report = why(&cluster, "default-x1").await.unwrap();
                assert_eq!(report.verdict.failure.as_ref().unwrap().cause, cause, "{how:?}");
                assert!(report.is_failed() && report.cse_succeeded, "{how:?}");
                let next = report.next("default-x1", Some("rg")).unwrap();
                assert!(next.contains("journalctl -u kubelet"), "{next}");
                cluster.pass(10 * 60).await;
                assert_eq!(reasons(&cluster), [entry(cause)], "once");
                assert_eq!(reported(&cluster), ["NodeClaim", "NodePool"], "once");
                let counted = replica.metrics.text();
                let counted = counted
                    .lines()
                    .find(|line| line.starts_with("mooring_nodes_not_registered_total"))
                    .unwrap();
                assert!(counted.contains(cause) && counted.ends_with(" 1"), "{counted}");
                replica.stop().await;
            }
        }
    }
}
