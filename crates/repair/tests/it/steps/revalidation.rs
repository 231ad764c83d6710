//! State is revalidated before a step relies on it, and checks can be overridden.

use std::cell::RefCell;

use jiff::SignedDuration;
use mooring_repair::effects::Effect;
use mooring_repair::names::RUN_TAG;
use mooring_repair::observation::{ActivityEvent, AksOperation, ClusterView, Nic};
use mooring_repair::plan::Step;
use mooring_repair::workflow::{Decision, Entry, Runs, checked_before_abort};
use mooring_workflow::reading::Named;
use mooring_workflow::{EffectResult, Finish, Reading, Reason, Stop};
use serde_json::json;

use crate::fake::outcomes::{
    assert_finished, assert_stopped, changed, completes, keys, once, refuses, rolls_back,
};
use crate::fake::scenarios::{barren, old_operation, overriding, settings};
use crate::fake::{Cloud, SETS, action_of, node, recover, undo, until, whole};

#[test]
fn old_operation_of_another_pool_is_waited_for() {
    let of_another_pool = || {
        let mut cloud = old_operation();
        let started = (cloud.now - SignedDuration::from_mins(45)).to_string();
        let id = "/x/managedClusters/c/agentPools/user/operations/o";
        cloud.operation = AksOperation::read(
            &json!({"name": "o", "id": id, "status": "InProgress", "startTime": started}),
        );
        cloud
    };
    let end = once(of_another_pool(), &settings());
    assert_stopped(&end, Reason::StepTimeout, &["pool user", "other-operation"]);
    assert_eq!(end.cloud.borrow().aborts, Vec::<String>::new());
    let end = recover(&end.cloud.borrow(), &overriding("other-operation"), None);
    assert_eq!(end.cloud.borrow().aborts, ["o"]);
}

#[test]
fn cluster_that_fails_after_its_tag_is_tagged_again() {
    let cloud = changed(Step::DeleteTemporary, |cloud| {
        let run = cloud.state.as_ref().unwrap().id.clone();
        cloud.cluster_tags.insert(RUN_TAG.to_owned(), run);
        cloud.cluster_state = "Failed".into();
    });
    completes(&cloud, &settings());
}

