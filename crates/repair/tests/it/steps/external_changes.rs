//! Pools that recover, are changed or lose their nodes during a run.

use mooring_workflow::Stop;
use mooring_workflow::{Finish, Reason, RunOutcome};
use std::cell::RefCell;

use crate::fake::outcomes::{keys, once, rest, stopped};
use crate::fake::scenarios::{no_node_left, old_operation, overriding, settings};
use crate::fake::{Cloud, action_of, node, recover, undo, until, whole};
use jiff::SignedDuration;
use mooring_repair::observation::ClusterView;
use mooring_repair::plan::Step;
use mooring_repair::workflow::Decision;
use mooring_repair::workflow::Entry;
use mooring_workflow::EffectResult;

/// Killed with the intent to delete in the journal, before the request was sent.
fn before_the_request() -> Cloud {
    let intends = |cloud: &Cloud| {
        matches!(cloud.journal.last().unwrap(), Entry::Intent(effect) if effect.key() == "delete pool system")
            && cloud.deletes.is_empty()
    };
    let forks = RefCell::default();
    whole(Cloud::wedged(), &settings(), Some(&forks));
    forks.into_inner().into_iter().find(intends).unwrap()
}

#[test]
fn edit_before_the_deletion_can_be_aborted_or_reverted() {
    let mut cloud = before_the_request();
    let before = cloud.pools["system"].raw["properties"]["maxPods"].clone();
    cloud.pools.get_mut("system").unwrap().edit()["properties"]["maxPods"] = 50.into();
    let end = recover(&cloud, &settings(), None);
    assert_eq!(stopped(&end).0, Reason::Changed);
    let stopped = end.cloud.borrow().clone();
    let undone = undo(&stopped, None);
    assert_eq!(rest(&undone), RunOutcome::Finished(Finish::Aborted));
    assert_eq!(undone.cloud.borrow().end_state()["cordoned"], 0);
    let mut back = stopped;
    back.pools.get_mut("system").unwrap().edit()["properties"]["maxPods"] = before;
    assert_eq!(rest(&recover(&back, &settings(), None)), RunOutcome::Finished(Finish::Complete));
}

/// A pool of the same name with one node, on another scale set.
fn recreate_externally(cloud: &mut Cloud) {
    let mut theirs = Cloud::wedged().pools.remove("system").unwrap();
    (theirs.set, theirs.wedged) = ("aks-system-9".into(), false);
    theirs.edit()["properties"]["count"] = 1.into();
    theirs.set_state("Succeeded");
    cloud.pools.insert("system".into(), theirs);
    cloud.nodes.push(node("system", "aks-system-9", 0));
}

#[test]
fn externally_recreated_pool_is_not_changed() {
    let cloud = until(Step::DeletePool, &settings(), Cloud::wedged);
    let mut cloud = cloud.borrow().clone();
    recreate_externally(&mut cloud);
    let end = recover(&cloud, &settings(), None);
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete));
    assert_eq!(end.cloud.borrow().pools["system"].set, "aks-system-9");
    let keys = keys(&end.cloud.borrow());
    assert!(!keys.contains(&"put pool system".to_owned()), "{keys:?}");
}

#[test]
fn pool_of_this_run_is_not_taken_for_an_external_one() {
    let end = once(Cloud::wedged(), &settings());
    let state = end.cloud.borrow().state.clone().unwrap();
    let done = state.done.iter().find(|done| done.step == Step::RecreatePool).unwrap();
    let evidence = &done.evidence;
    assert_eq!(*evidence, ["pool system is Succeeded"]);
}

#[test]
fn operation_of_a_recovered_or_deleted_pool_is_not_aborted() {
    for gone in [false, true] {
        let cloud = until(Step::Snapshot, &settings(), old_operation);
        let mut cloud = cloud.borrow().clone();
        if gone {
            cloud.pools.remove("system");
        } else {
            cloud.pools.get_mut("system").unwrap().set_state("Succeeded");
        }
        let end = recover(&cloud, &settings(), None);
        assert_eq!(rest(&end), RunOutcome::Finished(Finish::Refused), "gone: {gone}");
        assert_eq!(end.cloud.borrow().aborts, Vec::<String>::new(), "gone: {gone}");
    }
}

