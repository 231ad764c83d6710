//! Repeatedly failing writes to a scale set in the activity log.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::observation::ActivityEvent;
use crate::signatures::{Signature, Signatures};

const WRITE: &str = "Microsoft.Compute/virtualMachineScaleSets/write";
/// Allowed clock skew of events.
const MAX_SKEW: SignedDuration = SignedDuration::from_mins(5);
/// Failures closer together count as one: an immediate retry is no more evidence.
const MIN_INTERVAL: SignedDuration = SignedDuration::from_secs(60);
/// Maximum delay of the activity log.
pub(crate) const LOG_DELAY: SignedDuration = SignedDuration::from_mins(20);

/// The writes to a scale set, by its id.
#[derive(Clone, Copy)]
pub(super) struct ScaleSetWrites<'a> {
    pub(super) events: &'a [ActivityEvent],
    pub(super) scale_set: &'a str,
}

impl<'a> ScaleSetWrites<'a> {
    fn with_status(self, status: &'static str) -> impl Iterator<Item = &'a ActivityEvent> {
        let Self { events, scale_set } = self;
        events.iter().filter(move |event| {
            event.status == status && event.is_operation(WRITE) && event.is_about(scale_set)
        })
    }

    fn failed(self, signature: &'a Signature) -> impl Iterator<Item = &'a ActivityEvent> {
        self.with_status("Failed").filter(|event| signature.matches(&event.errors))
    }

    pub(super) fn last_success(self) -> Option<Timestamp> {
        self.with_status("Succeeded").map(|event| event.at).max()
    }

    /// Returns the time of a successful write after which none failed with a signature.
    pub(super) fn succeed_again(self, signatures: &Signatures) -> Option<Timestamp> {
        let success = self.last_success()?;
        let mut failed = signatures.signatures.iter().flat_map(|signature| self.failed(signature));
        (!failed.any(|event| event.at > success)).then_some(success)
    }

    /// Returns the times at which operations failed with the signature in the window and after the last success, newest first:
    /// one for each operation, at least a minute apart.
    pub(super) fn failures(
        self,
        signature: &Signature,
        window: SignedDuration,
        now: Timestamp,
    ) -> Vec<Timestamp> {
        let success = self.last_success();
        let mut ends: BTreeMap<&str, Timestamp> = BTreeMap::new();
        for event in self.failed(signature) {
            let end = ends.entry(event.operation_key()).or_insert(event.at);
            *end = event.at.max(*end);
        }
        let is_current = |at: &Timestamp| {
            let age = now.duration_since(*at);
            age <= window && age >= -MAX_SKEW && success.is_none_or(|success| *at > success)
        };
        let mut times: Vec<Timestamp> = ends.into_values().filter(is_current).collect();
        times.sort_unstable_by(|one, other| other.cmp(one));
        let mut counted: Vec<Timestamp> = Vec::new();
        for at in times {
            if counted.last().is_none_or(|newer| newer.duration_since(at) >= MIN_INTERVAL) {
                counted.push(at);
            }
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(minute: i64, status: &str, code: &str) -> ActivityEvent {
        ActivityEvent::read(&json!({
            "operationId": minute.to_string(), "operationName": {"value": WRITE},
            "resourceId": "/set", "status": {"value": status},
            "eventTimestamp": Timestamp::from_second(minute * 60).unwrap().to_string(),
            "properties": {"statusMessage": {"error": {"code": code}}},
        }))
        .unwrap()
    }

    const CODE: &str = "NetworkingInternalOperationError";

    #[test]
    fn failure_counts_only_after_the_last_success() {
        let signatures = Signatures::default();
        let signature = &signatures.signatures[0];
        let counted = |minute: i64| {
            let events = [event(minute, "Failed", CODE), event(2, "Succeeded", "")];
            let (window, now) = (SignedDuration::from_hours(1), Timestamp::from_second(240));
            ScaleSetWrites { events: &events, scale_set: "/set" }
                .failures(signature, window, now.unwrap())
                .len()
        };
        assert_eq!([1, 2, 3].map(counted), [0, 0, 1]);
    }

    #[test]
    fn wedge_ends_with_a_successful_write_and_no_later_failure() {
        let signatures = Signatures::default();
        let code = CODE;
        let (failed, succeeded) = (event(1, "Failed", code), event(2, "Succeeded", ""));
        let at = |events: &[ActivityEvent], set| {
            ScaleSetWrites { events, scale_set: set }.succeed_again(&signatures)
        };
        let over = |events: &[ActivityEvent]| at(events, "/set").is_some();
        assert!(!over(&[]) && !over(std::slice::from_ref(&failed)));
        assert!(over(&[failed.clone(), succeeded.clone()]));
        assert!(!over(&[failed.clone(), succeeded.clone(), event(3, "Failed", code)]));
        assert!(over(&[failed.clone(), succeeded.clone(), event(3, "Failed", "AllocationFailed")]));
        assert!(over(&[event(2, "Failed", code), succeeded.clone()]), "at the same instant");
        assert_eq!(at(&[failed, succeeded], "/other"), None);
    }
}
