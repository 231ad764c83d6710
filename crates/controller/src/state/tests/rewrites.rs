//! Writes of conditions that failed.

use std::sync::Arc;

use super::{Action, Input, State, add, at, claim, failed_vm, leader, observed};
use crate::observation::{Observation, VmObservation};
use crate::verdict::patch::PatchResult;

/// A leader that writes the condition of a failure at 70.
fn writing() -> State {
    let mut state = leader();
    add(&mut state, claim("a", |_| {}), 0);
    let actions = state.handle(observed("a", failed_vm()), at(70));
    assert!(actions.iter().any(|action| matches!(action, Action::Patch { .. })), "{actions:?}");
    state
}

fn patched(state: &mut State, result: PatchResult, seconds: i64) -> usize {
    let uid = Arc::from("a");
    rereads(&state.handle(Input::Patched { uid, result }, at(seconds)))
}

fn rereads(actions: &[Action]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::Reread { .. })).count()
}

#[test]
fn pauses_between_failed_writes_grow() {
    for (results, pauses) in
        [([PatchResult::Retry; 6], [1, 5, 30, 300, 300, 300]), ([PatchResult::Denied; 6], [300; 6])]
    {
        let (mut state, mut now) = (writing(), 71);
        for (result, pause) in results.into_iter().zip(pauses) {
            assert_eq!(patched(&mut state, result, now), 0);
            assert_eq!(state.rewrites.first().map(|(at, _)| *at), Some(at(now + pause)));
            assert_eq!(rereads(&state.handle(Input::Tick, at(now + pause - 1))), 0);
            now += pause;
            assert_eq!(rereads(&state.handle(Input::Tick, at(now))), 1, "{result:?} {pause}");
        }
    }
}

#[test]
fn conflict_is_read_at_once_only_the_first_time() {
    let mut state = writing();
    assert_eq!(patched(&mut state, PatchResult::Reread, 71), 1);
    assert_eq!(state.rewrites.len(), 0);
    assert_eq!(patched(&mut state, PatchResult::Reread, 72), 0);
    assert_eq!(state.rewrites.first().map(|(at, _)| *at), Some(at(77)));
}

#[test]
fn success_after_a_registration_is_written_without_a_read() {
    let mut state = leader();
    add(&mut state, claim("a", super::register), 70);
    let vm = serde_json::json!({"properties": {"provisioningState": "Succeeded", "instanceView": {"extensions": [{
        "name": "cse-agent-karpenter", "type": "Microsoft.Azure.Extensions.CustomScript",
        "statuses": [{"code": "ProvisioningState/succeeded", "message": "Enable succeeded"}]}]}}});
    let seen = Observation::Vm(VmObservation::of(&serde_json::from_value(vm).unwrap()));
    let is_patch = |action: &Action| matches!(action, Action::Patch { .. });
    assert!(!state.handle(observed("a", seen), at(71)).iter().any(is_patch));
    assert!(!state.handle(Input::Tick, at(74)).iter().any(is_patch));
    assert_eq!(state.wake_at(at(74)), Some(at(75)));
    let actions = state.handle(Input::Tick, at(75));
    assert!(actions.iter().any(is_patch), "{actions:?}");
    assert_eq!(rereads(&actions), 0);
}
