//! The write of a condition, from the verdict that it must show to the object that shows it.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::claim::Claim;
use mooring_nodes::verdict::{ConditionReason, after, messages};

use crate::verdict::patch::{PatchResult, StatusPatchKind};

/// Time after which a condition that was not dropped is stable.
const REASSERT_WINDOW: SignedDuration = SignedDuration::from_mins(15);
/// Pauses before a patch is retried, in seconds; the last repeats.
const REWRITE_PAUSES: [i64; 4] = [1, 5, 30, 300];
/// Pauses between two writes of a condition that another writer drops, in seconds; the last repeats. Karpenter drops
/// conditions for seconds, while it registers a Node; a persistent writer must not cause an endless exchange.
const REASSERT_PAUSES: [i64; 6] = [0, 1, 2, 5, 60, 300];
/// A success is written when Karpenter has finished with the Node: this long after the registration, or after
/// the verdict if the node does not register. Karpenter would drop an earlier condition, and creates an event
/// for each change.
const AFTER_REGISTRATION: SignedDuration = SignedDuration::from_secs(5);
const WITHOUT_REGISTRATION: SignedDuration = SignedDuration::from_secs(30);

pub(super) const RESPONSE_TIMEOUT: SignedDuration = SignedDuration::from_secs(60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeldVerdict {
    pub(super) reason: ConditionReason,
    pub(super) message: Arc<str>,
    /// When the node failed.
    pub(super) at: Option<Timestamp>,
    /// Karpenter has left the NodeClaim, and the message says so.
    pub(super) is_idle: bool,
    /// True if it was observed on the object. The next write of a verdict from the record counts as a first one.
    pub(super) was_written: bool,
}

impl HeldVerdict {
    pub(super) fn unwritten(reason: ConditionReason, message: &str, at: Option<Timestamp>) -> Self {
        Self { reason, message: Arc::from(message), at, is_idle: false, was_written: false }
    }

    /// Adds to the message that Karpenter has not deleted the NodeClaim.
    pub(super) fn say_idle(&mut self) {
        if self.reason == ConditionReason::NodeNotRegistered && !self.is_idle {
            self.message = format!("{}{}", self.message, messages::IDLE).into();
            (self.is_idle, self.was_written) = (true, false);
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct ConditionWrite {
    /// Time of a patch without a response.
    sent: Option<Timestamp>,
    /// Patches that failed in a row.
    failed: u32,
    /// Time and number of consecutive writes after another writer dropped the condition.
    reasserted: Option<(Timestamp, u32)>,
    /// Time since when a success waits to be written.
    success: Option<Timestamp>,
}

/// What a condition that the object does not show needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteStep {
    /// The response to its patch.
    Await,
    Later(Timestamp),
    Send(StatusPatchKind),
}

/// What the response to a patch leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatchOutcome {
    Written,
    Gone,
    /// Read the object at once: another write came first.
    Reread,
    RereadAt(Timestamp),
}

impl ConditionWrite {
    /// Returns the next step, and remembers a patch that it asks for.
    pub(super) fn next(&mut self, claim: &Claim, held: &HeldVerdict, now: Timestamp) -> WriteStep {
        if self.sent.is_some_and(|since| now.duration_since(since) < RESPONSE_TIMEOUT) {
            return WriteStep::Await;
        }
        let earliest = if held.was_written {
            self.next_reassertion()
        } else if held.reason == ConditionReason::CseSucceeded {
            let since = *self.success.get_or_insert(now);
            let registered = claim.registered.map(|at| after(at, AFTER_REGISTRATION));
            registered.unwrap_or_else(|| after(since, WITHOUT_REGISTRATION))
        } else {
            now
        };
        if earliest > now {
            return WriteStep::Later(earliest);
        }
        self.sent = Some(now);
        if !held.was_written {
            return WriteStep::Send(StatusPatchKind::Verdict);
        }
        let before = self.reasserted.filter(|_| self.is_exchanged(now));
        self.reasserted = Some((now, before.map_or(0, |(_, times)| times).saturating_add(1)));
        WriteStep::Send(StatusPatchKind::Reassert)
    }

    pub(super) fn answered(&mut self, result: PatchResult, now: Timestamp) -> PatchOutcome {
        self.sent = None;
        let failed = self.failed.min(3) as usize;
        match result {
            PatchResult::Written => {
                (self.failed, self.success) = (0, None);
                return PatchOutcome::Written;
            }
            PatchResult::Gone => return PatchOutcome::Gone,
            PatchResult::Reread | PatchResult::Retry | PatchResult::Denied => self.failed += 1,
        }
        // Another write came first: read at once the first time, then with pauses.
        if result == PatchResult::Reread && failed == 0 {
            return PatchOutcome::Reread;
        }
        let failed = if result == PatchResult::Denied { 3 } else { failed };
        PatchOutcome::RereadAt(after(now, SignedDuration::from_secs(REWRITE_PAUSES[failed])))
    }

    /// Forgets a patch whose response may never arrive.
    pub(super) fn expect_no_response(&mut self) {
        self.sent = None;
    }

    /// Returns true if a write failed, so that the object is not known.
    pub(super) fn has_failed(&self) -> bool {
        self.failed > 0
    }

    /// Returns true if the condition is being written, waits to be, or was recently dropped by another writer.
    pub(super) fn is_unfinished(&self, now: Timestamp) -> bool {
        self.sent.is_some() || self.failed > 0 || self.success.is_some() || self.is_exchanged(now)
    }

    fn is_exchanged(&self, now: Timestamp) -> bool {
        self.reasserted.is_some_and(|(at, _)| now.duration_since(at) <= REASSERT_WINDOW)
    }

    /// Returns the earliest time of the next write after another writer dropped the condition.
    fn next_reassertion(&self) -> Timestamp {
        let Some((at, times)) = self.reasserted else { return Timestamp::MIN };
        let pause = REASSERT_PAUSES[(times as usize).min(REASSERT_PAUSES.len() - 1)];
        after(at, SignedDuration::from_secs(pause))
    }
}

#[cfg(test)]
mod tests {
    use ConditionReason::{CseFailed, CseSucceeded};
    use PatchResult::{Denied, Gone, Reread, Retry, Written};
    use StatusPatchKind::{Reassert, Verdict};
    use WriteStep::{Await, Later, Send};

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn claim(registered: Option<i64>) -> Claim {
        let claim = Claim::placeholder(&"u".into(), "c", None, None, at(0));
        Claim { registered: registered.map(at), ..claim }
    }

    fn held(reason: ConditionReason, was_written: bool) -> HeldVerdict {
        HeldVerdict { was_written, ..HeldVerdict::unwritten(reason, "m", None) }
    }

    #[test]
    fn first_write_goes_out_at_once_or_after_the_registration() {
        for (held, registered, steps) in [
            (held(CseFailed, false), None, &[(0, Send(Verdict)), (59, Await)][..]),
            (held(CseFailed, false), None, &[(0, Send(Verdict)), (60, Send(Verdict))]),
            (
                held(CseSucceeded, false),
                None,
                &[(100, Later(at(130))), (129, Later(at(130))), (130, Send(Verdict))],
            ),
            (held(CseSucceeded, false), Some(100), &[(104, Later(at(105))), (105, Send(Verdict))]),
            (held(CseSucceeded, true), None, &[(100, Send(Reassert))]),
        ] {
            let mut write = ConditionWrite::default();
            for (seconds, expected) in steps {
                let step = write.next(&claim(registered), &held, at(*seconds));
                assert_eq!(step, *expected, "{held:?} at {seconds}");
            }
        }
    }

    #[test]
    fn response_leads_to_the_end_or_to_a_read_of_the_object() {
        let later = |seconds| PatchOutcome::RereadAt(at(seconds));
        for (results, expected) in [
            (&[Written][..], &[PatchOutcome::Written][..]),
            (&[Gone], &[PatchOutcome::Gone]),
            (&[Reread, Reread], &[PatchOutcome::Reread, later(5)]),
            (
                &[Retry, Retry, Retry, Retry, Retry],
                &[later(1), later(5), later(30), later(300), later(300)],
            ),
            (&[Denied, Retry], &[later(300), later(5)]),
            (&[Retry, Written, Retry], &[later(1), PatchOutcome::Written, later(1)]),
        ] {
            let mut write = ConditionWrite::default();
            for (result, expected) in results.iter().zip(expected) {
                write.next(&claim(None), &held(CseFailed, false), at(0));
                assert_eq!(write.answered(*result, at(0)), *expected, "{results:?}");
                let has_failed = matches!(result, Reread | Retry | Denied);
                assert_eq!(write.has_failed(), has_failed, "{results:?}");
                assert_eq!(write.is_unfinished(at(0)), has_failed, "{results:?}");
            }
        }
    }

    #[test]
    fn dropped_condition_is_rewritten_less_and_less_often() {
        let (mut write, mut now) = (ConditionWrite::default(), 0);
        let held = held(CseFailed, true);
        assert_eq!(write.next(&claim(None), &held, at(0)), Send(Reassert));
        for pause in [1, 2, 5, 60, 300, 300] {
            write.answered(Written, at(now));
            assert_eq!(write.next(&claim(None), &held, at(now)), Later(at(now + pause)));
            now += pause;
            assert_eq!(write.next(&claim(None), &held, at(now)), Send(Reassert), "{pause}");
        }
        let window = REASSERT_WINDOW.as_secs();
        for (pause, times) in [(window, 8), (window + 1, 1)] {
            write.answered(Written, at(now));
            now += pause;
            assert_eq!(write.is_unfinished(at(now)), pause == window);
            assert_eq!(write.next(&claim(None), &held, at(now)), Send(Reassert));
            assert_eq!(write.reasserted, Some((at(now), times)), "{pause}");
        }
    }

    #[test]
    fn unfinished_write_is_kept() {
        let mut waiting = ConditionWrite::default();
        assert!(!waiting.is_unfinished(at(0)));
        waiting.next(&claim(None), &held(CseSucceeded, false), at(0));
        assert!(waiting.is_unfinished(at(9)), "a success waits");
        let mut sent = ConditionWrite::default();
        sent.next(&claim(None), &held(CseFailed, false), at(0));
        assert!(sent.is_unfinished(at(9)));
        sent.expect_no_response();
        assert!(!sent.is_unfinished(at(9)));
    }
}
