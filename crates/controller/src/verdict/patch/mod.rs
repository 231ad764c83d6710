//! The smallest safe patch of a NodeClaim's status for a verdict, if one is needed.
//!
//! Karpenter replaces the whole list of conditions by merge patches, and the older schema lets a forced apply
//! wipe it, so the condition is changed by a JSON Patch that can change nothing else: every patch tests the
//! uid; one that replaces tests the type at its index; one that adds tests the object's version, since on the
//! older schema a second append would give two conditions of one type, and creating a missing parent would
//! replace one that has just appeared.

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use mooring_nodes::claim::{Claim, Shape};
use mooring_nodes::verdict::ConditionReason;
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchResult {
    Written,
    /// The object has changed (409, or 422 for a failed test): read it again, then decide again.
    Reread,
    /// The object was deleted (404).
    Gone,
    /// Access denied (401, 403): log it, and retry much later.
    Denied,
    /// Other statuses, and no response: retry later. The write may have happened; the next decision is made
    /// from the object, so it cannot be duplicated.
    Retry,
}

impl PatchResult {
    /// Converts the status of a response; none without a response.
    #[must_use]
    pub fn of(status: Option<u16>) -> Self {
        match status {
            Some(200..=299) => Self::Written,
            Some(409 | 422) => Self::Reread,
            Some(404) => Self::Gone,
            Some(401 | 403) => Self::Denied,
            _ => Self::Retry,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusPatchKind {
    /// The verdict has not been on the object.
    Verdict,
    /// Another writer dropped or changed the condition.
    Reassert,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DesiredCondition<'a> {
    pub reason: ConditionReason,
    pub message: &'a str,
    /// When the node came into this state, which a new status shows as its transition.
    pub since: Timestamp,
}

/// Returns true if the object has the condition. Only status, reason and message count: Karpenter changes
/// `observedGeneration` of every condition while it deletes a NodeClaim.
pub fn has_condition(claim: &Claim, reason: ConditionReason, message: &str) -> bool {
    claim.condition.as_ref().is_some_and(|is| {
        is.status == reason.status() && &*is.reason == reason.as_str() && &*is.message == message
    })
}

/// Returns the JSON Patch of the status that sets the condition; none if it is set.
pub fn patch(claim: &Claim, condition_type: &str, desired: DesiredCondition<'_>) -> Option<Value> {
    if has_condition(claim, desired.reason, desired.message) {
        return None;
    }
    let mut steps = vec![json!({"op": "test", "path": "/metadata/uid", "value": &*claim.uid})];
    let status = desired.reason.status();
    let condition = |since: Timestamp| {
        json!({
            "type": condition_type,
            "status": status.as_str(),
            "reason": desired.reason.as_str(),
            "message": desired.message,
            "lastTransitionTime": rfc3339(since),
            "observedGeneration": claim.generation,
        })
    };
    if let Some(is) = &claim.condition {
        let at = format!("/status/conditions/{}", is.index);
        let since = if is.status == status { is.since } else { desired.since };
        steps.push(json!({"op": "test", "path": format!("{at}/type"), "value": condition_type}));
        steps.push(json!({"op": "replace", "path": at, "value": condition(since)}));
        return Some(Value::Array(steps));
    }
    let (path, value) = match claim.shape {
        Shape::List => ("/status/conditions/-", condition(desired.since)),
        Shape::NoConditions => ("/status/conditions", json!([condition(desired.since)])),
        Shape::NoStatus => ("/status", json!({"conditions": [condition(desired.since)]})),
    };
    steps.push(json!({"op": "test", "path": "/metadata/resourceVersion", "value": &*claim.resource_version}));
    steps.push(json!({"op": "add", "path": path, "value": value}));
    Some(Value::Array(steps))
}

/// Formats whole seconds, as Kubernetes does.
pub fn rfc3339(at: Timestamp) -> String {
    format!("{at:.0}")
}
