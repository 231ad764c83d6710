use jiff::Timestamp;
use mooring_nodes::claim::vm_id::Interner;
use mooring_nodes::claim::{Claim, Condition, Shape};
use mooring_nodes::verdict::{ConditionReason, ConditionStatus};
use serde_json::{Value, json};

use super::*;

fn claim() -> Claim {
    let object = json!({
        "metadata": {"name": "c", "uid": "u", "resourceVersion": "7", "generation": 2, "creationTimestamp": "2026-11-15T08:00:00Z"},
        "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}},
        "status": {"conditions": [{"type": "Launched", "status": "True", "lastTransitionTime": "2026-11-15T08:00:07Z"}]}
    });
    Claim::from_json(object.to_string().as_bytes(), "CSEProvisioned", &mut Interner::default())
        .unwrap()
}

fn with(reason: &str, status: ConditionStatus, message: &str) -> Claim {
    let condition = Condition {
        index: 1,
        status,
        reason: reason.into(),
        message: message.into(),
        since: "2026-11-15T08:01:00Z".parse().unwrap(),
    };
    Claim { condition: Some(condition), ..claim() }
}

fn now() -> Timestamp {
    "2026-11-15T08:05:00.75Z".parse().unwrap()
}

fn failed() -> DesiredCondition<'static> {
    DesiredCondition { reason: ConditionReason::CseFailed, message: "m", since: now() }
}

fn condition(since: &str) -> Value {
    json!({"type": "CSEProvisioned", "status": "False", "reason": "CSEFailed", "message": "m",
           "lastTransitionTime": since, "observedGeneration": 2})
}

fn patched(claim: &Claim) -> Value {
    patch(claim, "CSEProvisioned", failed()).unwrap()
}

#[test]
fn missing_condition_is_appended_to_the_same_version() {
    assert_eq!(
        patched(&claim()),
        json!([
            {"op": "test", "path": "/metadata/uid", "value": "u"},
            {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
            {"op": "add", "path": "/status/conditions/-", "value": condition("2026-11-15T08:05:00Z")}
        ])
    );
}

#[test]
fn missing_parents_are_created_without_replacing_any() {
    for (shape, path, value) in [
        (Shape::NoConditions, "/status/conditions", json!([condition("2026-11-15T08:05:00Z")])),
        (Shape::NoStatus, "/status", json!({"conditions": [condition("2026-11-15T08:05:00Z")]})),
    ] {
        let patched = patched(&Claim { shape, ..claim() });
        assert_eq!(patched[1]["path"], "/metadata/resourceVersion");
        assert_eq!(patched[2], json!({"op": "add", "path": path, "value": value}));
    }
}

#[test]
fn condition_is_replaced_at_its_index() {
    assert_eq!(
        patched(&with("CSERunning", ConditionStatus::Unknown, "")),
        json!([
            {"op": "test", "path": "/metadata/uid", "value": "u"},
            {"op": "test", "path": "/status/conditions/1/type", "value": "CSEProvisioned"},
            {"op": "replace", "path": "/status/conditions/1", "value": condition("2026-11-15T08:05:00Z")}
        ])
    );
}

#[test]
fn transition_time_changes_only_with_the_status() {
    let patched = patched(&with("CSEFailed", ConditionStatus::False, "older words"));
    assert_eq!(patched[2]["value"]["lastTransitionTime"], "2026-11-15T08:01:00Z");
}

#[test]
fn existing_condition_is_not_written_again() {
    assert_eq!(
        patch(&with("CSEFailed", ConditionStatus::False, "m"), "CSEProvisioned", failed()),
        None
    );
    for other in [
        with("CSEFailed", ConditionStatus::Unknown, "m"),
        with("CSETimedOut", ConditionStatus::False, "m"),
        with("CSEFailed", ConditionStatus::False, "n"),
    ] {
        assert!(patch(&other, "CSEProvisioned", failed()).is_some());
    }
}

#[test]
fn patch_status_codes_are_mapped_to_results() {
    for (status, result) in [
        (Some(200), PatchResult::Written),
        (Some(409), PatchResult::Reread),
        (Some(422), PatchResult::Reread),
        (Some(404), PatchResult::Gone),
        (Some(403), PatchResult::Denied),
        (Some(429), PatchResult::Retry),
        (Some(500), PatchResult::Retry),
        (None, PatchResult::Retry),
    ] {
        assert_eq!(PatchResult::of(status), result, "{status:?}");
    }
}
