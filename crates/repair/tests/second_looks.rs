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
use mooring_repair::observation::{
    ActivityEvent, Answer, Nic, Operation, Pdb, Query, Reading, Seen,
};
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
    let refused = || EffectResult::Refused {
        status: 412,
        code: "c".into(),
        message: "m".into(),
        retry_after: None,
    };
    let tried = |outcomes: &[EffectResult]| {
        let mut records = cloud.borrow().journal.clone();
        for result in outcomes {
            let effect = Effect::DeletePool { pool: "system".into(), if_match: None };
            let key = effect.key();
            let step = Step::DeletePool;
            append(&mut records, Entry::Intent { step, effect: Box::new(effect), attempt: 1 });
            append(&mut records, Entry::Outcome { key, result: result.clone() });
        }
        // Whatever else is refused, the deletion is not.
        let effect = Effect::PutPool { pool: "system".into(), body: json!({}) };
        let (key, result) = (effect.key(), refused());
        append(
            &mut records,
            Entry::Intent { step: Step::RecreatePool, effect: Box::new(effect), attempt: 1 },
        );
        append(&mut records, Entry::Outcome { key, result });
        let counted = summaries(&records)[0].deleted.is_some();
        let deletion = State::replay(&records).unwrap().unwrap().deletion().is_some();
        assert_eq!(counted, deletion, "the breaker counts what may have happened: {outcomes:?}");
        deletion
    };
    let lost = EffectResult::Unknown { why: "no answer".into() };
    assert!(!tried(&[]));
    assert!(!tried(&[refused(), refused()]));
    assert!(tried(std::slice::from_ref(&lost)));
    assert!(tried(&[lost, refused()]));
    assert!(tried(&[refused(), EffectResult::Done]));
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

/// A pool of the same name with one node, on another scale set.
fn somebody_makes_it_again(cloud: &mut Cloud) {
    let mut theirs = Cloud::wedged().pools.remove("system").unwrap();
    (theirs.set, theirs.wedged) = ("aks-system-9".into(), false);
    theirs.edit()["properties"]["count"] = 1.into();
    theirs.set_state("Succeeded");
    cloud.pools.insert("system".into(), theirs);
    cloud.nodes.push(node("system", "aks-system-9", 0));
}

#[test]
fn a_pool_that_somebody_made_again_behind_our_deletion_is_left_as_it_is() {
    let cloud = until(Step::DeletePool, &settings(), Cloud::wedged);
    let mut cloud = cloud.borrow().clone();
    somebody_makes_it_again(&mut cloud);
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
    let action = |started: SignedDuration, minutes: i64| {
        let mut run = run.clone();
        let at = (run.now - started).to_string();
        run.now += SignedDuration::from_mins(minutes);
        let mut seen = run.looked_at();
        let cluster = seen.cluster.as_ref().and_then(Reading::known).unwrap().id.clone();
        let event = ActivityEvent::read(&json!({
            "operationName": {"value": "Microsoft.ContainerService/managedClusters/write"},
            "resourceId": cluster, "status": {"value": "Started"}, "correlationId": "old", "eventTimestamp": at,
        }));
        let Answer::Events(Reading::Known(mut events)) = run.observe(&Query::Events) else {
            panic!()
        };
        events.push(event.unwrap());
        seen.take(Answer::Events(Reading::Known(events)));
        action_of(&state, seen, &run)
    };
    let days = SignedDuration::from_hours(9 * 24);
    assert!(matches!(action(days, 1), Action::Wait { .. }));
    let Action::Effect { effect, .. } = action(days, 11) else { panic!() };
    assert_eq!(effect.key(), "abort cluster");
    assert!(matches!(action(SignedDuration::from_hours(2), 1), Action::Effect { .. }));
}

