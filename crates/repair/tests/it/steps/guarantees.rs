//! Guarantees of the repair, including known bugs of earlier tools.

use mooring_workflow::{Finish, Reason, RunOutcome};
use std::cell::RefCell;
use std::rc::Rc;

use crate::fake::outcomes::{effects, keys, once, rest, stopped};
use crate::fake::scenarios::{budget_that_never_clears, dead_node, old_operation, settings};
use crate::fake::{Cloud, Ended, Kill, node, pod, recover, resume, run_to_rest, undo, until};
use jiff::SignedDuration;
use mooring_repair::effects::Effect;
use mooring_repair::observation::AksOperation;
use mooring_repair::plan::Step;
use mooring_repair::settings::BudgetPolicy;
use mooring_repair::workflow::{Entry, PoolRepair};
use mooring_workflow::Workflow as _;
use serde_json::json;

fn last_left(cloud: &Cloud) -> String {
    let left = PoolRepair::remaining(cloud.state.as_ref().unwrap());
    left.into_iter().map(|left| left.what).collect::<Vec<_>>().join(" | ")
}

fn abort(cloud: &Rc<RefCell<Cloud>>) -> Ended {
    let end = undo(&cloud.borrow(), None);
    cloud.swap(&end.cloud);
    end.ended
}

#[test]
fn recovered_pool_is_not_changed() {
    let mut cloud = Cloud::wedged();
    cloud.pools.get_mut("system").unwrap().set_state("Succeeded");
    let end = once(cloud, &settings());
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::Refused));
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
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::NothingToDo));
    assert_eq!(end.cloud.borrow().aborts, Vec::<String>::new());
    assert!(last_left(&end.cloud.borrow()).contains("29 minutes"));
}

#[test]
fn old_operation_is_aborted_once_and_awaited() {
    let cloud = old_operation();
    let end = once(cloud, &settings());
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete));
    assert_eq!(end.cloud.borrow().aborts, ["o"]);
}

#[test]
fn unidentified_operation_is_not_aborted() {
    let mut cloud = Cloud::wedged();
    cloud.cluster_state = "Updating".into();
    let end = once(cloud, &settings());
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::Refused));
    assert_eq!(end.cloud.borrow().aborts, Vec::<String>::new());
}

#[test]
fn canceling_is_waited_for() {
    let mut cloud = Cloud::wedged();
    cloud.cluster_state = "Canceling".into();
    let end = once(cloud, &settings());
    let (reason, message) = stopped(&end);
    assert_eq!(reason, Reason::StepTimeout);
    assert!(message.contains("Canceling"), "{message}");
}

#[test]
fn unknown_checks_are_waited_for_and_never_block_a_run() {
    let mut cloud = Cloud::wedged();
    cloud.mute = true;
    let end = once(cloud, &settings());
    let (reason, message) = stopped(&end);
    assert_eq!(reason, Reason::StepTimeout);
    assert!(message.contains("unknown checks: failing-writes"), "{message}");
    assert_eq!(keys(&end.cloud.borrow()), Vec::<String>::new());
    // The run is unfinished, and continues once the log is available.
    end.cloud.borrow_mut().mute = false;
    let ended = resume(&end.cloud, &settings(), &Kill::default(), None);
    assert_eq!(ended, Ended::Stopped(RunOutcome::Finished(Finish::Complete)));
}

#[test]
fn unknown_checks_do_not_delay_a_failed_one() {
    let mut cloud = Cloud::wedged();
    cloud.mute = true;
    cloud.pools.get_mut("system").unwrap().set_state("Succeeded");
    let began = cloud.now;
    let end = once(cloud, &settings());
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::Refused));
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
        let end = recover(&end.cloud.borrow(), &settings(), None);
        assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete), "{forbidden}");
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
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::Refused));
    assert_eq!(keys(&end.cloud.borrow()), Vec::<String>::new());
}

#[test]
fn edit_after_the_snapshot_stops_the_deletion() {
    let cloud = until(Step::VerifyWorkloads, &settings(), Cloud::wedged);
    cloud.borrow_mut().pools.get_mut("system").unwrap().edit()["properties"]["maxPods"] = 50.into();
    let ended = resume(&cloud, &settings(), &Kill::default(), None);
    let Ended::Stopped(RunOutcome::Resumable { reason, .. }) = ended else { panic!("{ended:?}") };
    assert_eq!(reason, Reason::Changed);
    assert!(cloud.borrow().deletes.is_empty());
}

#[test]
fn externally_recreated_pool_is_never_deleted() {
    let cloud = until(Step::VerifyWorkloads, &settings(), Cloud::wedged);
    cloud.borrow_mut().pools.get_mut("system").unwrap().set = "aks-system-new".into();
    let ended = resume(&cloud, &settings(), &Kill::default(), None);
    let Ended::Stopped(RunOutcome::Resumable { reason, .. }) = ended else { panic!("{ended:?}") };
    assert_eq!(reason, Reason::Changed);
    assert!(cloud.borrow().deletes.is_empty());
    assert_eq!(
        abort(&cloud),
        Ended::Stopped(RunOutcome::Finished(Finish::Aborted)),
        "and there is a way out"
    );
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
    let end = once(Cloud::wedged(), &crate::fake::scenarios::settings());
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
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete));
    assert!(last_left(&end.cloud.borrow()).contains("alone has no controller"));
}

#[test]
fn dead_node_is_not_waited_for() {
    let cloud = dead_node();
    let end = once(cloud, &settings());
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete));
}

