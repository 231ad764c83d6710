//! Guarantees of the repair, including known bugs of earlier tools.

use std::cell::RefCell;
use std::rc::Rc;

use jiff::SignedDuration;
use mooring_repair::effects::Effect;
use mooring_repair::observation::AksOperation;
use mooring_repair::plan::Step;
use mooring_repair::settings::BudgetPolicy;
use mooring_repair::workflow::{Entry, PoolRepair};
use mooring_workflow::{Finish, Reason, Workflow as _};
use serde_json::json;

use crate::fake::outcomes::{
    assert_finished, assert_stopped, changed, completes, effects, keys, once, rolls_back, stopped,
};
use crate::fake::scenarios::{budget_that_never_clears, old_operation, settings};
use crate::fake::{Cloud, Ended, Kill, node, pod, recover, resume, run_to_rest, undo, until};

fn last_left(cloud: &Cloud) -> String {
    let left = PoolRepair::remaining(cloud.state.as_ref().unwrap());
    left.into_iter().map(|left| left.what).collect::<Vec<_>>().join(" | ")
}

#[test]
fn recovered_pool_is_not_changed() {
    let mut cloud = Cloud::wedged();
    cloud.pools.get_mut("system").unwrap().set_state("Succeeded");
    let end = once(cloud, &settings());
    assert_finished(&end, Finish::Refused);
    assert_eq!(keys(&end.cloud.borrow()), Vec::<String>::new());
    assert!(last_left(&end.cloud.borrow()).contains("pool-state"));
    let step = end.cloud.borrow().state.as_ref().unwrap().step();
    assert_eq!(step, Some(Step::Recheck), "which is nothing to do for a pipeline");
}

#[test]
fn recent_operation_is_never_aborted() {
    let mut cloud = Cloud::wedged();
    cloud.cluster_state = "Updating".into();
    let started = (cloud.now - SignedDuration::from_mins(29)).to_string();
    cloud.operation =
        AksOperation::read(&json!({"name": "o", "status": "InProgress", "startTime": started}));
    let end = once(cloud, &settings());
    assert_finished(&end, Finish::NothingToDo);
    assert_eq!(end.cloud.borrow().aborts, Vec::<String>::new());
    assert!(last_left(&end.cloud.borrow()).contains("29 minutes"));
}

#[test]
fn unidentified_operation_is_not_aborted() {
    let mut cloud = Cloud::wedged();
    cloud.cluster_state = "Updating".into();
    let end = once(cloud, &settings());
    assert_finished(&end, Finish::Refused);
    assert_eq!(end.cloud.borrow().aborts, Vec::<String>::new());
}

#[test]
fn canceling_is_waited_for() {
    let mut cloud = Cloud::wedged();
    cloud.cluster_state = "Canceling".into();
    let end = once(cloud, &settings());
    assert_stopped(&end, Reason::StepTimeout, &["Canceling"]);
}

#[test]
fn unknown_checks_are_waited_for_and_never_block_a_run() {
    let mut cloud = Cloud::wedged();
    cloud.mute = true;
    let end = once(cloud, &settings());
    assert_stopped(&end, Reason::StepTimeout, &["unknown checks: failing-writes"]);
    assert_eq!(keys(&end.cloud.borrow()), Vec::<String>::new());
    // The run is unfinished, and continues once the log is available.
    end.cloud.borrow_mut().mute = false;
    completes(&end.cloud.borrow(), &settings());
}

#[test]
fn unknown_checks_do_not_delay_a_failed_one() {
    let mut cloud = Cloud::wedged();
    cloud.mute = true;
    cloud.pools.get_mut("system").unwrap().set_state("Succeeded");
    let began = cloud.now;
    let end = once(cloud, &settings());
    assert_finished(&end, Finish::Refused);
    assert!(end.cloud.borrow().now.duration_since(began) < SignedDuration::from_mins(1));
}

/// A step that fails stops the run before any later one, and can be resumed.
#[test]
fn rejected_step_stops_the_run_at_once() {
    for forbidden in [
        "abort the operation of the cluster",
        "put pool systm",
        "cordon aks-system-0",
        "evict kube-system/coredns",
        "delete pool syste",
        "put pool syste",
        "tag cluster",
        "cordon aks-systmp",
        "delete pool systm",
    ] {
        let mut cloud = old_operation();
        cloud.forbidden = Some(forbidden);
        let end = once(cloud, &settings());
        let (reason, message) = stopped(&end);
        assert_eq!(reason, Reason::EffectRefused, "{forbidden}: {message}");
        assert!(message.starts_with(forbidden), "{forbidden}: {message}");
        assert!(keys(&end.cloud.borrow()).last().unwrap().starts_with(forbidden), "{forbidden}");
        end.cloud.borrow_mut().forbidden = None;
        completes(&end.cloud.borrow(), &settings());
    }
}

#[test]
fn foreign_pool_with_the_temporary_name_is_never_changed() {
    let cloud = Rc::new(RefCell::new(Cloud::wedged()));
    assert_eq!(resume(&cloud, &settings(), &Kill::at(0), None), Ended::Killed);
    // Created right after the run started; an earlier one would block the start.
    let mut foreign = Cloud::wedged().pools.remove("user").unwrap();
    foreign.edit()["name"] = "systmp".into();
    cloud.borrow_mut().pools.insert("systmp".into(), foreign);
    let end = recover(&cloud.borrow(), &settings(), None);
    assert_finished(&end, Finish::Refused);
    assert_eq!(keys(&end.cloud.borrow()), Vec::<String>::new());
}

