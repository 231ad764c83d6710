//! Nodes that do not register: Karpenter's events and conditions about them do not mislead the controller.

use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter::KarpenterOptions;
use mooring_simulator::kubernetes::Key;
use serde_json::{Value, json};

use crate::run::cluster::{CLAIMS, Cluster};
use crate::run::modes::Provisioning;
use crate::run::registration::started;

/// Returns kinds and reasons of Mooring's events.
fn reasons(cluster: &Cluster) -> Vec<(String, String)> {
    cluster.events().into_iter().map(|(kind, _, reason, _)| (kind, reason)).collect()
}

fn pair(kind: &str, reason: &str) -> (String, String) {
    (kind.to_owned(), reason.to_owned())
}

#[tokio::test(start_paused = true)]
async fn machine_whose_node_never_registers_is_reported_once() {
    for (cse, reason) in [
        (Cse { registers: false, ..Cse::default() }, "NodeNotRegistered"),
        (Cse { seconds: None, ..Cse::default() }, "CSETimedOut"),
    ] {
        let (cluster, replica) = started(Provisioning::Machine.with_cse(cse)).await;
        cluster.claim("default-x1");
        cluster.pass(17 * 60).await;
        let record = cluster.record();
        let recorded: Vec<&str> = record.entries().map(|entry| &*entry.reason).collect();
        assert_eq!(recorded, [reason]);
        assert_eq!(reasons(&cluster), [pair("NodeClaim", reason), pair("NodePool", reason)]);
        assert_eq!(cluster.condition_of("default-x1").1, reason);
        let requests = cluster.shell.with(|world, _| world.azure().trace().text());
        assert!(requests.contains("/deleteMachines"), "Karpenter gave it up");
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn extension_shown_only_in_the_instance_view_is_read() {
    for how in [Provisioning::Extension, Provisioning::Machine] {
        let (cluster, replica) = started(how.failing()).await;
        cluster.claim("default-x1");
        cluster.pass(60).await;
        cluster.shell.with(|world, _| {
            let vms = world.azure().options().compute("virtualMachines");
            for extension in ["cse-agent-karpenter", "vmssCSE"] {
                world.azure_mut().hide_extension(&format!("{vms}/aks-default-x1"), extension);
            }
        });
        cluster.pass(how.timeout_seconds()).await;
        let record = cluster.record();
        let codes: Vec<_> = record.entries().map(|entry| (entry.code, &*entry.source)).collect();
        assert_eq!(codes, [(Some(211), "instance-view")], "{how:?}");
        replica.stop().await;
    }
}

/// Karpenter reports every two minutes that it does not disrupt such a NodeClaim, and that its NodePool is unhealthy.
#[tokio::test(start_paused = true)]
async fn karpenter_events_about_unregistered_nodes_are_ignored() {
    let (cluster, replica) = started(Provisioning::Scriptless.failing()).await;
    cluster.claim("default-x1");
    cluster.claim("default-x2");
    cluster.pass(16 * 60).await;
    let (events, pool) = cluster.shell.with(|world, _| {
        let events = world.kubernetes().objects("events", Some("default"));
        let own = events.filter(|event| event["reportingComponent"] == "karpenter");
        let events: Vec<Value> = own.map(|event| event["reason"].clone()).collect();
        let pool = world.kubernetes().get("nodepools.karpenter.sh", &Key::new(None, "default"));
        (events, pool.unwrap()["status"]["conditions"].to_string())
    });
    for reason in ["Launched", "DisruptionBlocked", "NodeRegistrationHealthy"] {
        assert!(events.contains(&json!(reason)), "{reason}: {events:?}");
    }
    assert!(pool.contains("RegistrationFailed"), "{pool}");
    assert_eq!(cluster.record().entries().count(), 2);
    assert_eq!(cluster.events().len(), 4, "{:?}", cluster.events());
    assert_eq!(replica.requests(), 2 * 2, "minutes 5 and 12");
    replica.stop().await;
}

/// Two Nodes of one VM restart Karpenter's clock, so the NodeClaim is reported when that one has ended.
#[tokio::test(start_paused = true)]
async fn restarted_registration_clock_is_respected() {
    let (cluster, replica) = started(KarpenterOptions::default()).await;
    cluster.claim("default-x1");
    cluster.pass(10).await;
    cluster.shell.with(|world, now| {
        let claim = world.kubernetes().get(CLAIMS, &Key::new(None, "default-x1")).unwrap().clone();
        let node = json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": "other"},
            "spec": {"providerID": claim["status"]["providerID"]},
        });
        world.kubernetes_mut().create(node, now).unwrap();
    });
    cluster.pass(980).await;
    assert_eq!(cluster.condition("default-x1", "Registered").unwrap()["status"], "False");
    assert_eq!((cluster.record().entries().count(), cluster.events().len()), (0, 0));
    cluster.pass(90).await;
    let record = cluster.record();
    let entries: Vec<_> = record.entries().map(|entry| (&*entry.reason, &*entry.cause)).collect();
    assert_eq!(entries, [("NodeNotRegistered", "NodeNotMatched")]);
    replica.stop().await;
}

/// Without permission to list Nodes, no cause refers to them.
#[tokio::test(start_paused = true)]
async fn nodes_that_cannot_be_listed_are_unknown() {
    let cluster = Cluster::new(false, Provisioning::Scriptless.failing());
    let rule = json!({"when": {"path": "/api/v1/nodes"}, "then": {"status": {"status": 403}}});
    let rule = serde_json::from_value(rule).unwrap();
    cluster.shell.with(|world, _| world.kubernetes_mut().add_fault(rule));
    let replica = cluster.start("a");
    cluster.pass(5).await;
    cluster.claim("default-x1");
    cluster.pass(16 * 60).await;
    let record = cluster.record();
    let entry = record.entries().next().unwrap();
    assert_eq!(entry.cause, "NoNode", "{}", entry.message);
    assert!(!entry.message.contains("no Node and no"), "{}", entry.message);
    replica.stop().await;
    assert!(!cluster.take_forbidden().is_empty());
}
