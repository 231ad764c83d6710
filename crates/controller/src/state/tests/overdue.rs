//! Inspection of nodes that do not register.

use std::sync::Arc;

use jiff::Timestamp;
use mooring_nodes::verdict::ConditionReason;
use mooring_nodes::verdict::registration::{AgentState, Power, VmState};
use serde_json::{Value, json};

use super::{State, add, at, claim, leader};
use crate::observation::Observation;
use crate::schedule::QueuePriority;
use crate::state::condition_write::HeldVerdict;
use crate::state::tracked::{Inspection, Work};

fn vm(lacks_extension: bool) -> VmState {
    let (power, agent) = (Power::Running, AgentState::Ready);
    VmState { power, agent, lacks_extension, runs_extension: !lacks_extension }
}

fn deleted(object: &mut Value) {
    object["metadata"]["deletionTimestamp"] = json!(at(900));
}

/// A leader with a NodeClaim of this work, and no requested action.
fn state(change: fn(&mut Value), work: impl FnOnce(&mut Work)) -> State {
    let mut state = leader();
    add(&mut state, claim("a", change), 0);
    let tracked = state.claims.get_mut("a").unwrap();
    tracked.work = None;
    work(tracked.work());
    state
}

/// Returns if a node is inspected, and the number of requests.
fn inspect(state: &mut State, exhausted: bool, now: Timestamp) -> (bool, usize) {
    let mut actions = Vec::new();
    let inspected = state.inspect(&Arc::from("a"), exhausted, now, &mut actions);
    (inspected, actions.len())
}

#[test]
fn overdue_node_is_inspected_once_enough_is_known() {
    for (is_deleted, seen, last, count, expected) in [
        (false, None, None, 3, false),
        (false, None, None, 4, true),
        (false, None, Some(at(900)), 1, true),
        (false, Some(vm(true)), None, 0, true),
        (false, Some(vm(false)), None, 0, true),
        (true, None, Some(at(900)), 9, false),
        (true, Some(vm(false)), Some(at(900)), 9, false),
        (true, Some(vm(true)), Some(at(900)), 1, true),
    ] {
        let change = if is_deleted { deleted } else { |_: &mut Value| {} };
        let work = |work: &mut Work| {
            work.vm = seen;
            (work.history.last, work.history.count) = (last, count);
        };
        let found = inspect(&mut state(change, work), false, at(960));
        assert_eq!(found, (expected, usize::from(expected)), "{seen:?} {last:?} {count}");
        let early = inspect(&mut state(change, work), true, at(800));
        assert_eq!(early, (is_deleted, usize::from(is_deleted)), "not overdue");
        assert_eq!(inspect(&mut state(change, work), true, at(960)), (true, 1));
    }
}

#[test]
fn inspection_is_not_repeated_before_its_time() {
    for (inspection, expected) in [
        (Inspection::None, (true, 1)),
        (Inspection::Asked(at(901)), (true, 0)),
        (Inspection::Asked(at(900)), (true, 1)),
        (Inspection::NotBefore(at(961)), (false, 0)),
        (Inspection::NotBefore(at(960)), (true, 1)),
    ] {
        let mut state = state(
            |_| {},
            |work| {
                work.vm = Some(vm(true));
                work.inspection = inspection;
            },
        );
        assert_eq!(inspect(&mut state, false, at(960)), expected, "{inspection:?}");
    }
    // A deleted NodeClaim does not wait.
    let mut state = state(deleted, |work| {
        (work.vm, work.inspection) = (Some(vm(true)), Inspection::NotBefore(at(961)));
    });
    assert_eq!(inspect(&mut state, false, at(960)), (true, 1));
}

#[test]
fn node_is_read_again_after_a_success_before_it_is_inspected() {
    let succeeded = |object: &mut Value| {
        object["status"]["conditions"].as_array_mut().unwrap().push(json!({
            "type": "CSEProvisioned", "status": "True", "reason": "CSESucceeded", "message": "m",
            "lastTransitionTime": at(0),
        }));
    };
    for (late, late_read, expected) in
        [(0, false, false), (2, false, false), (3, false, true), (1, true, true)]
    {
        let mut state = state(succeeded, |work| {
            (work.history.late, work.late_read, work.vm) = (late, late_read, Some(vm(true)));
        });
        let tracked = state.claims.get_mut("a").unwrap();
        let reason = ConditionReason::CseSucceeded;
        tracked.held =
            Some(HeldVerdict { was_written: true, ..HeldVerdict::unwritten(reason, "m", None) });
        let found = inspect(&mut state, false, at(300));
        assert_eq!(found, (expected, usize::from(expected)), "{late} {late_read}");
        assert_eq!(inspect(&mut state, true, at(299)), (false, 0), "not overdue");
    }
}

#[test]
fn answered_read_after_a_verdict_is_remembered() {
    let throttled = || Observation::Throttled { retry_after: None };
    for (priority, observations, expected) in [
        (QueuePriority::Pending, vec![throttled()], false),
        (QueuePriority::Event, vec![Observation::Missing], false),
        (QueuePriority::Pending, vec![Observation::Missing, throttled()], true),
    ] {
        let mut state = state(|_| {}, |_| {});
        let tracked = state.claims.get_mut("a").unwrap();
        let reason = ConditionReason::CseSucceeded;
        tracked.held =
            Some(HeldVerdict { was_written: true, ..HeldVerdict::unwritten(reason, "m", None) });
        for observation in &observations {
            let tracked = state.claims.get_mut("a").unwrap();
            tracked.work().reading = Some((at(300), priority));
            state.observe(&Arc::from("a"), observation, at(300), &mut Vec::new());
        }
        let found = state.claims.get_mut("a").unwrap().work().late_read;
        assert_eq!(found, expected, "{observations:?}");
    }
}