#[test]
fn recovered_pool_is_neither_drained_nor_deleted() {
    for step in [Step::Recheck, Step::VerifyTemporary, Step::CordonPool, Step::VerifyWorkloads] {
        let cloud = until(step, &settings(), Cloud::wedged);
        let before = keys(&cloud.borrow());
        cloud.borrow_mut().pools.get_mut("system").unwrap().set_state("Succeeded");
        let end = recover(&cloud.borrow(), &settings(), None);
        let (reason, message) = stopped(&end);
        assert_eq!(reason, Reason::CheckFailed, "{step:?}: {message}");
        assert!(message.contains("recovered on its own") && message.contains("abort"), "{message}");
        assert_eq!(keys(&end.cloud.borrow()), before, "{step:?}");
        let undone = undo(&end.cloud.borrow(), None);
        assert_eq!(rest(&undone), RunOutcome::Finished(Finish::Aborted), "{step:?}");
        assert_eq!(undone.cloud.borrow().end_state()["cordoned"], 0, "{step:?}");
        let end = recover(&end.cloud.borrow(), &overriding("pool-state"), None);
        assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete), "{step:?}");
    }
}

#[test]
fn pool_is_not_drained_while_the_other_lacks_nodes() {
    for (step, carrier) in [
        (Step::VerifyTemporary, "systmp"),
        (Step::CordonPool, "systmp"),
        (Step::VerifyPool, "system"),
        (Step::CordonTemporary, "system"),
    ] {
        let cloud = until(step, &settings(), Cloud::wedged);
        let before = keys(&cloud.borrow());
        let mut nodes = std::mem::take(&mut cloud.borrow_mut().nodes);
        for node in nodes.iter_mut().filter(|node| node.pool == carrier).skip(1) {
            node.ready = false;
        }
        cloud.borrow_mut().nodes = nodes;
        let end = recover(&cloud.borrow(), &overriding("pdb"), None);
        let (reason, message) = stopped(&end);
        assert_eq!(reason, Reason::StepTimeout, "{step:?}: {message}");
        assert!(
            message.contains(&format!("Ready, schedulable nodes in pool {carrier}")),
            "{message}"
        );
        assert_eq!(keys(&end.cloud.borrow()), before, "{step:?}");
    }
}

#[test]
fn manually_created_pool_is_kept_after_a_rejected_creation() {
    let cloud = until(Step::DeletePool, &settings(), Cloud::wedged);
    let mut cloud = cloud.borrow().clone();
    cloud.forbidden = Some("put pool system");
    let end = recover(&cloud, &settings(), None);
    assert_eq!(stopped(&end).0, Reason::EffectRefused);
    let mut cloud = end.cloud.borrow().clone();
    cloud.forbidden = None;
    recreate_externally(&mut cloud);
    let end = recover(&cloud, &settings(), None);
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete));
    let keys = keys(&end.cloud.borrow());
    assert_eq!(keys.iter().filter(|key| *key == "put pool system").count(), 1, "{keys:?}");
}

/// A journal may be older than the pool.
#[test]
fn pool_on_another_scale_set_is_not_drained_or_deleted() {
    for step in [Step::Recheck, Step::VerifyTemporary, Step::CordonPool, Step::VerifyWorkloads] {
        for state in ["Succeeded", "Failed", "Updating"] {
            let cloud = until(step, &settings(), Cloud::wedged);
            let before = keys(&cloud.borrow());
            recreate_externally(&mut cloud.borrow_mut());
            cloud.borrow_mut().pools.get_mut("system").unwrap().set_state(state);
            let end = recover(&cloud.borrow(), &overriding("pool-state"), None);
            let (reason, message) = stopped(&end);
            assert_eq!(reason, Reason::Changed, "{step:?}, {state}: {message}");
            assert!(message.contains("a different scale set"), "{message}");
            assert_eq!(keys(&end.cloud.borrow()), before, "{step:?}, {state}");
        }
    }
}

#[test]
fn edited_pool_is_detected_before_the_drain() {
    for step in [Step::Recheck, Step::VerifyTemporary, Step::CordonPool] {
        let cloud = until(step, &settings(), Cloud::wedged);
        let before = keys(&cloud.borrow());
        cloud.borrow_mut().pools.get_mut("system").unwrap().edit()["properties"]["maxPods"] =
            50.into();
        let end = recover(&cloud.borrow(), &settings(), None);
        assert_eq!(stopped(&end).0, Reason::Changed, "{step:?}");
        assert_eq!(keys(&end.cloud.borrow()), before, "{step:?}");
    }
}

