//! What was proven is looked at once more before a step relies on it, and a person can go over what holds a run up.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test may fail loudly"
)]
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "the model is shared by several tests"
)]

mod fake;

use std::cell::RefCell;

use fake::ends::{keys, once, rest, stopped};
use fake::records::append;
use fake::scenarios::{old_operation, overriding, settings};
use fake::{Cloud, Workload, node, pod, recover, undo, until, whole};
use jiff::SignedDuration;
use mooring_repair::effects::{Effect, EffectResult};
use mooring_repair::journal::{Entry, Finish, summaries};
use mooring_repair::machine::{Action, Reason, State, next};
use mooring_repair::names::RUN_TAG;
use mooring_repair::observation::{ActivityEvent, Answer, Operation, Pdb, Query, Reading};
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
fn an_old_operation_of_another_pool_is_waited_for_and_not_aborted() {
    let of_another_pool = || {
        let mut cloud = old_operation();
        let started = (cloud.now - SignedDuration::from_mins(45)).to_string();
        let id = "/x/managedClusters/c/agentPools/user/operations/o";
        cloud.operation = Operation::read(
            &json!({"name": "o", "id": id, "status": "InProgress", "startTime": started}),
        );
        cloud
    };
    let end = once(of_another_pool(), &settings());
    let (reason, message) = stopped(&end);
    assert_eq!(reason, Reason::StepTimeout);
    assert!(message.contains("pool user") && message.contains("other-operation"), "{message}");
    assert_eq!(end.cloud.borrow().aborts, Vec::<String>::new());
    let end = recover(&end.cloud.borrow(), &overriding("other-operation"), None);
    assert_eq!(end.cloud.borrow().aborts, ["o"]);
}

#[test]
fn a_cluster_that_fails_behind_its_tag_is_tagged_again() {
    let cloud = until(Step::DeleteTemporary, &settings(), Cloud::wedged);
    {
        let mut cloud = cloud.borrow_mut();
        let run = cloud.state.as_ref().unwrap().run.clone();
        cloud.cluster_tags.insert(RUN_TAG.to_owned(), run);
        cloud.cluster_state = "Failed".into();
    }
    let end = recover(&cloud.borrow(), &settings(), None);
    assert_eq!(rest(&end), Rest::Finished(Finish::Repaired));
}

#[test]
fn a_deletion_that_was_refused_may_have_been_accepted_before() {
    let cloud = until(Step::ProvePlacement, &settings(), Cloud::wedged);
    let tried = |outcomes: &[EffectResult]| {
        let mut records = cloud.borrow().journal.clone();
        for result in outcomes {
            let effect = Effect::DeletePool { pool: "system".into(), if_match: None };
            let key = effect.key();
            let step = Step::DeletePool;
            append(&mut records, Entry::Intent { step, effect: Box::new(effect), attempt: 1 });
            append(&mut records, Entry::Outcome { key, result: result.clone() });
        }
        State::replay(&records).unwrap().unwrap()
    };
    let lost = EffectResult::Unknown { why: "no answer".into() };
    let refused = EffectResult::Refused {
        status: 412,
        code: "c".into(),
        message: "m".into(),
        retry_after: None,
    };
    assert!(tried(&[]).deletion().is_none());
    assert!(tried(&[refused.clone(), refused.clone()]).deletion().is_none());
    assert!(tried(std::slice::from_ref(&lost)).deletion().is_some());
    assert!(tried(&[lost, refused.clone()]).deletion().is_some());
    assert!(tried(&[refused, EffectResult::Done]).deletion().is_some());
}

#[test]
fn nodes_that_never_come_leave_the_broken_pool_as_it_was() {
    let mut cloud = Cloud::wedged();
    cloud.barren = Some("systmp");
    let end = once(cloud, &settings());
    let (reason, message) = stopped(&end);
    assert_eq!(reason, Reason::StepTimeout);
    assert!(message.contains("usable nodes in pool systmp"), "{message}");
    assert!(end.cloud.borrow().deletes.is_empty());
    let end = undo(&end.cloud.borrow(), None);
    assert_eq!(rest(&end), Rest::Finished(Finish::Aborted));
    assert_eq!(end.cloud.borrow().end_state()["cordoned"], 0);
    // Those of the new pool: what serves stays where it is.
    let mut cloud = Cloud::wedged();
    cloud.barren = Some("system");
    let end = once(cloud, &settings());
    assert_eq!(stopped(&end).0, Reason::StepTimeout);
    assert!(end.cloud.borrow().pools.contains_key("systmp"));
    assert_eq!(end.cloud.borrow().end_state()["serving"], json!([2, 1]));
}