#[test]
fn rejected_deletion_may_have_been_accepted_before() {
    let cloud = until(Step::VerifyWorkloads, &settings(), Cloud::wedged);
    let refused = || EffectResult::Refused {
        status: 412,
        code: "c".into(),
        message: "m".into(),
        retry_after: None,
    };
    let tried = |outcomes: &[EffectResult]| {
        let mut run = cloud.borrow().state.clone().unwrap();
        let now = cloud.borrow().now;
        for result in outcomes {
            let effect = Effect::DeletePool { pool: "system".into(), if_match: None };
            let key = effect.key();
            run.change(now, &Entry::Intent(Box::new(effect))).unwrap();
            run.change(now, &Entry::Outcome { key, result: result.clone() }).unwrap();
        }
        // Only the deletion is not rejected.
        let effect = Effect::PutPool { pool: "system".into(), body: json!({}), only: None };
        let (key, result) = (effect.key(), refused());
        run.change(now, &Entry::Intent(Box::new(effect))).unwrap();
        run.change(now, &Entry::Outcome { key, result }).unwrap();
        let deletion = mooring_repair::workflow::deletion(&run).is_some();
        run.change(now, &Entry::Finished { finish: Finish::Refused, left: vec![] }).unwrap();
        let runs = Runs { last: Some(run), past: Vec::new() };
        let counted = runs.finished().next().unwrap().deleted.is_some();
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
fn missing_nodes_leave_the_other_pool_unchanged() {
    let end = once(barren("systmp"), &settings());
    assert_stopped(&end, Reason::StepTimeout, &["Ready, schedulable nodes in pool systmp"]);
    assert!(end.cloud.borrow().deletes.is_empty());
    rolls_back(&end.cloud.borrow());
    // Those of the new pool: running pods are not moved.
    let end = once(barren("system"), &settings());
    assert_stopped(&end, Reason::StepTimeout, &[]);
    assert!(end.cloud.borrow().pools.contains_key("systmp"));
    assert_eq!(end.cloud.borrow().end_state()["serving"], json!([2, 1]));
}

#[test]
fn late_success_of_a_creation_is_not_repeated() {
    let is_recorded = |cloud: &Cloud| matches!(cloud.journal.last().unwrap(), Entry::Outcome { key, .. } if key == "put pool systmp");
    let forks = RefCell::default();
    whole(Cloud::wedged(), &settings(), Some(&forks));
    let mut cloud = forks.into_inner().into_iter().find(is_recorded).unwrap();
    // The service reports a failure, but the VMs boot.
    let pool = cloud.pools.get_mut("systmp").unwrap();
    pool.operation = None;
    pool.set_state("Failed");
    cloud.advance(cloud.now + SignedDuration::from_secs(30));
    let pool = cloud.pools.get_mut("systmp").unwrap();
    pool.set_state("Succeeded");
    let (set, count) = (pool.set.clone(), pool.count());
    cloud.nodes.extend((0..count).map(|index| node("systmp", &set, index)));
    let end = completes(&cloud, &settings());
    assert_eq!(keys(&end).iter().filter(|key| *key == "put pool systmp").count(), 1);
    assert!(!end.pools.contains_key("systmp"), "and it is no orphan");
}

#[test]
fn operation_from_the_log_is_aborted_only_after_the_log_delay() {
    let busy = || {
        let mut cloud = Cloud::wedged();
        cloud.cluster_state = "Updating".into();
        cloud
    };
    // The snapshot is done, and the running operation is next.
    let run = until(Step::Snapshot, &settings(), busy).borrow().clone();
    let state = run.state.clone().unwrap();
    let action = |started: SignedDuration, minutes: i64| {
        let mut run = run.clone();
        let at = (run.now - started).to_string();
        run.now += SignedDuration::from_mins(minutes);
        let mut seen = run.read_all();
        let cluster = seen.cluster.get().and_then(Reading::known).unwrap().id.clone();
        let event = ActivityEvent::read(&json!({
            "operationName": {"value": "Microsoft.ContainerService/managedClusters/write"},
            "resourceId": cluster, "status": {"value": "Started"}, "correlationId": "old", "eventTimestamp": at,
        }));
        let Reading::Known(mut events) = run.read_events() else { panic!() };
        events.push(event.unwrap());
        seen.events = (Reading::Known(events)).into();
        action_of(&state, seen, &run)
    };
    let days = SignedDuration::from_hours(9 * 24);
    for started in [days, SignedDuration::from_hours(2)] {
        assert!(matches!(action(started, 1), Decision::Wait { .. }));
        assert!(matches!(action(started, 19), Decision::Wait { .. }));
        let Decision::Apply(effect) = action(started, 20) else { panic!() };
        assert_eq!(effect.key(), "abort the operation of the cluster");
    }
}

#[test]
fn adopted_pool_gets_its_size_after_a_lost_request() {
    let cloud = until(Step::VerifyWorkloads, &settings(), Cloud::wedged);
    let mut left = undo(&cloud.borrow(), None).cloud.borrow().clone();
    left.pools.get_mut("systmp").unwrap().edit()["properties"]["count"] = 1.into();
    let runs = left.journal.len();
    let intends = |cloud: &Cloud| {
        matches!(cloud.journal.last().unwrap(), Entry::Intent(effect) if effect.key() == "put pool systmp")
            && cloud.journal.len() > runs
            && cloud.pools["systmp"].raw["properties"]["count"] == 1
    };
    let forks = RefCell::default();
    whole(left, &settings(), Some(&forks));
    let killed = forks.into_inner().into_iter().find(intends).unwrap();
    let forks = RefCell::default();
    let end = recover(&killed, &settings(), Some(&forks));
    assert_finished(&end, Finish::Complete);
    let deleting =
        |cloud: &&Cloud| keys(cloud).last().is_some_and(|key| key == "delete pool system");
    let forks = forks.into_inner();
    let at_the_deletion = forks.iter().rfind(deleting).unwrap();
    assert_eq!(at_the_deletion.pools["systmp"].raw["properties"]["count"], 3);
}

/// The clock of the process jumps while the operation is aborted, ahead or back; the log keeps the times of Azure.
#[test]
fn evidence_survives_an_abort_and_a_clock_jump() {
    for minutes in [7, 45, 400, -7, -45] {
        let mut cloud = old_operation();
        cloud.jump = SignedDuration::from_mins(minutes);
        // Only the failed writes show the wedge, with the minimum count.
        let mut settings = settings();
        settings.signatures.signatures[0].checks.clear();
        settings.fail_window = SignedDuration::from_mins(20);
        settings.limits.overall = SignedDuration::from_hours(24);
        settings.limits.settle = SignedDuration::from_hours(24);
        let end = once(cloud, &settings);
        assert_eq!(end.cloud.borrow().aborts, ["o"], "{minutes}");
        assert_finished(&end, Finish::Complete);
    }
}

#[test]
fn successful_write_after_the_abort_ends_the_run() {
    let cloud = until(Step::ClearOperation, &settings(), old_operation);
    let cloud = cloud.borrow().clone();
    let state = cloud.state.clone().unwrap();
    let judged = checked_before_abort(&state).expect("the checks passed right before the abort");
    let action = |minutes: i64, codes: &str| {
        let Reading::Known(mut events) = cloud.read_events() else { panic!() };
        let mut seen = ClusterView::default();
        if codes.is_empty() {
            events.clear();
        }
        events.push(ActivityEvent::read(&json!({
            "operationId": "new", "operationName": {"value": "Microsoft.Compute/virtualMachineScaleSets/write"},
            "resourceId": format!("{SETS}/aks-system-0"), "status": {"value": if codes.is_empty() { "Started" } else { codes }},
            "eventTimestamp": (judged + SignedDuration::from_mins(minutes)).to_string(),
        })).unwrap());
        seen.events = (Reading::Known(events)).into();
        seen.nics = Named::of("aks-system-0", Reading::Known(Vec::new()));
        action_of(&state, seen, &cloud)
    };
    let is_done = |action: &Decision| matches!(action, Decision::Done(_));
    let nothing_left = action(0, "");
    assert!(is_done(&nothing_left), "what was judged stays valid: {nothing_left:?}");
    let succeeded = action(1, "Succeeded");
    assert!(
        matches!(succeeded, Decision::Stop(Stop { reason: Reason::CheckFailed, .. })),
        "{succeeded:?}"
    );
    // Without an abort by this run, earlier results do not count.
    let mut other = state.clone();
    other.attempts.clear();
    assert_eq!(checked_before_abort(&other), None);
}

/// Only live state showed the wedge, and an abort removes it: the lists of IP addresses are null for a while.
#[test]
fn live_evidence_survives_an_abort_and_a_clock_jump() {
    let cloud = until(Step::ClearOperation, &settings(), old_operation);
    let mut cloud = cloud.borrow().clone();
    let state = cloud.state.clone().unwrap();
    let abort = cloud.now;
    for minutes in [0, 7, 45] {
        cloud.now = abort + SignedDuration::from_mins(minutes);
        let null = json!({"name": "n", "properties": {"ipConfigurations": null}});
        let nics = Reading::Known(vec![Nic::read(&null).unwrap()]);
        let seen = ClusterView {
            events: Reading::Known(Vec::new()).into(),
            nics: Named::of("aks-system-0", nics),
            ..ClusterView::default()
        };
        let action = action_of(&state, seen, &cloud);
        assert!(matches!(&action, Decision::Done(_)), "{minutes}: {action:?}");
    }
}

#[test]
fn missing_addresses_are_overridden_with_a_recorded_reason() {
    let cloud = changed(Step::WaitForNodes, |_| {});
    let nic = |list| Nic::read(&json!({"name": "n", "properties": {"ipConfigurations": list}}));
    let (empty, with) = (nic(json!([])).unwrap(), nic(json!([{}])).unwrap());
    let set = &cloud.pools["system"].set;
    for nics in [vec![empty.clone()], vec![empty, with]] {
        let nics = Named::of(set, Reading::Known(nics));
        let seen = ClusterView { nics, ..ClusterView::default() };
        let mut state = cloud.state.clone().unwrap();
        let action = action_of(&state, seen.clone(), &cloud);
        let waits = matches!(&action, Decision::Wait { why, .. } if why.contains("IP addresses"));
        assert!(waits, "{action:?}");
        state.session.overrides.insert("ip-addresses".into(), "ticket 7".into());
        assert!(!matches!(action_of(&state, seen, &cloud), Decision::Wait { .. }));
    }
}

#[test]
fn user_pool_with_zero_nodes_is_rebuilt_with_zero() {
    let at_zero = || {
        let mut cloud = Cloud::wedged();
        let pool = &mut cloud.pools.get_mut("system").unwrap().edit()["properties"];
        (pool["mode"], pool["count"], pool["minCount"]) = ("User".into(), 0.into(), 0.into());
        cloud.nodes.retain(|node| node.pool != "system");
        cloud.pods.clear();
        cloud
    };
    let cloud = until(Step::VerifyPool, &overriding("missing-nodes"), at_zero);
    let cloud = cloud.borrow();
    let state = cloud.state.clone().unwrap();
    let action = action_of(&state, ClusterView::default(), &cloud);
    let Decision::Apply(effect) = action else { panic!("{action:?}") };
    assert!(effect.key().starts_with("cordon aks-systmp"), "{}", effect.key());
}

#[test]
fn operation_is_aborted_only_in_a_busy_cluster() {
    for (state, aborts) in [
        ("Updating", 1),
        ("Upgrading", 1),
        ("Succeeded", 0),
        ("Canceled", 0),
        ("Failed", 0),
        ("Creating", 0),
        ("Deleting", 0),
        ("", 0),
        ("updating", 0),
    ] {
        let cloud = until(Step::Snapshot, &settings(), old_operation);
        cloud.borrow_mut().cluster_state = state.into();
        let end = recover(&cloud.borrow(), &settings(), None);
        assert_eq!(end.cloud.borrow().aborts.len(), aborts, "{state}");
    }
}

/// Its nodes are ready, but it is on the scale set of the plan, so it is the wedged pool.
#[test]
fn temporary_pool_is_kept_until_the_pool_is_on_a_new_scale_set() {
    let planned = Cloud::wedged().pools["system"].set.clone();
    let cloud = changed(Step::VerifyPool, |cloud| {
        let pool = cloud.pools.get_mut("system").unwrap();
        assert_ne!(pool.set, planned);
        pool.set.clone_from(&planned);
        let count = pool.count();
        cloud.nodes.retain(|node| node.pool != "system");
        cloud.nodes.extend((0..count).map(|index| node("system", &planned, index)));
    });
    let part = "pool system to be on a new scale set";
    let end = refuses(&cloud, &settings(), Reason::StepTimeout, &[part]);
    let temporary: Vec<_> = end.nodes.iter().filter(|node| node.pool == "systmp").collect();
    assert!(temporary.len() == 3 && temporary.iter().all(|node| !node.cordoned));
}