/// The pool may stay Failed for hours after it recovered.
#[test]
fn pool_with_successful_writes_is_not_drained_or_deleted() {
    for step in [Step::Recheck, Step::VerifyTemporary, Step::VerifyWorkloads] {
        let cloud = until(step, &settings(), Cloud::wedged);
        let before = keys(&cloud.borrow());
        cloud.borrow_mut().pools.get_mut("system").unwrap().wedged = false;
        let end = recover(&cloud.borrow(), &settings(), None);
        let (reason, message) = stopped(&end);
        assert_eq!(reason, Reason::CheckFailed, "{step:?}: {message}");
        assert!(message.contains("succeeded just now"), "{message}");
        assert_eq!(keys(&end.cloud.borrow()), before, "{step:?}");
        let end = recover(&end.cloud.borrow(), &overriding("failing-writes"), None);
        assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete), "{step:?}");
    }
}

#[test]
fn externally_deleted_pool_of_the_run_has_a_next_step() {
    for (step, name, way) in [
        (Step::VerifyTemporary, "systmp", "`abort`"),
        (Step::CordonPool, "systmp", "`abort`"),
        (Step::VerifyPool, "system", "`resume`"),
        (Step::CordonTemporary, "system", "`resume`"),
    ] {
        let cloud = until(step, &settings(), Cloud::wedged);
        let before = keys(&cloud.borrow());
        cloud.borrow_mut().pools.remove(name);
        let began = cloud.borrow().now;
        let end = recover(&cloud.borrow(), &settings(), None);
        let (reason, message) = stopped(&end);
        assert_eq!(reason, Reason::Gone, "{step:?}: {message}");
        assert!(message.contains(name) && message.contains(way), "{message}");
        let end = end.cloud.borrow().clone();
        assert_eq!(keys(&end), before, "{step:?}");
        assert!(end.now.duration_since(began) < SignedDuration::from_mins(4), "{step:?}");
        if name == "systmp" {
            let undone = undo(&end, None);
            assert_eq!(rest(&undone), RunOutcome::Finished(Finish::Aborted), "{step:?}");
            let took = undone.cloud.borrow().now.duration_since(end.now);
            assert!(took < SignedDuration::from_mins(1), "nothing is late: {took}");
        }
    }
}

/// Responses may be stale for up to two minutes.
#[test]
fn missing_pool_is_waited_for_two_minutes() {
    for (step, name) in [(Step::CreateTemporary, "systmp"), (Step::VerifyWorkloads, "system")] {
        let cloud = until(step, &settings(), Cloud::wedged);
        let mut cloud = cloud.borrow().clone();
        cloud.pools.remove(name);
        let state = cloud.state.clone().unwrap();
        let mut after = |seconds| {
            cloud.now = state.step_since() + SignedDuration::from_secs(seconds);
            action_of(&state, ClusterView::default(), &cloud)
        };
        for seconds in [0, 119] {
            let action = after(seconds);
            assert!(matches!(action, Decision::Wait { .. }), "{name}, {seconds}: {action:?}");
        }
        for seconds in [120, 121] {
            let Decision::Stop(Stop { reason, .. }) = after(seconds) else {
                panic!("{name}, {seconds}")
            };
            assert_eq!(reason, Reason::Gone, "{name}, {seconds}");
        }
    }
}

#[test]
fn unknown_writes_block_cordon_and_deletion() {
    for step in [Step::VerifyTemporary, Step::VerifyWorkloads] {
        let cloud = until(step, &settings(), Cloud::wedged);
        let before = keys(&cloud.borrow());
        cloud.borrow_mut().mute = true;
        let end = recover(&cloud.borrow(), &settings(), None);
        let (reason, message) = stopped(&end);
        assert_eq!(reason, Reason::StepTimeout, "{step:?}: {message}");
        assert!(message.contains("activity log"), "{message}");
        assert_eq!(keys(&end.cloud.borrow()), before, "{step:?}");
        let mut back = end.cloud.borrow().clone();
        back.mute = false;
        let end = recover(&back, &settings(), None);
        assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete), "{step:?}");
    }
}

#[test]
fn complete_pool_may_be_scaled_down_later() {
    let cloud = until(Step::DrainTemporary, &settings(), Cloud::wedged);
    {
        let mut cloud = cloud.borrow_mut();
        let pool = cloud.pools.get_mut("system").unwrap();
        let former = pool.count();
        pool.edit()["properties"]["enableAutoScaling"] = false.into();
        pool.edit()["properties"]["count"] = (former - 1).into();
        let last = cloud.nodes.iter().rposition(|node| node.pool == "system").unwrap();
        cloud.nodes.remove(last);
    }
    let end = recover(&cloud.borrow(), &settings(), None);
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete));
}