#[test]
fn a_creation_that_succeeds_after_all_is_not_made_twice() {
    let told = |cloud: &Cloud| matches!(&cloud.journal.last().unwrap().entry, Entry::Outcome { key, .. } if key == "put pool systmp");
    let forks = RefCell::default();
    whole(Cloud::wedged(), &settings(), Some(&forks));
    let mut cloud = forks.into_inner().into_iter().find(told).unwrap();
    // It failed, as the service says, and its machines come up all the same.
    let pool = cloud.pools.get_mut("systmp").unwrap();
    pool.operation = None;
    pool.set_state("Failed");
    cloud.advance(cloud.now + SignedDuration::from_secs(30));
    let pool = cloud.pools.get_mut("systmp").unwrap();
    pool.set_state("Succeeded");
    let (set, count) = (pool.set.clone(), pool.count());
    cloud.nodes.extend((0..count).map(|index| node("systmp", &set, index)));
    let end = recover(&cloud, &settings(), None);
    assert_eq!(rest(&end), Rest::Finished(Finish::Repaired));
    let keys = keys(&end.cloud.borrow());
    assert_eq!(keys.iter().filter(|key| *key == "put pool systmp").count(), 1, "{keys:?}");
    assert!(!end.cloud.borrow().pools.contains_key("systmp"), "and it is no orphan");
}

/// Killed with the intent to delete in the journal, before the request was sent.
fn before_the_request() -> Cloud {
    let intends = |cloud: &Cloud| {
        matches!(&cloud.journal.last().unwrap().entry, Entry::Intent { effect, .. } if effect.key() == "delete pool system")
            && cloud.deletes.is_empty()
    };
    let forks = RefCell::default();
    whole(Cloud::wedged(), &settings(), Some(&forks));
    forks.into_inner().into_iter().find(intends).unwrap()
}

#[test]
fn an_edit_between_an_intent_and_its_deletion_can_be_aborted_or_taken_back() {
    let mut cloud = before_the_request();
    let before = cloud.pools["system"].raw["properties"]["maxPods"].clone();
    cloud.pools.get_mut("system").unwrap().edit()["properties"]["maxPods"] = 50.into();
    let end = recover(&cloud, &settings(), None);
    assert_eq!(stopped(&end).0, Reason::PoolChanged);
    let stopped = end.cloud.borrow().clone();
    let undone = undo(&stopped, None);
    assert_eq!(rest(&undone), Rest::Finished(Finish::Aborted));
    assert_eq!(undone.cloud.borrow().end_state()["cordoned"], 0);
    let mut back = stopped;
    back.pools.get_mut("system").unwrap().edit()["properties"]["maxPods"] = before;
    assert_eq!(rest(&recover(&back, &settings(), None)), Rest::Finished(Finish::Repaired));
}

#[test]
fn a_pool_that_somebody_made_again_behind_our_deletion_is_left_as_it_is() {
    let cloud = until(Step::DeletePool, &settings(), Cloud::wedged);
    let mut cloud = cloud.borrow().clone();
    let mut theirs = Cloud::wedged().pools.remove("system").unwrap();
    (theirs.set, theirs.wedged) = ("aks-system-9".into(), false);
    theirs.edit()["properties"]["count"] = 1.into();
    theirs.set_state("Succeeded");
    cloud.pools.insert("system".into(), theirs);
    cloud.nodes.push(node("system", "aks-system-9", 0));
    let end = recover(&cloud, &settings(), None);
    assert_eq!(rest(&end), Rest::Finished(Finish::Repaired));
    assert_eq!(end.cloud.borrow().pools["system"].set, "aks-system-9");
    let keys = keys(&end.cloud.borrow());
    assert!(!keys.contains(&"put pool system".to_owned()), "{keys:?}");
}

#[test]
fn a_line_of_days_ago_is_not_taken_for_what_runs_before_the_log_had_time() {
    let busy = || {
        let mut cloud = Cloud::wedged();
        cloud.cluster_state = "Updating".into();
        cloud
    };
    // It has its snapshot, and comes to the operation that runs.
    let run = until(Step::Snapshot, &settings(), busy).borrow().clone();
    let state = run.state.clone().unwrap();
    let mut seen = run.looked_at();
    let cluster = seen.cluster.as_ref().and_then(Reading::known).unwrap().id.clone();
    let started = |ago: SignedDuration| {
        let at = (run.now - ago).to_string();
        let event = ActivityEvent::read(&json!({
            "operationName": {"value": "Microsoft.ContainerService/managedClusters/write"},
            "resourceId": cluster, "status": {"value": "Started"}, "correlationId": "old", "eventTimestamp": at,
        }));
        Answer::Events(Reading::Known(vec![event.unwrap()]))
    };
    seen.take(Answer::LatestOperation(Reading::Known(None)));
    seen.take(started(SignedDuration::from_hours(9 * 24)));
    let later = |minutes| run.now + SignedDuration::from_mins(minutes);
    assert!(matches!(next(&state, &seen, later(1)), Action::Wait { .. }));
    let Action::Effect { effect, .. } = next(&state, &seen, later(11)) else { panic!() };
    assert_eq!(effect.key(), "abort cluster");
    seen.take(started(SignedDuration::from_hours(2)));
    assert!(matches!(next(&state, &seen, later(1)), Action::Effect { .. }));
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
        next(&state, &seen, cloud.now)
    };
    let Action::Effect { effect, .. } = deed(SignedDuration::from_secs(-60)) else { panic!() };
    assert!(effect.key().starts_with("evict kube-system/stubborn"), "{}", effect.key());
    let next = deed(SignedDuration::from_secs(1));
    assert!(!matches!(next, Action::Effect { .. }), "{next:?}");
}
