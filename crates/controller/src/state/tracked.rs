//! State of a NodeClaim.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::claim::Claim;
use mooring_nodes::verdict::Verdict;
use mooring_nodes::verdict::condition::ConditionReason;
use mooring_nodes::verdict::registration::{Overdue, VmState, overdue, overdue_after_success};

use super::condition_write::{ConditionWrite, HeldVerdict, RESPONSE_TIMEOUT};
use crate::observation::karpenter::ProvisioningError;
use crate::schedule::{QueuePriority, ReadHistory};
use crate::verdict::patch::has_condition;

#[derive(Debug)]
pub(super) struct TrackedClaim {
    /// Shared with views of the state; replaced, never changed.
    pub(super) claim: Arc<Claim>,
    /// Verdict that the condition must show.
    pub(super) held: Option<HeldVerdict>,
    /// None for a joined node.
    pub(super) work: Option<Box<Work>>,
    /// Time of the object's deletion; only events and the record can still be written.
    pub(super) deleted_at: Option<Timestamp>,
    /// True if its node was counted by image.
    pub(super) counted: bool,
}

#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) history: ReadHistory,
    /// Time and priority of a read without a result.
    pub(super) reading: Option<(Timestamp, QueuePriority)>,
    pub(super) write: ConditionWrite,
    /// An event that reports a failure. No read has contradicted it.
    pub(super) event: Option<ProvisioningError>,
    /// Time when an event last requested reads, and number of reads since.
    pub(super) burst: Option<(Timestamp, u32)>,
    /// Total of reads requested by events.
    pub(super) event_reads: u32,
    /// The VM is missing, so the AKS machine is read.
    pub(super) vm_missing: bool,
    /// The VM was read after its CSE had succeeded and its node was overdue.
    pub(super) late_read: bool,
    /// End of the output of CSE, if its node is overdue.
    pub(super) output: Option<String>,
    pub(super) vm: Option<VmState>,
    pub(super) inspection: Inspection,
}

/// A read of the cluster about an overdue node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Inspection {
    #[default]
    None,
    /// Since this time, without a result.
    Asked(Timestamp),
    /// The Node is Ready, and Karpenter has not noticed: not again before this time.
    NotBefore(Timestamp),
}

#[derive(Clone, Debug)]
pub(super) struct RecordedFailure {
    pub(super) at: Timestamp,
    pub(super) reason: Option<ConditionReason>,
    pub(super) message: String,
    pub(super) is_idle: bool,
}

impl TrackedClaim {
    pub(super) fn new(claim: impl Into<Arc<Claim>>) -> Self {
        Self { claim: claim.into(), held: None, work: None, deleted_at: None, counted: false }
    }

    pub(super) fn hold(&mut self, held: HeldVerdict) {
        let is_shown = has_condition(&self.claim, held.reason, &held.message);
        self.held = Some(HeldVerdict { was_written: held.was_written || is_shown, ..held });
    }

    pub(super) fn work(&mut self) -> &mut Work {
        self.work.get_or_insert_default()
    }

    pub(super) fn history(&self) -> ReadHistory {
        let history = self.work.as_ref().map_or_else(ReadHistory::default, |work| work.history);
        let idle_reported = self.held.as_ref().is_some_and(|held| held.is_idle);
        let not_before = self.work.as_ref().and_then(|work| match work.inspection {
            Inspection::NotBefore(at) => Some(at),
            Inspection::None | Inspection::Asked(_) => None,
        });
        ReadHistory { idle_reported, not_before, ..history }
    }

    pub(super) fn reason(&self) -> Option<ConditionReason> {
        self.held.as_ref().map(|held| held.reason)
    }

    /// Returns the time of a read that may still return.
    pub(super) fn reading_since(&self, now: Timestamp) -> Option<Timestamp> {
        let (since, _) = self.work.as_ref()?.reading?;
        (now.duration_since(since) < RESPONSE_TIMEOUT).then_some(since)
    }

    /// Returns when the node failed: by what shows the failure, else when Karpenter saw it, else now. A time outside
    /// of its life comes from a wrong clock.
    pub(super) fn failed_at(&self, verdict: &Verdict, now: Timestamp) -> Timestamp {
        let event = self.work.as_ref().and_then(|work| work.event.as_ref()).map(|event| event.at);
        let mut times =
            [verdict.at, event, self.claim.deleted, self.deleted_at].into_iter().flatten();
        times.find(|at| (self.claim.created..=now).contains(at)).unwrap_or(now)
    }

