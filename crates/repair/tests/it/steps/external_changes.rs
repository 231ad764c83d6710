//! Pools that recover, are changed or lose their nodes during a run.

use std::cell::RefCell;

use jiff::SignedDuration;
use mooring_repair::observation::ClusterView;
use mooring_repair::plan::Step;
use mooring_repair::workflow::{Decision, Entry};
use mooring_workflow::{EffectResult, Finish, Reason, Stop};

use crate::fake::outcomes::{
    assert_finished, assert_stopped, changed, completes, keys, once, refuses, rolls_back,
};
use crate::fake::scenarios::{no_node_left, old_operation, overriding, settings};
use crate::fake::{Cloud, action_of, node, recover, undo, until, whole};

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

fn edit(cloud: &mut Cloud, max_pods: i64) {
    cloud.pools.get_mut("system").unwrap().edit()["properties"]["maxPods"] = max_pods.into();
}

#[test]
fn edit_before_the_deletion_can_be_aborted_or_reverted() {
    let mut cloud = before_the_request();
    let before = cloud.pools["system"].raw["properties"]["maxPods"].as_i64().unwrap();
    edit(&mut cloud, 50);
    let end = recover(&cloud, &settings(), None);
    assert_stopped(&end, Reason::Changed, &[]);
    let mut stopped = end.cloud.borrow().clone();
    assert!(stopped.deletes.is_empty());
    rolls_back(&stopped);
    edit(&mut stopped, before);
    completes(&stopped, &settings());
}

#[test]
fn edited_pool_is_detected_before_any_effect() {
    for step in [Step::Recheck, Step::VerifyTemporary, Step::CordonPool, Step::VerifyWorkloads] {
        let cloud = changed(step, |cloud| edit(cloud, 50));
        refuses(&cloud, &settings(), Reason::Changed, &["was changed after the snapshot"]);
    }
}

/// The command line refuses such an override; a document may claim one.
#[test]
fn override_of_a_check_that_has_none_has_no_effect() {
    let cloud = changed(Step::VerifyTemporary, |cloud| edit(cloud, 50));
    let mut state = cloud.state.clone().unwrap();
    state.session.overrides.insert("pool-unchanged".into(), "forged".into());
    let action = action_of(&state, ClusterView::default(), &cloud);
    assert!(
        matches!(&action, Decision::Stop(stop) if stop.reason == Reason::Changed),
        "{action:?}"
    );
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
    let end = completes(&changed(Step::DeletePool, recreate_externally), &settings());
    assert_eq!(end.pools["system"].set, "aks-system-9");
    assert!(!keys(&end).contains(&"put pool system".to_owned()), "{:?}", keys(&end));
    // Also after its own creation was rejected.
    let cloud = changed(Step::DeletePool, |cloud| cloud.forbidden = Some("put pool system"));
    let end = recover(&cloud, &settings(), None);
    assert_stopped(&end, Reason::EffectRefused, &[]);
    let mut cloud = end.cloud.borrow().clone();
    cloud.forbidden = None;
    recreate_externally(&mut cloud);
    let keys = keys(&completes(&cloud, &settings()));
    assert_eq!(keys.iter().filter(|key| *key == "put pool system").count(), 1, "{keys:?}");
}

#[test]
fn pool_of_this_run_is_not_taken_for_an_external_one() {
    let end = once(Cloud::wedged(), &settings());
    let state = end.cloud.borrow().state.clone().unwrap();
    let done = state.done.iter().find(|done| done.step == Step::RecreatePool).unwrap();
    assert_eq!(done.evidence, ["pool system is Succeeded"]);
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
        assert_finished(&end, Finish::Refused);
        assert_eq!(end.cloud.borrow().aborts, Vec::<String>::new(), "gone: {gone}");
    }
}

#[test]
fn recovered_pool_is_neither_drained_nor_deleted() {
    for step in [Step::Recheck, Step::VerifyTemporary, Step::CordonPool, Step::VerifyWorkloads] {
        let recover = |cloud: &mut Cloud| {
            cloud.pools.get_mut("system").unwrap().set_state("Succeeded");
        };
        let parts = ["recovered on its own", "abort"];
        let end = refuses(&changed(step, recover), &settings(), Reason::CheckFailed, &parts);
        rolls_back(&end);
        completes(&end, &overriding("pool-state"));
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
        let cloud = changed(step, |cloud| {
            let nodes = cloud.nodes.iter_mut().filter(|node| node.pool == carrier);
            nodes.take(1).for_each(|node| node.ready = false);
        });
        let part = format!("Ready, schedulable nodes in pool {carrier}");
        refuses(&cloud, &overriding("pdb"), Reason::StepTimeout, &[&part]);
    }
}

