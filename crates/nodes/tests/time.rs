//! Times of failures, and what a time range leaves out.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::claim::vm_id::Interner;
use mooring_nodes::record::counts::{self, CountedNode};
use mooring_nodes::verdict::{Failure, FailureSource};
use mooring_nodes::{
    Claim, ConditionReason, Count, Filter, Fleet, Inventory, JoinState, JoinTimes, Node, NodeItem,
    NodeReport, Pool, PoolState, ReportSource, Verdict, groups, pools,
};
use mooring_workflow::Reading;
use serde_json::{Value, json};

fn now() -> Timestamp {
    "2026-11-17T09:14:00Z".parse().unwrap()
}

fn at(minutes: i64) -> Timestamp {
    now() - SignedDuration::from_mins(minutes)
}

/// A NodeClaim that was created and launched so many minutes ago.
fn claim(minutes: i64, conditions: &Value) -> Arc<Claim> {
    let created = at(minutes).to_string();
    let mut all = conditions.as_array().unwrap().clone();
    if all.iter().all(|one| one["type"] != "Launched") {
        all.push(json!({"type": "Launched", "status": "True", "lastTransitionTime": created}));
    }
    let object = json!({
        "metadata": {
            "name": "c", "uid": "u-c", "creationTimestamp": created,
            "labels": {"karpenter.sh/nodepool": "default"},
        },
        "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "name": "linux"}},
        "status": {
            "providerID": "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/aks-c",
            "conditions": all,
        },
    });
    let text = object.to_string();
    Claim::from_json(text.as_bytes(), "CSEProvisioned", &mut Interner::default()).unwrap().into()
}

/// A Node of AKS pool `system` that was created and got its state so many minutes ago.
fn node(name: &str, minutes: i64, status: &str) -> NodeItem {
    let created = at(minutes).to_string();
    let object = json!({
        "metadata": {
            "name": name, "uid": format!("n-{name}"), "creationTimestamp": created,
            "labels": {"kubernetes.azure.com/agentpool": "system"},
        },
        "spec": {"providerID": "azure:///subscriptions/s/x"},
        "status": {"conditions": [
            {"type": "Ready", "status": status, "message": "no network", "lastTransitionTime": at(minutes - 1)},
        ]},
    });
    NodeItem::parse(&serde_json::value::to_raw_value(&object).unwrap()).unwrap()
}

fn merge(claims: &[Arc<Claim>], nodes: &[NodeItem]) -> Inventory {
    let (claims, nodes) = (Reading::Known(claims.to_vec()), Reading::Known(nodes.to_vec()));
    Inventory::merge(&claims, &nodes, &Reading::Known(Arc::default()), now())
}

fn all_pools(inventory: &Inventory) -> Vec<Pool> {
    pools(inventory, &Fleet::of(inventory, None), &JoinTimes::of(&inventory.nodes, now()))
}

fn first(inventory: &Inventory) -> &Node {
    inventory.nodes.first().unwrap()
}

fn last_hour() -> Filter {
    Filter { since: Some(at(60)), ..Filter::default() }
}

#[test]
fn node_that_is_not_ready_is_shown_at_any_age() {
    let month = 30 * 24 * 60;
    let inventory = merge(&[], &[node("a", month, "True"), node("b", month, "False")]);
    let recent = inventory.filtered(&last_hour());
    assert_eq!((recent.nodes.len(), recent.failed()), (2, Count::Exact(1)));
    let pools = all_pools(&recent);
    let counts = [pools[0].ready, pools[0].nodes, pools[0].failed];
    // Azure was not read: VMs of the pool that did not join may be missing.
    assert_eq!(counts, [Count::Exact(1), Count::Exact(2), Count::AtLeast(1)]);
    assert_eq!(pools[0].state, PoolState::NotReady);
    assert_eq!(pools[0].last_failure_at, Some(at(month - 1)));
}

#[test]
fn counts_of_a_time_range_lack_only_nodes_of_that_range() {
    let failed = json!([{
        "type": "CSEProvisioned", "status": "False", "reason": "CSEFailed", "message": "m",
        "lastTransitionTime": at(200),
    }]);
    let outcome = |uid: &str, minutes| CountedNode::new(uid, at(minutes), "default", "", Some("X"));
    let mut counted = counts::CountsDocument::new(at(300));
    assert!(counted.merge(&[outcome("u-c", 200), outcome("u-gone", 10)], now()));
    let mut inventory = merge(&[claim(205, &failed)], &[]);
    inventory.counts = Some(std::sync::Arc::new(counted));
    assert_eq!(
        inventory.filtered(&last_hour()).failed().found(),
        Some(2),
        "one exists, one is counted"
    );
    assert_eq!(inventory.filtered(&Filter::default()).failed().found(), Some(2));
}

#[test]
fn launch_error_has_the_time_of_its_condition() {
    let launch = json!([{
        "type": "Launched", "status": "False", "reason": "LaunchFailed", "message": "no capacity",
        "lastTransitionTime": at(3),
    }]);
    let inventory = merge(&[claim(9, &launch)], &[]);
    assert_eq!(first(&inventory).failure.as_ref().unwrap().failed_at, Some(at(3)));
}

