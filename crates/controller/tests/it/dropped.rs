//! A condition that another writer drops while it is being written: status 200 is not final.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_controller::observation::VmObservation;
use mooring_controller::verdict::patch::PatchResult;
use mooring_controller::{Action, Input, Observation, Settings, State};
use mooring_nodes::claim::vm_id::Interner;
use mooring_nodes::{Claim, Scope};
use serde_json::{Value, json};

const VM: &str =
    "/subscriptions/s/resourceGroups/mc/providers/Microsoft.Compute/virtualMachines/aks-default-x1";

fn at(seconds: i64) -> Timestamp {
    "2026-11-15T05:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_secs(seconds)
}

/// The NodeClaim in one version, with Mooring's condition or without.
fn claim(version: u32, own: Option<&Value>) -> Input {
    let launched = at(0).to_string();
    let mut conditions = vec![
        json!({"type": "Launched", "status": "True", "lastTransitionTime": launched}),
        json!({"type": "Registered", "status": "Unknown", "lastTransitionTime": launched}),
    ];
    conditions.extend(own.cloned());
    let object = json!({
        "metadata": {"name": "default-x1", "uid": "u1", "resourceVersion": version.to_string(), "generation": 1,
            "creationTimestamp": launched, "labels": {"karpenter.sh/nodepool": "default"}},
        "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}},
        "status": {"providerID": format!("azure://{VM}"), "conditions": conditions},
    });
    let mut interner = Interner::default();
    let claim = Claim::from_json(object.to_string().as_bytes(), "CSEProvisioned", &mut interner);
    Input::Claim(Box::new(claim.unwrap()))
}

/// A VM whose bootstrap failed.
fn failed() -> Input {
    let message = "Enable failed: failed to execute command: command terminated with exit status=50\n[stdout]\n{ \"ExitCode\": \"50\" }";
    let view = json!({"name": "aks-default-x1", "properties": {
        "provisioningState": "Failed",
        "instanceView": {"extensions": [{"name": "cse-agent-karpenter",
            "type": "Microsoft.Azure.Extensions.CustomScript",
            "statuses": [{"code": "ProvisioningState/failed/0", "level": "Error", "message": message}]}]},
    }});
    let observation = Observation::Vm(VmObservation::of(&serde_json::from_value(view).unwrap()));
    Input::Observed { uid: Arc::from("u1"), observation }
}

fn patches(actions: Vec<Action>) -> Vec<Value> {
    let body = |action| match action {
        Action::Patch { body, .. } => Some(body),
        _ => None,
    };
    actions.into_iter().filter_map(body).collect()
}

/// A state with a failure, and its actions.
fn failing() -> (State, Vec<Action>) {
    let scope =
        Scope { subscription: "s".to_owned(), node_resource_group: "mc".to_owned(), cluster: None };
    let mut state = State::new(Settings { scope, ..Settings::default() }, at(0));
    state.handle(Input::Leads(true), at(0));
    state.handle(claim(10, None), at(70));
    let requested = state.handle(failed(), at(71));
    (state, requested)
}

/// A state that is writing its condition, and the condition.
fn patching() -> (State, Value) {
    let (state, requested) = failing();
    let requested = patches(requested);
    assert_eq!(requested.len(), 1, "{requested:?}");
    let own = requested[0].as_array().unwrap().last().unwrap()["value"].clone();
    (state, own)
}

fn written() -> Input {
    Input::Patched { uid: Arc::from("u1"), result: PatchResult::Written }
}

#[test]
fn condition_dropped_before_the_response_is_rewritten() {
    let (mut state, own) = patching();
    // Karpenter's write is newer, and its event arrives before the response to ours.
    assert!(patches(state.handle(claim(12, None), at(72))).is_empty(), "one write at a time");
    assert!(patches(state.handle(claim(11, Some(&own)), at(72))).is_empty());
    let again = patches(state.handle(written(), at(72)));
    assert_eq!(again.len(), 1, "a 200 is not the end");
    assert_eq!(again[0][1]["value"], "12", "by the newest version: {again:?}");
}

#[test]
fn condition_on_the_object_is_not_rewritten() {
    let (mut state, own) = patching();
    assert!(patches(state.handle(claim(11, Some(&own)), at(72))).is_empty());
    assert!(patches(state.handle(written(), at(72))).is_empty());
    assert!(patches(state.handle(claim(12, Some(&own)), at(73))).is_empty());
}

/// Deferred writes are repeated a second later, in order, without a new diagnosis.
#[test]
fn deferred_writes_are_repeated_in_order() {
    let (mut state, requested) = failing();
    let is_write = |action: &Action| {
        matches!(action, Action::Record(_) | Action::Event(_) | Action::Patch { .. })
    };
    let writes: Vec<Action> = requested.into_iter().filter(is_write).collect();
    let kinds = |actions: &[Action]| -> Vec<&str> {
        let kind = |action: &Action| match action {
            Action::Record(_) => "record",
            Action::Event(_) => "event",
            Action::Patch { .. } => "condition",
            other => panic!("{other:?}"),
        };
        actions.iter().map(kind).collect()
    };
    assert_eq!(kinds(&writes), ["record", "event", "event", "condition"]);
    let at_once = state.handle(Input::Deferred(writes.clone()), at(71));
    assert!(!at_once.iter().any(is_write), "{at_once:?}");
    assert_eq!(state.wake_at(at(71)), Some(at(72)));
    let again: Vec<Action> = state.handle(Input::Tick, at(72)).into_iter().collect();
    let reported = again.iter().any(|action| matches!(action, Action::LogDiagnosis(_)));
    assert!(!reported, "counted twice: {again:?}");
    let again: Vec<Action> = again.into_iter().filter(is_write).collect();
    assert_eq!(kinds(&again), kinds(&writes));
    assert!(!state.handle(Input::Tick, at(73)).iter().any(is_write));
}