#[test]
fn nothing_is_aborted_for_a_pool_that_came_back_or_is_gone() {
    for gone in [false, true] {
        let cloud = until(Step::Snapshot, &settings(), old_operation);
        let mut cloud = cloud.borrow().clone();
        if gone {
            cloud.pools.remove("system");
        } else {
            cloud.pools.get_mut("system").unwrap().set_state("Succeeded");
        }
        let end = recover(&cloud, &settings(), None);
        assert_eq!(rest(&end), Rest::Finished(Finish::Refused), "gone: {gone}");
        assert_eq!(end.cloud.borrow().aborts, Vec::<String>::new(), "gone: {gone}");
    }
}

#[test]
fn a_pool_that_comes_back_after_the_guards_is_neither_emptied_nor_deleted() {
    for step in [Step::Recheck, Step::ProveTemporary, Step::CordonPool, Step::ProvePlacement] {
        let cloud = until(step, &settings(), Cloud::wedged);
        let before = keys(&cloud.borrow());
        cloud.borrow_mut().pools.get_mut("system").unwrap().set_state("Succeeded");
        let end = recover(&cloud.borrow(), &settings(), None);
        let (reason, message) = stopped(&end);
        assert_eq!(reason, Reason::GuardRefused, "{step:?}: {message}");
        assert!(message.contains("came back") && message.contains("abort"), "{message}");
        assert_eq!(keys(&end.cloud.borrow()), before, "{step:?}");
        let undone = undo(&end.cloud.borrow(), None);
        assert_eq!(rest(&undone), Rest::Finished(Finish::Aborted), "{step:?}");
        assert_eq!(undone.cloud.borrow().end_state()["cordoned"], 0, "{step:?}");
        let end = recover(&end.cloud.borrow(), &overriding("pool-state"), None);
        assert_eq!(rest(&end), Rest::Finished(Finish::Repaired), "{step:?}");
    }
}

#[test]
fn nothing_is_taken_off_a_pool_while_the_other_cannot_carry_it() {
    for (step, carrier) in [
        (Step::ProveTemporary, "systmp"),
        (Step::CordonPool, "systmp"),
        (Step::VerifyCure, "system"),
        (Step::CordonTemporary, "system"),
    ] {
        let cloud = until(step, &settings(), Cloud::wedged);
        let before = keys(&cloud.borrow());
        let mut nodes = std::mem::take(&mut cloud.borrow_mut().nodes);
        for node in nodes.iter_mut().filter(|node| node.pool == carrier).skip(1) {
            node.ready = false;
        }
        cloud.borrow_mut().nodes = nodes;
        let end = recover(&cloud.borrow(), &overriding("budgets"), None);
        let (reason, message) = stopped(&end);
        assert_eq!(reason, Reason::StepTimeout, "{step:?}: {message}");
        assert!(message.contains(&format!("usable nodes in pool {carrier}")), "{message}");
        assert_eq!(keys(&end.cloud.borrow()), before, "{step:?}");
    }
}

#[test]
fn what_is_taken_over_gets_its_size_even_if_the_first_request_was_never_sent() {
    let cloud = until(Step::ProvePlacement, &settings(), Cloud::wedged);
    let mut left = undo(&cloud.borrow(), None).cloud.borrow().clone();
    left.pools.get_mut("systmp").unwrap().edit()["properties"]["count"] = 1.into();
    let runs = left.journal.len();
    let intends = |cloud: &Cloud| {
        matches!(&cloud.journal.last().unwrap().entry, Entry::Intent { effect, .. } if effect.key() == "put pool systmp")
            && cloud.journal.len() > runs
            && cloud.pools["systmp"].raw["properties"]["count"] == 1
    };
    let forks = RefCell::default();
    whole(left, &settings(), Some(&forks));
    let killed = forks.into_inner().into_iter().find(intends).unwrap();
    let forks = RefCell::default();
    let end = recover(&killed, &settings(), Some(&forks));
    assert_eq!(rest(&end), Rest::Finished(Finish::Repaired));
    let deleting =
        |cloud: &&Cloud| keys(cloud).last().is_some_and(|key| key == "delete pool system");
    let forks = forks.into_inner();
    let at_the_deletion = forks.iter().rfind(deleting).unwrap();
    assert_eq!(at_the_deletion.pools["systmp"].raw["properties"]["count"], 3);
}