#[test]
fn all_nodes_are_cordoned_before_the_first_eviction() {
    let mut cloud = Cloud::wedged();
    cloud.nodes.push(node("system", "aks-system-0", 1));
    let end = once(cloud, &settings());
    let keys = keys(&end.cloud.borrow());
    let last_cordon = keys.iter().rposition(|key| key.starts_with("cordon aks-system-0")).unwrap();
    let first_evict = keys.iter().position(|key| key.starts_with("evict")).unwrap();
    assert!(last_cordon < first_evict, "{keys:?}");
    assert_eq!(keys.iter().filter(|key| key.starts_with("cordon aks-system-0")).count(), 2);
}

#[test]
fn daemon_set_pods_stay_and_others_move() {
    let end = once(Cloud::wedged(), &settings());
    let keys = keys(&end.cloud.borrow());
    assert!(!keys.iter().any(|key| key.contains("agent-0")), "{keys:?}");
    assert!(keys.iter().any(|key| key.contains("coredns-a")), "{keys:?}");
    assert!(last_left(&end.cloud.borrow()).contains("emptyDir"));
}

#[test]
fn pod_without_a_controller_is_reported() {
    let mut cloud = Cloud::wedged();
    cloud.pods.push(pod("alone", "alone", "None", "aks-system-0-0"));
    let end = once(cloud, &settings());
    assert_finished(&end, Finish::Complete);
    assert!(last_left(&end.cloud.borrow()).contains("alone has no controller"));
}

#[test]
fn pdb_is_overridden_only_with_a_recorded_reason() {
    // Without a reason, the run stops and names the PDB and the pod.
    let end = once(budget_that_never_clears(), &settings());
    assert_stopped(&end, Reason::Blocked, &["rigid-budget", "rigid-a", "never"]);
    assert!(end.cloud.borrow().deletes.is_empty());
    assert!(!keys(&end.cloud.borrow()).iter().any(|key| key.contains("rigid")));
    let mut settings = settings();
    settings.budgets = BudgetPolicy::Override("ticket 7".into());
    let end = once(budget_that_never_clears(), &settings);
    assert_finished(&end, Finish::Complete);
    let reasons: Vec<_> = effects(&end.cloud.borrow())
        .into_iter()
        .filter_map(|effect| match effect {
            Effect::DeletePod { pod, reason, .. } => Some((pod, reason)),
            _ => None,
        })
        .collect();
    assert!(reasons.iter().all(|(pod, reason)| pod.starts_with("rigid") && reason == "ticket 7"));
    assert!(!reasons.is_empty());
}

#[test]
fn run_can_be_resumed_after_the_deadline() {
    let mut short = settings();
    short.limits.overall = SignedDuration::from_secs(15);
    let stopped = run_to_rest(Cloud::wedged(), &short, &[], None, 0);
    assert_stopped(&stopped, Reason::Deadline, &[]);
    let end = run_to_rest(Cloud::wedged(), &short, &[], None, 30);
    assert_finished(&end, Finish::Complete);
    assert!(end.processes > 2, "{}", end.processes);
    let fresh = once(Cloud::wedged(), &settings());
    assert_eq!(end.cloud.borrow().end_state(), fresh.cloud.borrow().end_state());
    // `resume` may give it more time.
    completes(&stopped.cloud.borrow(), &settings());
}

#[test]
fn abort_uncordons_and_deletes_an_unused_temporary_pool() {
    let cloud = changed(Step::CordonPool, |_| {});
    assert!(cloud.nodes.iter().any(|node| node.cordoned));
    let mut end = rolls_back(&cloud);
    end.advance(end.now + SignedDuration::from_mins(1));
    assert_eq!(end.pools.keys().collect::<Vec<_>>(), ["system", "user"]);
}

#[test]
fn abort_keeps_and_reports_a_temporary_pool_with_pods() {
    let end = rolls_back(&changed(Step::VerifyWorkloads, |_| {}));
    assert!(end.pools.contains_key("systmp"));
    assert!(last_left(&end).contains("systmp was kept: it runs 3 pods"), "{}", last_left(&end));
}

#[test]
fn abort_after_the_deletion_requires_resume() {
    let cloud = changed(Step::DeletePool, |_| {});
    let end = undo(&cloud, None);
    assert_stopped(&end, Reason::NotUndoable, &["resume"]);
    completes(&end.cloud.borrow(), &settings());
}

#[test]
fn node_cordoned_by_an_operator_stays_cordoned_on_abort() {
    let cloud = until(Step::CordonPool, &settings(), || {
        let mut cloud = Cloud::wedged();
        let mut cordoned = node("system", "aks-system-0", 1);
        cordoned.cordoned = true;
        cloud.nodes.push(cordoned);
        cloud
    });
    let end = undo(&cloud.borrow(), None);
    assert_finished(&end, Finish::Aborted);
    let end = end.cloud.borrow();
    let left: Vec<_> = end.nodes.iter().filter(|node| node.cordoned).map(|n| &n.name).collect();
    assert_eq!(left, ["aks-system-0-1"]);
}

#[test]
fn former_node_count_is_awaited_and_not_the_minimum() {
    let end = once(Cloud::wedged(), &settings());
    let cloud = end.cloud.borrow();
    let evidence = cloud.journal.iter().find_map(|record| match record {
        Entry::StepDone { step: Step::WaitForNodes, evidence } => Some(evidence.join("")),
        _ => None,
    });
    assert_eq!(evidence.unwrap(), "pool system has 3 Ready, schedulable nodes");
}

#[test]
fn reads_between_changes_take_little_time() {
    // Every operation here lasts 8 s.
    let start = Cloud::wedged().now;
    let end = once(Cloud::wedged(), &settings());
    let took = end.cloud.borrow().now.duration_since(start);
    assert!(took < SignedDuration::from_secs(4 * 8 + 60), "{took:?}");
}
