//! What is taken off a pool, when, and what holds it.

use crate::fake::ends::{keys, once, rest, stopped};
use crate::fake::scenarios::{overriding, settings};
use crate::fake::{Cloud, Workload, action_of, node, pod, recover, until};
use jiff::SignedDuration;
use mooring_repair::journal::{Finish, summaries};
use mooring_repair::machine::{Action, Reason, State};
use mooring_repair::observation::{Pdb, Query, Reading};
use mooring_repair::plan::Step;
use mooring_repair::run::Rest;
use serde_json::json;

/// A node of the doomed pool that was not there when it was drained, and a pod that serves on it.
fn with_latecomer(cloud: &mut Cloud, app: &str) {
    cloud.nodes.push(node("system", "aks-system-0", 2));
    cloud.pods.push(pod(&format!("{app}-late"), app, "ReplicaSet", "aks-system-0-2"));
}

#[test]
fn a_node_that_comes_back_before_the_deletion_is_emptied_first() {
    let cloud = until(Step::ProvePlacement, &settings(), Cloud::wedged);
    with_latecomer(&mut cloud.borrow_mut(), "coredns");
    let end = recover(&cloud.borrow(), &settings(), None);
    assert_eq!(rest(&end), Rest::Finished(Finish::Repaired));
    let keys = keys(&end.cloud.borrow());
    let at = |wanted: &str| keys.iter().position(|key| key.starts_with(wanted)).unwrap();
    assert!(at("cordon aks-system-0-2") < at("evict kube-system/coredns-late"), "{keys:?}");
    assert!(at("evict kube-system/coredns-late") < at("delete pool system"), "{keys:?}");
}

#[test]
fn a_pool_is_not_deleted_under_a_pod_that_its_budget_holds() {
    let cloud = until(Step::ProvePlacement, &settings(), Cloud::wedged);
    let rigid = Workload { app: "rigid", replicas: 1, min_available: 1 };
    cloud.borrow_mut().workloads.push(rigid);
    with_latecomer(&mut cloud.borrow_mut(), "rigid");
    let end = recover(&cloud.borrow(), &settings(), None);
    assert_eq!(stopped(&end).0, Reason::BudgetBlocks);
    assert!(end.cloud.borrow().deletes.is_empty());
    // Whoever resumes may go over it, for a reason that stays in the journal.
    let end = recover(&end.cloud.borrow(), &overriding("budgets"), None);
    assert_eq!(rest(&end), Rest::Finished(Finish::Repaired));
    let state = State::replay(&end.cloud.borrow().journal).unwrap().unwrap();
    assert_eq!(state.settings.overrides["budgets"], "ticket 7");
    assert_eq!(summaries(&end.cloud.borrow().journal)[0].overrides, ["budgets: ticket 7"]);
}

#[test]
fn a_temporary_pool_is_not_deleted_before_its_pods_serve_elsewhere() {
    let cloud = until(Step::DrainTemporary, &settings(), Cloud::wedged);
    let mut evicted = pod("metrics-z", "metrics", "ReplicaSet", "");
    (evicted.node, evicted.serves_at) = (Some("nowhere".into()), None);
    cloud.borrow_mut().pods.retain(|pod| pod.app != "metrics");
    cloud.borrow_mut().pods.push(evicted);
    let end = recover(&cloud.borrow(), &settings(), None);
    let (reason, message) = stopped(&end);
    assert_eq!(reason, Reason::StepTimeout, "{message}");
    assert!(message.contains("metrics"), "{message}");
    assert!(end.cloud.borrow().pools.contains_key("systmp"));
    let end = recover(&end.cloud.borrow(), &overriding("placement"), None);
    assert_eq!(rest(&end), Rest::Finished(Finish::Repaired));
}

#[test]
fn a_pending_pod_goes_whatever_its_budget_says() {
    let mut cloud = Cloud::wedged();
    cloud.workloads.push(Workload { app: "half", replicas: 2, min_available: 1 });
    cloud.pods.push(pod("half-a", "half", "ReplicaSet", "aks-system-0-0"));
    let mut pending = pod("half-b", "half", "ReplicaSet", "aks-system-0-0");
    pending.serves_at = None;
    cloud.pods.push(pending);
    let end = once(cloud, &settings());
    assert_eq!(rest(&end), Rest::Finished(Finish::Repaired));
}

#[test]
fn a_pod_under_two_budgets_is_told_to_go_never() {
    let mut cloud = Cloud::wedged();
    cloud.workloads.push(Workload { app: "metrics", replicas: 1, min_available: 0 });
    let end = once(cloud, &settings());
    let (reason, message) = stopped(&end);
    assert_eq!(reason, Reason::BudgetBlocks);
    assert!(message.contains("metrics-a") && message.contains("under other budgets"), "{message}");
}

#[test]
fn budgets_let_pods_go_as_the_api_does() {
    let budget = |allowed, desired, healthy, policy: &str| {
        Pdb::read(&json!({
            "metadata": {"namespace": "n", "name": "b"},
            "spec": {"selector": {}, "unhealthyPodEvictionPolicy": policy},
            "status": {"disruptionsAllowed": allowed, "expectedPods": 3, "desiredHealthy": desired, "currentHealthy": healthy},
        }))
        .unwrap()
    };
    let mut ready = pod("a", "a", "ReplicaSet", "x").seen("2026-01-01T00:00:00Z".parse().unwrap());
    let mut unready = ready.clone();
    (ready.ready, unready.ready) = (true, false);
    for (budget, serving, other) in [
        (budget(1, 2, 3, ""), true, true),
        (budget(0, 2, 2, ""), false, true),
        (budget(0, 2, 1, ""), false, false),
        (budget(0, 0, 0, ""), false, false),
        (budget(0, 2, 1, "AlwaysAllow"), false, true),
    ] {
        assert_eq!(
            (budget.lets_go(&ready), budget.lets_go(&unready)),
            (serving, other),
            "{budget:?}"
        );
    }
    let uncounted = Pdb::read(&json!({"metadata": {"namespace": "n", "name": "b"}})).unwrap();
    assert!(uncounted.can_clear(), "one that nobody has counted yet is not hopeless");
}

#[test]
fn a_pod_that_ignores_cordons_is_evicted_once_and_then_goes_with_its_node() {
    let cloud = until(Step::DrainPool, &settings(), Cloud::wedged);
    let cloud = cloud.borrow();
    let state = cloud.state.clone().unwrap();
    let deed = |created: SignedDuration| {
        let mut seen = cloud.looked_at();
        for query in [Query::Nodes, Query::Pods, Query::Pdbs] {
            seen.take(cloud.observe(&query));
        }
        let Some(Reading::Known(pods)) = &mut seen.pods else { panic!() };
        let mut stubborn =
            pod("stubborn", "stubborn", "ReplicaSet", "aks-system-0-0").seen(cloud.now);
        stubborn.ignores_cordon = true;
        stubborn.created = Some(state.step_since() + created);
        pods.push(stubborn);
        action_of(&state, seen, &cloud)
    };
    let Action::Effect { effect, .. } = deed(SignedDuration::from_secs(-60)) else { panic!() };
    assert!(effect.key().starts_with("evict kube-system/stubborn"), "{}", effect.key());
    let next = deed(SignedDuration::from_secs(1));
    assert!(!matches!(next, Action::Effect { .. }), "{next:?}");
}