fn report(at: Option<Timestamp>) -> NodeReport {
    let failure = Failure {
        code: Some(50),
        name: None,
        effective: None,
        cause: "X".to_owned(),
        sentence: "it failed".to_owned(),
        action: String::new(),
        owner: "image",
        confidence: "high",
        evidence: None,
        source: FailureSource::InstanceView,
    };
    NodeReport {
        node: "aks-c".to_owned(),
        claim: Some("c".to_owned()),
        pool: Some("default".to_owned()),
        image: None,
        joined: Some(false),
        cse_succeeded: false,
        verdict: Verdict {
            reason: ConditionReason::CseFailed,
            message: "It failed.".to_owned(),
            failure: Some(failure),
            at,
            is_idle: false,
        },
        source: ReportSource::Azure,
        earlier: None,
    }
}

#[test]
fn failure_of_azure_has_the_time_of_its_report() {
    let read = |failed: Option<Timestamp>| {
        let mut inventory = merge(&[claim(9, &json!([]))], &[]);
        inventory.add_report("u-c", &report(failed));
        let group = groups(&inventory).remove(0);
        let fleet = Fleet::of(&inventory, None);
        let last = all_pools(&inventory)[0].last_failure_at;
        let row = &fleet.rows[0];
        assert_eq!((group.first_at, row.first_at), (group.last_at, row.last_at));
        assert_eq!((group.first_at, last), (row.first_at, row.last_at));
        (first(&inventory).failure.as_ref().unwrap().failed_at, group.first_at)
    };
    assert_eq!(read(Some(at(7))), (Some(at(7)), Some(at(7))));
    assert_eq!(read(None), (None, None), "it is unknown, not that of the creation");
    let mut inventory = Inventory::default();
    inventory.add_vm(&report(Some(at(7))));
    assert_eq!(first(&inventory).failure.as_ref().unwrap().failed_at, Some(at(7)));
}

#[test]
fn nodeclaim_past_the_registration_timeout_has_failed() {
    let state = |minutes, nodes: &[NodeItem]| {
        let inventory = merge(&[claim(minutes, &json!([]))], nodes);
        let node = inventory.nodes.iter().find(|node| node.uid == "u-c").unwrap();
        (node.state, node.failure.as_ref().map(|failure| failure.cause.clone()))
    };
    let failed = |cause: &str| (JoinState::Failed, Some(cause.to_owned()));
    assert_eq!(state(15, &[]), (JoinState::Joining, None), "Karpenter acts within a minute");
    assert_eq!(state(16, &[]), failed("NoEvidence"));
    assert_eq!(state(16, &[node("aks-c", 2, "False")]), failed("NodeNeverReady"));
    assert_eq!(
        state(16, &[node("aks-c", 2, "True")]),
        (JoinState::Joining, None),
        "the Node is ready"
    );
    let mut inventory = merge(&[claim(22, &json!([]))], &[]);
    let failure = first(&inventory).failure.clone().unwrap();
    assert_eq!(failure.failed_at, Some(at(7)));
    assert_eq!(all_pools(&inventory)[0].state, PoolState::Failing);
    assert_eq!((failure.stage, failure.owner), ("register", None));
    assert_eq!(failure.summary, "neither a Node nor the VM was observed, after 22m");
    inventory.add_report("u-c", &report(None));
    assert_eq!(first(&inventory).failure.as_ref().unwrap().cause, "X", "Azure knows more");
}

#[test]
fn node_far_past_the_usual_time_of_its_pool_is_late() {
    let named = |name: &str, claim: Arc<Claim>, registered: Option<i64>| {
        let mut claim = Claim::clone(&claim);
        (claim.name, claim.uid) = (name.into(), name.into());
        (claim.registered, claim.initialized) = (registered.map(at), registered.map(at));
        Arc::new(claim)
    };
    // A node that joined after some minutes, and one that is joining for longer.
    let pool = |usual: i64, age: i64| {
        let mut nodes = vec![named("new", claim(age, &json!([])), None)];
        nodes.extend((usual > 0).then(|| named("old", claim(90, &json!([])), Some(90 - usual))));
        let mut inventory = merge(&nodes, &[]);
        inventory.set_azure("new", Reading::Known(()));
        let pool = all_pools(&inventory).remove(0);
        (pool.state == PoolState::Late, pool.late)
    };
    for (usual, age, is_late) in
        [(2, 5, false), (2, 6, true), (4, 8, false), (4, 9, true), (9, 10, false), (9, 11, true)]
    {
        assert_eq!(pool(usual, age).0, is_late, "usually {usual}m, now {age}m");
    }
    assert_eq!((pool(0, 10).0, pool(0, 11).0), (false, true), "no node of the pool has joined");
    let text = "1 node of pool default is joining for far longer than usual: the oldest for 9m, usually 4m.";
    assert_eq!(pool(4, 9).1.as_deref(), Some(text));
}