#[test]
fn a_pool_made_by_hand_after_our_creation_was_refused_is_left_as_it_is() {
    let cloud = until(Step::DeletePool, &settings(), Cloud::wedged);
    let mut cloud = cloud.borrow().clone();
    cloud.forbidden = Some("put pool system");
    let end = recover(&cloud, &settings(), None);
    assert_eq!(stopped(&end).0, Reason::EffectRefused);
    let mut cloud = end.cloud.borrow().clone();
    cloud.forbidden = None;
    somebody_makes_it_again(&mut cloud);
    let end = recover(&cloud, &settings(), None);
    assert_eq!(rest(&end), Rest::Finished(Finish::Repaired));
    let keys = keys(&end.cloud.borrow());
    assert_eq!(keys.iter().filter(|key| *key == "put pool system").count(), 1, "{keys:?}");
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

/// What a run does next, with everything that it asks for as the cloud shows it, but for what was seen already.
fn action_of(state: &State, mut seen: Seen, cloud: &Cloud) -> Action {
    loop {
        match next(state, &seen, cloud.now) {
            Action::Observe(query) => seen.take(cloud.observe(&query)),
            action => return action,
        }
    }
}

#[test]
fn evidence_does_not_grow_too_old_after_our_own_abort() {
    let cloud = until(Step::Settle, &settings(), old_operation);
    let mut cloud = cloud.borrow().clone();
    assert_eq!(cloud.aborts, ["o"]);
    // Nothing has been tried since, and the run comes to its guards late.
    let mut seen = Seen::default();
    seen.take(cloud.observe(&Query::Events));
    cloud.now += SignedDuration::from_mins(14);
    let done = |state: &State| {
        let action = action_of(state, seen.clone(), &cloud);
        matches!(action, Action::Record(entry) if matches!(&*entry, Entry::StepDone { step: Step::Recheck, .. }))
    };
    let mut state = cloud.state.clone().unwrap();
    assert!(done(&state));
    state.attempts.clear();
    assert!(!done(&state), "without an abort of ours they would be too old");
}

#[test]
fn interfaces_that_never_get_an_address_are_gone_over_for_a_recorded_reason() {
    let cloud = until(Step::AwaitNodes, &settings(), Cloud::wedged);
    let cloud = cloud.borrow();
    let mut state = cloud.state.clone().unwrap();
    let empty = Nic::read(&json!({"name": "n", "properties": {"ipConfigurations": []}})).unwrap();
    let set = cloud.pools["system"].set.clone();
    let mut seen = Seen::default();
    seen.take(Answer::Nics(set, Reading::Known(vec![empty])));
    assert!(matches!(action_of(&state, seen.clone(), &cloud), Action::Wait { .. }));
    state.settings.add_override("addresses=ticket 7").unwrap();
    assert!(!matches!(action_of(&state, seen, &cloud), Action::Wait { .. }));
}

#[test]
fn a_user_pool_that_was_at_zero_is_rebuilt_at_zero() {
    let at_zero = || {
        let mut cloud = Cloud::wedged();
        let pool = &mut cloud.pools.get_mut("system").unwrap().edit()["properties"];
        (pool["mode"], pool["count"], pool["minCount"]) = ("User".into(), 0.into(), 0.into());
        cloud.nodes.retain(|node| node.pool != "system");
        cloud.pods.clear();
        cloud
    };
    let cloud = until(Step::VerifyCure, &overriding("missing-nodes"), at_zero);
    let cloud = cloud.borrow();
    let state = cloud.state.clone().unwrap();
    let action = action_of(&state, Seen::default(), &cloud);
    let Action::Effect { effect, .. } = action else { panic!("{action:?}") };
    assert!(effect.key().starts_with("cordon aks-systmp"), "{}", effect.key());
}