/// A journal may be older than the pool.
#[test]
fn pool_on_another_scale_set_is_not_drained_or_deleted() {
    for step in [Step::Recheck, Step::VerifyTemporary, Step::CordonPool, Step::VerifyWorkloads] {
        for state in ["Succeeded", "Failed", "Updating"] {
            let cloud = changed(step, |cloud| {
                recreate_externally(cloud);
                cloud.pools.get_mut("system").unwrap().set_state(state);
            });
            let parts = ["a different scale set"];
            let end = refuses(&cloud, &overriding("pool-state"), Reason::Changed, &parts);
            rolls_back(&end);
        }
    }
}

/// The pool may stay Failed for hours after it recovered.
#[test]
fn pool_with_successful_writes_is_not_drained_or_deleted() {
    for step in [Step::Recheck, Step::VerifyTemporary, Step::VerifyWorkloads] {
        let cloud = changed(step, |cloud| cloud.pools.get_mut("system").unwrap().wedged = false);
        let end = refuses(&cloud, &settings(), Reason::CheckFailed, &["succeeded just now"]);
        completes(&end, &overriding("failing-writes"));
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
        let cloud = changed(step, |cloud| drop(cloud.pools.remove(name)));
        let end = refuses(&cloud, &settings(), Reason::Gone, &[name, way]);
        assert!(end.now.duration_since(cloud.now) < SignedDuration::from_mins(4), "{step:?}");
        if name == "systmp" {
            let took = rolls_back(&end).now.duration_since(end.now);
            assert!(took < SignedDuration::from_mins(1), "nothing is late: {took}");
        }
    }
}

/// Responses may be stale for up to two minutes.
#[test]
fn missing_pool_is_waited_for_two_minutes() {
    for (step, name) in [(Step::CreateTemporary, "systmp"), (Step::VerifyWorkloads, "system")] {
        let mut cloud = changed(step, |cloud| drop(cloud.pools.remove(name)));
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
        let cloud = changed(step, |cloud| cloud.mute = true);
        let mut end = refuses(&cloud, &settings(), Reason::StepTimeout, &["activity log"]);
        end.mute = false;
        completes(&end, &settings());
    }
}

#[test]
fn complete_pool_may_be_scaled_down_later() {
    let cloud = changed(Step::DrainTemporary, |cloud| {
        let pool = cloud.pools.get_mut("system").unwrap();
        let former = pool.count();
        pool.edit()["properties"]["enableAutoScaling"] = false.into();
        pool.edit()["properties"]["count"] = (former - 1).into();
        let last = cloud.nodes.iter().rposition(|node| node.pool == "system").unwrap();
        cloud.nodes.remove(last);
    });
    completes(&cloud, &settings());
}

#[test]
fn abort_keeps_the_temporary_pool_without_other_system_nodes() {
    let cloud = until(Step::VerifyTemporary, &settings(), no_node_left);
    let undone = rolls_back(&cloud.borrow());
    let Entry::Finished { left, .. } = undone.journal.last().unwrap() else { panic!() };
    let expected = "pool systmp was kept: no other System pool has a Ready, schedulable node";
    assert!(left.iter().any(|left| left.what == expected), "{left:?}");
    assert_eq!(undone.end_state()["nodes"][2], 3, "uncordoned, all of them");
    // The next run adopts it.
    assert_finished(&once(undone, &settings()), Finish::Complete);
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
    let mut cloud = changed(Step::VerifyWorkloads, |cloud| cloud.fails_to_delete = 2);
    let keys = keys(&completes(&cloud, &settings()));
    assert_eq!(keys.iter().filter(|key| *key == "delete pool system").count(), 3, "{keys:?}");
    // Permanent failures are reported at once.
    (cloud.fails_to_delete, cloud.fails_with) = (u32::MAX, "RequestDisallowedByPolicy");
    let end = recover(&cloud, &settings(), None);
    assert_stopped(&end, Reason::EffectRefused, &["RequestDisallowedByPolicy"]);
}

#[test]
fn externally_deleted_pool_is_recreated_only_with_override() {
    for step in [Step::Recheck, Step::CordonPool, Step::VerifyWorkloads] {
        let cloud = changed(step, |cloud| {
            cloud.pools.remove("system");
            cloud.nodes.retain(|node| node.pool != "system");
            let nodes: Vec<String> = cloud.nodes.iter().map(|node| node.name.clone()).collect();
            cloud.pods.retain(|pod| pod.node.as_ref().is_none_or(|node| nodes.contains(node)));
        });
        let before = keys(&cloud).len();
        let part = "pool system was deleted outside this run";
        let end = recover(&cloud, &settings(), None);
        assert_stopped(&end, Reason::Gone, &[part]);
        let end = end.cloud.borrow().clone();
        assert!(!keys(&end)[before..].iter().any(|key| key.starts_with("put")), "{step:?}");
        let undone = rolls_back(&end);
        let Entry::Finished { left, .. } = undone.journal.last().unwrap() else { panic!() };
        assert!(left.iter().any(|left| left.what.contains(part)), "{left:?}");
        // The pool that runs the workloads is kept.
        assert_eq!(undone.pools.contains_key("systmp"), step != Step::Recheck, "{step:?}");
        completes(&end, &overriding("pool-state"));
    }
}