    pub(super) fn is_final(&self) -> bool {
        self.reason().is_some_and(ConditionReason::is_terminal)
    }

    /// Returns true if the node registered and its bootstrap did not fail, as far as it was read.
    pub(super) fn has_joined(&self) -> bool {
        let not_failed = matches!(
            self.reason(),
            None | Some(
                ConditionReason::CseStatusUnavailable
                    | ConditionReason::NoCseExtension
                    | ConditionReason::CseNotCreated
                    | ConditionReason::CseSucceeded
            )
        );
        self.claim.registered.is_some() && not_failed
    }

    /// Returns true if no further evidence can be found.
    pub(super) fn is_explained(&self, timeout: SignedDuration, now: Timestamp) -> bool {
        self.is_final() && overdue_of(self, timeout, now).is_none()
    }

    /// Returns the bytes outside of the table.
    pub(super) fn heap(&self) -> usize {
        let work = self.work.as_ref().map_or(0, |_| size_of::<Work>() + 16);
        // Two counters, and the overhead of the allocation.
        self.claim.footprint() + 32 + work
    }
}

/// Returns how a NodeClaim that is not explained ended unregistered, if it did. The success of CSE explains nothing.
pub(super) fn overdue_of(
    tracked: &TrackedClaim,
    timeout: SignedDuration,
    now: Timestamp,
) -> Option<Overdue> {
    let claim = &tracked.claim;
    if claim.launched.is_none() || claim.vm.is_none() {
        return None;
    }
    match tracked.reason() {
        Some(ConditionReason::CseSucceeded) => {
            overdue_after_success(claim, tracked.deleted_at, timeout, now)
        }
        _ if tracked.is_final() => None,
        _ => overdue(claim, tracked.deleted_at, now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mooring_nodes::claim::vm_id::VmId;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn tracked(reason: Option<ConditionReason>, registered: bool) -> TrackedClaim {
        let vm = VmId { subscription: "s".into(), group: "g".into(), name: "aks-c".into() };
        let claim = Claim::placeholder(&"u".into(), "c", Some(vm), None, at(0));
        let claim = Claim { registered: registered.then_some(at(70)), ..claim };
        let held =
            |reason| HeldVerdict { was_written: true, ..HeldVerdict::unwritten(reason, "m", None) };
        TrackedClaim { held: reason.map(held), ..TrackedClaim::new(claim) }
    }

    #[test]
    fn registered_node_joined_unless_its_bootstrap_failed() {
        use ConditionReason::*;
        for (reason, expected) in [
            (None, true),
            (Some(CseSucceeded), true),
            (Some(NoCseExtension), true),
            (Some(CseNotCreated), true),
            (Some(CseStatusUnavailable), true),
            (Some(CseRunning), false),
            (Some(CseFailed), false),
            (Some(NodeNotRegistered), false),
        ] {
            assert_eq!(tracked(reason, true).has_joined(), expected, "{reason:?}");
            assert!(!tracked(reason, false).has_joined(), "{reason:?}");
        }
    }

    #[test]
    fn only_a_launched_and_unexplained_node_is_overdue() {
        let timeout = SignedDuration::from_mins(5);
        let overdue = |tracked: &TrackedClaim| overdue_of(tracked, timeout, at(960)).is_some();
        let waiting = tracked(None, false);
        assert!(overdue(&waiting) && !waiting.is_explained(timeout, at(960)));
        let mut unlaunched = tracked(None, false);
        Arc::make_mut(&mut unlaunched.claim).launched = None;
        let mut without = tracked(None, false);
        Arc::make_mut(&mut without.claim).vm = None;
        assert!(!overdue(&unlaunched) && !overdue(&without));
        let failed = tracked(Some(ConditionReason::CseFailed), false);
        assert!(!overdue(&failed) && failed.is_explained(timeout, at(960)));
        let succeeded = tracked(Some(ConditionReason::CseSucceeded), false);
        assert!(overdue(&succeeded) && !succeeded.is_explained(timeout, at(960)));
    }

    #[test]
    fn read_may_return_for_a_minute() {
        let mut tracked = tracked(None, false);
        assert_eq!(tracked.reading_since(at(0)), None);
        tracked.work().reading = Some((at(0), QueuePriority::Pending));
        assert_eq!(tracked.reading_since(at(59)), Some(at(0)));
        assert_eq!(tracked.reading_since(at(60)), None);
    }
}
