//! Events that are created, and reads that events request.

use mooring_nodes::record::FailureRecord;
use serde_json::{Value, json};

use super::{Action, add, at, claim, entry, event, leader};
use crate::observation::{Observation, ProvisioningState, VmObservation};
use crate::schedule::QueuePriority;
use crate::state::reads::{EVENT_TTL, contradicts};
use crate::verdict::event::RegardingKind;

fn priorities(actions: &[Action]) -> Vec<QueuePriority> {
    let priority = |action: &Action| match action {
        Action::Read(read) => Some(read.priority),
        _ => None,
    };
    actions.iter().filter_map(priority).collect()
}

#[test]
fn confirmed_failure_is_reported_on_its_pool() {
    use RegardingKind::{NodeClaim, NodePool};
    for (pool, unconfirmed, expected) in [
        ("default", false, &[NodeClaim, NodePool][..]),
        ("default", true, &[NodeClaim]),
        ("", false, &[NodeClaim]),
        ("", true, &[NodeClaim]),
    ] {
        let entry = FailureRecord { pool: pool.to_owned(), unconfirmed, ..entry("a", "X", 1) };
        let mut actions = Vec::new();
        leader().create_events(&entry, &mut actions);
        let kind = |action: &Action| match action {
            Action::Event(event) => event.regarding.kind,
            other => panic!("{other:?}"),
        };
        let kinds: Vec<RegardingKind> = actions.iter().map(kind).collect();
        assert_eq!(kinds, expected, "{pool} {unconfirmed}");
    }
}

#[test]
fn dropped_writes_of_all_queues_are_counted() {
    let mut state = leader();
    state.dropped.writes = 4;
    let write = Action::Record(Box::new(entry("a", "X", 1)));
    state.deferred.requeue(vec![write; 16_384 + 3], at(0));
    let outcome = mooring_nodes::record::counts::CountedNode::new("a", at(0), "default", "i", None);
    state.counting.requeue(vec![outcome; 16_384 + 2], at(0));
    assert_eq!(state.dropped().writes, 4 + 3 + 2);
}

#[test]
fn event_about_a_starting_node_requests_a_read() {
    let ttl = EVENT_TTL.as_secs();
    for (name, age, expected) in [
        ("a", 0, &[QueuePriority::Event][..]),
        ("a", ttl, &[QueuePriority::Event]),
        ("a", ttl + 1, &[]),
        ("b", 0, &[]),
    ] {
        let mut state = leader();
        add(&mut state, claim("a", |_| {}), 0);
        let actions = state.handle(event("a", name, 10 - age), at(10));
        assert_eq!(priorities(&actions), expected, "{name} {age}");
        // A further event requests nothing within a minute.
        if !expected.is_empty() {
            let actions = state.handle(event("a", name, 11), at(11));
            assert_eq!(priorities(&actions), [], "{name} {age}");
        }
    }
    let mut state = leader();
    add(&mut state, claim("a", super::register), 70);
    assert_eq!(priorities(&state.handle(event("a", "a", 71), at(71))), [], "it has joined");
}

#[test]
fn running_or_succeeded_bootstrap_contradicts_an_event() {
    let seen = |vm: &str, kind: &str, state: &str| {
        let view: Value = json!({"properties": {"provisioningState": vm, "instanceView": {"extensions": [{
            "name": "x", "type": kind, "statuses": [{"code": format!("ProvisioningState/{state}")}]}]}}});
        contradicts(&Observation::Vm(VmObservation::of(&serde_json::from_value(view).unwrap())))
    };
    let script = "Microsoft.Azure.Extensions.CustomScript";
    assert!(seen("Succeeded", script, "transitioning") && seen("Failed", script, "succeeded"));
    assert!(!seen("Succeeded", script, "failed") && !seen("Deleting", script, "transitioning"));
    assert!(!seen("Succeeded", "Microsoft.AKS.Billing", "succeeded"));
    assert!(!contradicts(&Observation::Missing));
    assert_eq!(ProvisioningState::parse("Deleting"), ProvisioningState::Deleting);
}