#[test]
fn pdb_without_disruptions_stops_the_run_and_is_named() {
    let end = once(budget_that_never_clears(), &settings());
    let (reason, message) = stopped(&end);
    assert_eq!(reason, Reason::Blocked);
    for word in ["rigid-budget", "rigid-a", "never"] {
        assert!(message.contains(word), "{message}");
    }
    assert!(end.cloud.borrow().deletes.is_empty());
    assert!(!keys(&end.cloud.borrow()).iter().any(|key| key.contains("rigid")));
}

#[test]
fn pdb_is_overridden_only_with_a_recorded_reason() {
    let mut settings = settings();
    settings.budgets = BudgetPolicy::Override("ticket 7".into());
    let end = once(budget_that_never_clears(), &settings);
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete));
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
    let mut settings = settings();
    settings.limits.overall = SignedDuration::from_secs(15);
    let end = run_to_rest(Cloud::wedged(), &settings, &[], None, 0);
    assert_eq!(stopped(&end).0, Reason::Deadline);
    let end = run_to_rest(Cloud::wedged(), &settings, &[], None, 30);
    assert_eq!(rest(&end), RunOutcome::Finished(Finish::Complete));
    assert!(end.processes > 2, "{}", end.processes);
    let ample = crate::fake::scenarios::settings();
    let fresh = once(Cloud::wedged(), &ample);
    assert_eq!(end.cloud.borrow().end_state(), fresh.cloud.borrow().end_state());
    // `resume` may give it more time.
    let end = run_to_rest(Cloud::wedged(), &settings, &[], None, 0);
    let end = recover(&end.cloud.borrow(), &ample, None);
    assert_eq!((rest(&end), end.processes), (RunOutcome::Finished(Finish::Complete), 1));
}

#[test]
fn abort_uncordons_and_deletes_an_unused_temporary_pool() {
    let cloud = until(Step::CordonPool, &settings(), Cloud::wedged);
    assert!(cloud.borrow().nodes.iter().any(|node| node.cordoned));
    assert_eq!(abort(&cloud), Ended::Stopped(RunOutcome::Finished(Finish::Aborted)));
    let later = cloud.borrow().now + SignedDuration::from_mins(1);
    cloud.borrow_mut().advance(later);
    let cloud = cloud.borrow();
    assert!(cloud.nodes.iter().all(|node| !node.cordoned));
    assert_eq!(cloud.pools.keys().collect::<Vec<_>>(), ["system", "user"]);
}

#[test]
fn abort_keeps_and_reports_a_temporary_pool_with_pods() {
    let cloud = until(Step::VerifyWorkloads, &settings(), Cloud::wedged);
    assert_eq!(abort(&cloud), Ended::Stopped(RunOutcome::Finished(Finish::Aborted)));
    let cloud = cloud.borrow();
    assert!(cloud.pools.contains_key("systmp"));
    assert!(cloud.nodes.iter().all(|node| !node.cordoned));
    assert!(last_left(&cloud).contains("systmp was kept: it runs 3 pods"), "{}", last_left(&cloud));
}

#[test]
fn abort_after_the_deletion_requires_resume() {
    let cloud = until(Step::DeletePool, &settings(), Cloud::wedged);
    let Ended::Stopped(RunOutcome::Resumable { reason, message }) = abort(&cloud) else { panic!() };
    assert_eq!(reason, Reason::NotUndoable);
    assert!(message.contains("resume"), "{message}");
    let end = recover(&cloud.borrow(), &settings(), None);
    assert_eq!(
        end.ended,
        Ended::Stopped(RunOutcome::Finished(Finish::Complete)),
        "and forward it goes"
    );
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
    assert_eq!(abort(&cloud), Ended::Stopped(RunOutcome::Finished(Finish::Aborted)));
    let left: Vec<_> =
        cloud.borrow().nodes.iter().filter(|n| n.cordoned).map(|n| n.name.clone()).collect();
    assert_eq!(left, ["aks-system-0-1"]);
}

#[test]
fn former_node_count_is_awaited_and_not_the_minimum() {
    let end = once(Cloud::wedged(), &crate::fake::scenarios::settings());
    let cloud = end.cloud.borrow();
    let evidence = cloud.journal.iter().find_map(|record| match record {
        Entry::StepDone { step: Step::WaitForNodes, evidence } => Some(evidence.join("")),
        _ => None,
    });
    assert_eq!(evidence.unwrap(), "pool system has 3 Ready, schedulable nodes");
}

#[test]
fn temporary_pool_has_as_many_nodes_as_the_pool() {
    let end = once(Cloud::wedged(), &crate::fake::scenarios::settings());
    let body = effects(&end.cloud.borrow()).into_iter().find_map(|effect| match effect {
        Effect::PutPool { pool, body, .. } if pool == "systmp" => Some(body),
        _ => None,
    });
    let body = body.unwrap();
    assert_eq!(body["properties"]["count"], 3);
    assert_eq!(body["properties"]["tags"]["mooring-run"], "run0");
    assert_eq!(body["properties"]["nodeTaints"], json!(["CriticalAddonsOnly=true:NoSchedule"]));
}

#[test]
fn reads_between_changes_take_little_time() {
    // Every operation here lasts 8 s.
    let start = Cloud::wedged().now;
    let end = once(Cloud::wedged(), &crate::fake::scenarios::settings());
    let took = end.cloud.borrow().now.duration_since(start);
    assert!(took < SignedDuration::from_secs(4 * 8 + 60), "{took:?}");
}
