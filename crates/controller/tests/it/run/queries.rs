//! One-time queries: instances of AKS node pools, NodeClaims, and the state of the cluster.

use std::collections::HashSet;

use mooring_controller::query::{NodeQuery, QueryError};
use mooring_controller::run::{StateView, read_list};
use mooring_controller::state::{Sweep, SweepResult};
use mooring_nodes::NodeReport;
use mooring_nodes::record::{FailureRecord, RecordDocument};
use mooring_simulator::azure::Cse;
use mooring_simulator::cluster::ClusterOptions;
use mooring_simulator::karpenter;
use mooring_simulator::kubernetes::Key;
use serde_json::{Value, json};

use crate::run::cluster::{CLAIMS, Cluster, NAMESPACE};
use crate::run::modes::Provisioning;
use crate::run::registration::{node_query, why};

fn create(cluster: &Cluster, object: Value) {
    cluster.shell.with(|world, now| world.kubernetes_mut().create(object, now).unwrap());
}

fn entry(uid: &str, node: &str, cause: &str) -> FailureRecord {
    serde_json::from_value(json!({
        "id": uid, "at": "2026-11-15T04:00:00Z", "uid": uid, "nodeClaim": format!("claim-{uid}"),
        "pool": "default", "node": node, "reason": "CSEFailed", "message": "m", "note": "n", "key": "k",
        "code": 50, "cause": cause, "summary": "m", "owner": "image",
    }))
    .unwrap()
}

fn record(cluster: &Cluster, entries: &[FailureRecord]) {
    let mut document = RecordDocument::default();
    document.merge(entries, 50);
    create(cluster, document.config_map(NAMESPACE, None));
}

#[tokio::test(start_paused = true)]
async fn instance_of_an_aks_pool_has_a_number_and_a_name() {
    let cluster = Cluster::quiet(ClusterOptions::default());
    let query = node_query(&cluster);
    let all = query.in_azure("system").await.unwrap();
    assert_eq!(all.len(), 3);
    for one in &all {
        assert_eq!((one.pool.as_deref(), one.joined), (Some("system"), Some(true)), "{one:?}");
        assert!(one.node.starts_with("aks-system-") && one.image.is_some(), "{one:?}");
        assert_eq!((&one.claim, one.is_failed()), (&None, false), "{one:?}");
    }
    let nodes = |found: &[NodeReport]| -> Vec<String> {
        found.iter().map(|one| one.node.clone()).collect()
    };
    for (number, name) in nodes(&all).iter().enumerate() {
        for what in [format!("system/{number}"), format!("system/{name}"), name.clone()] {
            let found = query.in_azure(&what).await.unwrap();
            assert_eq!(nodes(&found), std::slice::from_ref(name), "{what}");
            assert_eq!(
                (&found[0].pool, found[0].joined),
                (&all[number].pool, Some(true)),
                "{what}"
            );
            assert_eq!(found[0].image, all[number].image, "{what}");
        }
    }
    for what in ["system/9", "syste", "systems", "other/0", "", "a b", "aks-system"] {
        assert_eq!(query.in_azure(what).await.unwrap(), [], "{what}");
    }
    let query = NodeQuery { nodes: HashSet::new(), ..node_query(&cluster) };
    let found = query.in_azure(&all[1].node).await.unwrap();
    assert_eq!((nodes(&found), found[0].joined), (vec![all[1].node.clone()], Some(false)));
}

#[tokio::test(start_paused = true)]
async fn node_of_another_resource_group_is_not_read() {
    let cluster = Cluster::quiet(ClusterOptions::default());
    let query = node_query(&cluster);
    let subscription = &query.scope.subscription;
    let compute =
        format!("/subscriptions/{subscription}/resourceGroups/other/providers/Microsoft.Compute");
    for vm in ["virtualMachines/vm", "virtualMachineScaleSets/set/virtualMachines/0"] {
        let error = query.node_report("n", &format!("{compute}/{vm}"), None).await.unwrap_err();
        assert!(matches!(&error, QueryError::OutOfScope(node, _) if node == "n"), "{error}");
    }
    let trace = cluster.shell.with(|world, _| world.azure().trace().text());
    assert_eq!(trace.lines().count(), 1, "only its header: {trace}");
}

#[tokio::test(start_paused = true)]
async fn recorded_failure_explains_a_nodeclaim_without_a_vm() {
    let cluster = Cluster::new(false, karpenter::KarpenterOptions::default());
    cluster.shell.with(|world, _| world.stop_karpenter());
    cluster.claim("default-x1");
    let waiting = why(&cluster, "default-x1").await.unwrap();
    assert!(waiting.message().contains("has not launched a VM"), "{waiting:?}");
    let uid = cluster.shell.with(|world, _| {
        let claim = world.kubernetes().get(CLAIMS, &Key::new(None, "default-x1")).unwrap();
        claim["metadata"]["uid"].as_str().unwrap().to_owned()
    });
    record(&cluster, &[entry("u1", "aks-other", "OutboundConnFail"), entry(&uid, "aks-x", "Own")]);
    assert_eq!(why(&cluster, "default-x1").await, None, "nothing is known beyond the record");
}

#[tokio::test(start_paused = true)]
async fn view_shows_the_state_once_for_every_change() {
    let cluster = Cluster::new(false, Provisioning::Extension.with_cse(Cse::default()));
    let replica = cluster.start_viewed("a");
    cluster.pass(5).await;
    cluster.claim("default-x1");
    cluster.pass(90).await;
    let view: StateView = replica.view(0).await.unwrap();
    assert!(view.leads && view.generation > 0);
    let names: Vec<&str> = view.claims.iter().flatten().map(|claim| &*claim.name).collect();
    assert_eq!((names, view.lengths.claims), (vec!["default-x1"], 1));
    assert_eq!(view.arm.requests, replica.requests());
    assert!(view.arm.requests > 0 && view.arm.budget_left > 0.0, "{:?}", view.arm);
    assert!(replica.view(view.generation).await.is_none(), "nothing changed");
    cluster.claim("default-x2");
    cluster.pass(5).await;
    let later = replica.view(view.generation).await.unwrap();
    assert!(later.generation > view.generation && later.claims.unwrap().len() == 2);
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn open_stream_does_not_stop_the_heartbeat() {
    let cluster = Cluster::new(false, Provisioning::Extension.failing());
    let replica = cluster.start_viewed("a");
    cluster.pass(5).await;
    for second in 0..180 {
        cluster.pass(1).await;
        let _ = replica.view(0).await;
        assert_eq!(replica.health.readyz(cluster.shell.now()), Ok(()), "after {second}s");
    }
    replica.stop().await;
}

#[tokio::test(start_paused = true)]
async fn list_shows_the_bootstrap_of_all_vms() {
    let cluster = Cluster::new(false, Provisioning::Extension.failing());
    cluster.claim("default-x1");
    cluster.pass(70).await;
    let query = node_query(&cluster);
    let sweep = Sweep::Extensions {
        subscription: query.scope.subscription.as_str().into(),
        group: query.scope.node_resource_group.as_str().into(),
    };
    let found = read_list(&query.arm, &sweep).await;
    let Some(SweepResult::Extensions { group, rows }) = found else { panic!("{found:?}") };
    assert_eq!(&*group, query.scope.node_resource_group);
    assert!(rows.contains_key("aks-default-x1"), "{rows:?}");
}