#[test]
fn abort_keeps_the_temporary_pool_without_other_system_nodes() {
    let cloud = until(Step::VerifyTemporary, &settings(), no_node_left);
    let undone = undo(&cloud.borrow(), None);
    assert_eq!(rest(&undone), RunOutcome::Finished(Finish::Aborted));
    {
        let cloud = undone.cloud.borrow();
        let Entry::Finished { left, .. } = cloud.journal.last().unwrap() else { panic!() };
        let expected = "pool systmp was kept: no other System pool has a Ready, schedulable node";
        assert!(left.iter().any(|left| left.what == expected), "{left:?}");
        assert_eq!(cloud.end_state()["nodes"][2], 3, "uncordoned, all of them");
    }
    // The next run adopts it.
    let end = once(undone.cloud.borrow().clone(), &settings());
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete));
    // A temporary pool without nodes is deleted.
    let cloud = until(Step::CreateTemporary, &settings(), || {
        let mut cloud = no_node_left();
        cloud.barren = Some("systmp");
        cloud
    });
    let undone = undo(&cloud.borrow(), None);
    assert!(!undone.cloud.borrow().pools.contains_key("systmp"));
}

#[test]
fn externally_created_pool_is_never_overwritten() {
    for (step, name) in [(Step::Recheck, "systmp"), (Step::DeletePool, "system")] {
        let cloud = until(step, &settings(), Cloud::wedged);
        let mut cloud = cloud.borrow().clone();
        let state = cloud.state.clone().unwrap();
        let action = action_of(&state, ClusterView::default(), &cloud);
        let Decision::Apply(effect) = action else { panic!("{action:?}") };
        let mut theirs = Cloud::wedged().pools.remove("user").unwrap();
        theirs.set_state("Succeeded");
        let before = theirs.raw.clone();
        cloud.pools.insert(name.to_owned(), theirs);
        let result = cloud.perform(&effect, None);
        assert!(matches!(result, EffectResult::Refused { status: 412, .. }), "{result:?}");
        assert_eq!(cloud.pools[name].raw, before);
    }
}

#[test]
fn failed_deletion_is_retried_with_the_reason() {
    let cloud = until(Step::VerifyWorkloads, &settings(), Cloud::wedged);
    let mut cloud = cloud.borrow().clone();
    cloud.fails_to_delete = 2;
    let end = recover(&cloud, &settings(), None);
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete));
    let keys = keys(&end.cloud.borrow());
    assert_eq!(keys.iter().filter(|key| *key == "delete pool system").count(), 3, "{keys:?}");
    // Permanent failures are reported at once.
    cloud.fails_to_delete = u32::MAX;
    cloud.fails_with = "RequestDisallowedByPolicy";
    let end = recover(&cloud, &settings(), None);
    let (reason, message) = stopped(&end);
    assert_eq!(reason, Reason::EffectRefused, "{message}");
    assert!(message.contains("RequestDisallowedByPolicy"), "{message}");
}

#[test]
fn externally_deleted_pool_is_recreated_only_with_override() {
    for step in [Step::Recheck, Step::CordonPool, Step::VerifyWorkloads] {
        let cloud = until(step, &settings(), Cloud::wedged);
        {
            let mut cloud = cloud.borrow_mut();
            cloud.pools.remove("system");
            cloud.nodes.retain(|node| node.pool != "system");
            let nodes: Vec<String> = cloud.nodes.iter().map(|node| node.name.clone()).collect();
            cloud.pods.retain(|pod| pod.node.as_ref().is_none_or(|node| nodes.contains(node)));
        }
        let before = keys(&cloud.borrow());
        let end = recover(&cloud.borrow(), &settings(), None);
        let (reason, message) = stopped(&end);
        assert_eq!(reason, Reason::Gone, "{step:?}: {message}");
        assert!(message.contains("pool system was deleted outside this run"), "{message}");
        let end = end.cloud.borrow().clone();
        assert!(!keys(&end)[before.len()..].iter().any(|key| key.starts_with("put")), "{step:?}");
        let undone = undo(&end, None);
        assert_eq!(rest(&undone), RunOutcome::Finished(Finish::Aborted), "{step:?}");
        let undone = undone.cloud.borrow().clone();
        let Entry::Finished { left, .. } = undone.journal.last().unwrap() else { panic!() };
        assert!(
            left.iter().any(|left| left.what.contains("pool system was deleted outside this run")),
            "{left:?}"
        );
        // The pool that runs the workloads is kept.
        assert_eq!(undone.pools.contains_key("systmp"), step != Step::Recheck, "{step:?}");
        let end = recover(&end, &overriding("pool-state"), None);
        assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete), "{step:?}");
    }
}
