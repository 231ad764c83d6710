//! From a verdict to the smallest safe change of a NodeClaim's status, or to none.
//!
//! Karpenter replaces the whole list of conditions by merge patches, and the older schema lets a
//! forced apply wipe it, so ours is changed by a JSON Patch that can touch nothing else: every patch
//! tests the uid; one that replaces tests the type at its index; one that adds tests the object's
//! version, since on the older schema a second append would give two conditions of one type, and
//! making a missing parent would replace one that has just appeared.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::claim::{Claim, Shape};
use crate::verdict::condition::Reason;

/// A change to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// The body, of type `application/json-patch+json`, for `nodeclaims/{name}/status`.
    pub body: Value,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The verdict has not been on the object.
    Verdict,
    /// It was, and somebody's write dropped or changed it.
    Reassert,
}

/// What is to stand on the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted<'a> {
    /// The reason; it fixes the status.
    pub reason: Reason,
    pub message: &'a str,
}

/// What the API server made of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Written,
    /// The object has moved on (409, or 422 for a test that failed): read it again, then decide again.
    Reread,
    /// The object is gone (404): there is nothing left to do.
    Gone,
    /// Not allowed (401, 403): say so, and try again much later.
    Refused,
    /// Anything else, and no answer at all: try again later. The write may have happened; the next
    /// decision is made from the object, so it cannot be doubled.
    Retry,
}

impl Answer {
    /// From the response's status; none if there was no response.
    #[must_use]
    pub fn of(status: Option<u16>) -> Self {
        match status {
            Some(200..=299) => Self::Written,
            Some(409 | 422) => Self::Reread,
            Some(404) => Self::Gone,
            Some(401 | 403) => Self::Refused,
            _ => Self::Retry,
        }
    }
}

/// Whether the object already says it. Only status, reason and message count: Karpenter itself
/// changes `observedGeneration` of every condition while it deletes a claim.
pub fn is_there(claim: &Claim, wanted: Wanted<'_>) -> bool {
    claim.condition.as_ref().is_some_and(|is| {
        is.status == wanted.reason.status()
            && &*is.reason == wanted.reason.as_str()
            && &*is.message == wanted.message
    })
}

/// The patch that makes the object say it; none if it does.
pub fn patch(
    claim: &Claim,
    condition_type: &str,
    wanted: Wanted<'_>,
    now: Timestamp,
) -> Option<Value> {
    if is_there(claim, wanted) {
        return None;
    }
    let mut steps = vec![json!({"op": "test", "path": "/metadata/uid", "value": &*claim.uid})];
    let status = wanted.reason.status();
    let condition = |since: Timestamp| {
        json!({
            "type": condition_type,
            "status": status.as_str(),
            "reason": wanted.reason.as_str(),
            "message": wanted.message,
            "lastTransitionTime": rfc3339(since),
            "observedGeneration": claim.generation,
        })
    };
    if let Some(is) = &claim.condition {
        let at = format!("/status/conditions/{}", is.index);
        let since = if is.status == status { is.since } else { now };
        steps.push(json!({"op": "test", "path": format!("{at}/type"), "value": condition_type}));
        steps.push(json!({"op": "replace", "path": at, "value": condition(since)}));
        return Some(Value::Array(steps));
    }
    let (path, value) = match claim.shape {
        Shape::List => ("/status/conditions/-", condition(now)),
        Shape::NoConditions => ("/status/conditions", json!([condition(now)])),
        Shape::NoStatus => ("/status", json!({"conditions": [condition(now)]})),
    };
    steps.push(json!({"op": "test", "path": "/metadata/resourceVersion", "value": &*claim.resource_version}));
    steps.push(json!({"op": "add", "path": path, "value": value}));
    Some(Value::Array(steps))
}

/// Whole seconds, as Kubernetes writes times.
pub fn rfc3339(at: Timestamp) -> String {
    format!("{at:.0}")
}

#[cfg(test)]
mod tests;
