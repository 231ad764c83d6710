//! From the held verdict to the condition on the object and the next read.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::verdict::condition::ConditionReason;
use mooring_nodes::verdict::{Verdict, after, messages, seconds};

use super::events::failure_entry;
use super::machine::State;
use super::messages::{Action, DiagnosedClaim};
use super::reads::event_reads::EVENT_TTL;
use super::tracked::{HeldVerdict, REASSERT_WINDOW, RESPONSE_TIMEOUT, TrackedClaim};
use crate::schedule::{NextRead, NoReadReason, next};
use crate::verdict::patch::{self, DesiredCondition, PatchResult, StatusPatchKind};
use crate::verdict::{evaluate_event, hints};

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

impl State {
    /// Compares a NodeClaim with its held verdict; requests missing writes and the next read.
    pub(super) fn reconcile(&mut self, uid: &Arc<str>, now: Timestamp, actions: &mut Vec<Action>) {
        if !self.leads {
            return;
        }
        let timeout = self.settings.registration_timeout;
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        if let Some(at) = write(tracked, &self.settings.condition_type, now, actions) {
            self.rewrites.insert((at, Arc::clone(uid)));
        }
        if tracked.reading_since(now).is_some() {
            return;
        }
        if self.inspect(uid, false, now, actions) {
            return;
        }
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        match next(&tracked.claim, tracked.history(), tracked.reason(), timeout, now) {
            NextRead::At(at, priority) => {
                let launched = tracked.claim.launched.unwrap_or(tracked.claim.created);
                self.queue.set(uid, at, priority, launched);
            }
            NextRead::Never(why) => {
                self.queue.remove(uid);
                self.conclude(uid, why, now, actions);
            }
        }
    }

    /// Handles the end of all reads: reports what is known, and keeps only what is needed.
    fn conclude(
        &mut self,
        uid: &Arc<str>,
        why: NoReadReason,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        if why == NoReadReason::Exhausted && self.inspect(uid, true, now, actions) {
            return;
        }
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        // An event counts only if the API server confirms that Karpenter gave up on the node.
        let given_up = tracked.deleted_at.is_some() || tracked.claim.deleted.is_some();
        let event = tracked.work.as_ref().and_then(|work| work.event.as_ref());
        let event =
            event.filter(|event| given_up && now.duration_since(event.at) <= EVENT_TTL).cloned();
        let unexplained = !tracked.is_final() && tracked.claim.registered.is_none();
        let silent = unexplained && tracked.held.is_none() && tracked.deleted_at.is_none();
        let outside =
            tracked.claim.scope_violation.map(|outside| self.settings.scope.reason(outside));
        let verdict = match (why, event) {
            (NoReadReason::Exhausted | NoReadReason::NotLaunched, Some(event)) if unexplained => {
                evaluate_event(&event, hints(&tracked.claim, None))
            }
            (NoReadReason::NotLaunched, None) if silent => outside.map(Verdict::unavailable),
            (NoReadReason::Exhausted, None) if silent => {
                Some(Verdict::unavailable(outside.unwrap_or_else(|| messages::VM_GONE.to_owned())))
            }
            _ => None,
        };
        if let Some(verdict) = verdict {
            return self.hold_verdict(uid, verdict, now, actions);
        }
        let ended = matches!(why, NoReadReason::Ended | NoReadReason::TooOld);
        if ended && tracked.deleted_at.is_none() {
            tracked.work.take_if(|work| !work.has_writes(now));
        }
    }

    /// Holds a verdict, if it ranks above the held one, and reports it.
    pub(super) fn hold_verdict(
        &mut self,
        uid: &Arc<str>,
        verdict: Verdict,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        if tracked.held.as_ref().is_some_and(|held| !outranks(&verdict, held)) {
            return;
        }
        let failed_at = verdict.failure.is_some().then(|| tracked.failed_at(&verdict, now));
        let held = HeldVerdict::unwritten(verdict.reason, &verdict.message, failed_at);
        tracked.held = Some(HeldVerdict { is_idle: verdict.is_idle, ..held });
        if let (Some(failure), Some(at)) = (&verdict.failure, failed_at) {
            let entry = failure_entry(&tracked.claim, &verdict, failure, at, now);
            tracked.counted = !entry.unconfirmed;
            self.count_recorded(&entry);
            self.count_failure(&entry, now);
            actions.push(Action::Record(Box::new(entry.clone())));
            self.create_events(&entry, actions);
        }
        self.process_claim(uid, now);
        let timeout = self.settings.registration_timeout;
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let after_seconds = tracked.claim.launched.map(|launched| seconds(launched, now));
        let diagnosed =
            DiagnosedClaim { claim: Arc::clone(&tracked.claim), verdict, after_seconds };
        let is_reported = tracked.is_explained(timeout, now) || diagnosed.verdict.failure.is_some();
        if tracked.deleted_at.is_some() && is_reported {
            self.forget(uid);
        } else {
            self.reconcile(uid, now, actions);
        }
        actions.push(Action::LogDiagnosis(Box::new(diagnosed)));
    }

    pub(super) fn patched(
        &mut self,
        uid: &Arc<str>,
        result: PatchResult,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let name = tracked.claim.name.to_string();
        let work = tracked.work();
        work.patching = None;
        match result {
            PatchResult::Written => {
                (work.failed_patches, work.success) = (0, None);
                if let Some(held) = &mut tracked.held {
                    held.was_written = true;
                }
                // The condition may have been dropped since: the newest version of the object decides.
                self.reconcile(uid, now, actions);
            }
            PatchResult::Gone => self.remove_claim(uid, now, actions),
            PatchResult::Reread | PatchResult::Retry | PatchResult::Denied => {
                let failed = work.failed_patches.min(3) as usize;
                work.failed_patches += 1;
                // Another write came first: read at once the first time, then with pauses.
                if result == PatchResult::Reread && failed == 0 {
                    actions.push(Action::Reread { uid: Arc::clone(uid), name });
                    return;
                }
                let failed = if result == PatchResult::Denied { 3 } else { failed };
                let pause = SignedDuration::from_secs(REWRITE_PAUSES[failed]);
                self.rewrites.insert((after(now, pause), Arc::clone(uid)));
            }
        }
    }

    /// Retries patches whose pause has ended: a failed one starts with a new read of the object.
    pub(super) fn rewrite(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        while let Some((at, uid)) = self.rewrites.first().cloned() {
            if at > now {
                return;
            }
            self.rewrites.pop_first();
            let Some(tracked) =
                self.claims.get(&uid).filter(|tracked| tracked.deleted_at.is_none())
            else {
                continue;
            };
            if tracked.work.as_ref().is_none_or(|work| work.failed_patches == 0) {
                // No write has failed, so the object is known.
                self.reconcile(&uid, now, actions);
            } else {
                actions.push(Action::Reread {
                    uid: Arc::clone(&uid),
                    name: tracked.claim.name.to_string(),
                });
            }
        }
    }
}

/// Requests the write of the condition, unless it is on the object or being written. Returns when to retry if
/// it is too early.
fn write(
    tracked: &mut TrackedClaim,
    condition_type: &str,
    now: Timestamp,
    actions: &mut Vec<Action>,
) -> Option<Timestamp> {
    let held = tracked.held.clone().filter(|_| tracked.deleted_at.is_none())?;
    let waits = tracked.work.as_ref().and_then(|work| work.patching);
    if waits.is_some_and(|since| now.duration_since(since) < RESPONSE_TIMEOUT) {
        return None;
    }
    let since = held.at.unwrap_or(now);
    let desired = DesiredCondition { reason: held.reason, message: &held.message, since };
    let body = patch::patch(&tracked.claim, condition_type, desired)?;
    if held.reason == ConditionReason::CseSucceeded && !held.was_written {
        let since = *tracked.work().success.get_or_insert(now);
        let registered = tracked.claim.registered;
        let at = registered.map_or(since.saturating_add(WITHOUT_REGISTRATION), |registered| {
            registered.saturating_add(AFTER_REGISTRATION)
        });
        if let Ok(at) = at
            && at > now
        {
            return Some(at);
        }
    }
    if held.was_written {
        let before = tracked.work.as_ref().and_then(|work| work.reasserted);
        let before = before.filter(|(at, _)| now.duration_since(*at) <= REASSERT_WINDOW);
        let times = before.map_or(0, |(_, times)| times);
        let pause = REASSERT_PAUSES[(times as usize).min(REASSERT_PAUSES.len() - 1)];
        let earliest = before.map(|(at, _)| at.saturating_add(SignedDuration::from_secs(pause)));
        if let Some(Ok(earliest)) = earliest
            && earliest > now
        {
            return Some(earliest);
        }
        tracked.work().reasserted = Some((now, times.saturating_add(1)));
    }
    tracked.work().patching = Some(now);
    actions.push(Action::Patch {
        uid: Arc::clone(&tracked.claim.uid),
        name: tracked.claim.name.to_string(),
        body,
        kind: if held.was_written { StatusPatchKind::Reassert } else { StatusPatchKind::Verdict },
    });
    None
}

/// Returns the information rank of a verdict. A lower one never replaces a higher one.
pub(super) fn rank(reason: ConditionReason) -> u8 {
    match reason {
        ConditionReason::CseStatusUnavailable => 0,
        ConditionReason::NoCseExtension | ConditionReason::CseNotCreated => 1,
        ConditionReason::CseRunning | ConditionReason::CseFailureUnconfirmed => 2,
        // Does not explain why the node does not register.
        ConditionReason::CseSucceeded => 3,
        ConditionReason::CseFailed
        | ConditionReason::CseTimedOut
        | ConditionReason::NodeNotRegistered => 4,
    }
}

fn outranks(verdict: &Verdict, held: &HeldVerdict) -> bool {
    let same = rank(verdict.reason) == rank(held.reason);
    if same && verdict.reason.is_terminal() {
        return false;
    }
    // A read that shows a running bootstrap replaces the failure reported by an event, and vice versa.
    rank(verdict.reason) > rank(held.reason) || (same && verdict.message != *held.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn tracked(reason: ConditionReason, was_written: bool) -> TrackedClaim {
        let claim = mooring_nodes::claim::Claim::placeholder(&"u".into(), "c", None, None, at(0));
        let held = Some(HeldVerdict { was_written, ..HeldVerdict::unwritten(reason, "m", None) });
        TrackedClaim { held, ..TrackedClaim::new(claim) }
    }

    /// Returns the kind of a requested write, or when to try again.
    fn written(
        tracked: &mut TrackedClaim,
        seconds: i64,
    ) -> Result<StatusPatchKind, Option<Timestamp>> {
        let mut actions = Vec::new();
        let later = write(tracked, "CSEProvisioned", at(seconds), &mut actions);
        match actions.pop() {
            Some(Action::Patch { kind, .. }) => Ok(kind),
            _ => Err(later),
        }
    }

    #[test]
    fn condition_waits_for_the_response_to_its_write() {
        let mut tracked = tracked(ConditionReason::CseFailed, false);
        assert_eq!(written(&mut tracked, 0), Ok(StatusPatchKind::Verdict));
        assert_eq!(written(&mut tracked, 59), Err(None));
        assert_eq!(written(&mut tracked, 60), Ok(StatusPatchKind::Verdict), "no response");
        tracked.deleted_at = Some(at(61));
        assert_eq!(written(&mut tracked, 200), Err(None));
    }

    #[test]
    fn success_waits_for_the_registration() {
        let mut alone = tracked(ConditionReason::CseSucceeded, false);
        assert_eq!(written(&mut alone, 100), Err(Some(at(130))));
        assert_eq!(written(&mut alone, 129), Err(Some(at(130))));
        assert_eq!(written(&mut alone, 130), Ok(StatusPatchKind::Verdict));
        let mut joined = tracked(ConditionReason::CseSucceeded, false);
        Arc::make_mut(&mut joined.claim).registered = Some(at(100));
        assert_eq!(written(&mut joined, 104), Err(Some(at(105))));
        assert_eq!(written(&mut joined, 105), Ok(StatusPatchKind::Verdict));
        assert_eq!(
            written(&mut tracked(ConditionReason::CseSucceeded, true), 100),
            Ok(StatusPatchKind::Reassert)
        );
    }

    #[test]
    fn dropped_condition_is_rewritten_less_and_less_often() {
        let mut tracked = tracked(ConditionReason::CseFailed, true);
        assert_eq!(written(&mut tracked, 0), Ok(StatusPatchKind::Reassert));
        let mut now = 0;
        for pause in [1, 2, 5, 60, 300, 300] {
            tracked.work().patching = None;
            assert_eq!(written(&mut tracked, now), Err(Some(at(now + pause))));
            now += pause;
            assert_eq!(written(&mut tracked, now), Ok(StatusPatchKind::Reassert), "{pause}");
        }
        let window = REASSERT_WINDOW.as_secs();
        for (pause, times) in [(window, 8), (window + 1, 1)] {
            tracked.work().patching = None;
            now += pause;
            assert_eq!(written(&mut tracked, now), Ok(StatusPatchKind::Reassert));
            assert_eq!(tracked.work().reasserted, Some((at(now), times)), "{pause}");
        }
    }

    #[test]
    fn verdict_replaces_only_one_of_lower_rank_or_another_text() {
        use ConditionReason::*;
        for (held, new, same, other) in [
            (CseStatusUnavailable, NoCseExtension, true, true),
            (NoCseExtension, CseStatusUnavailable, false, false),
            (NoCseExtension, CseNotCreated, false, true),
            (CseNotCreated, CseRunning, true, true),
            (CseRunning, CseFailureUnconfirmed, false, true),
            (CseFailureUnconfirmed, CseRunning, false, true),
            (CseRunning, CseSucceeded, true, true),
            (CseSucceeded, CseRunning, false, false),
            (CseSucceeded, CseSucceeded, false, false),
            (CseSucceeded, NodeNotRegistered, true, true),
            (NodeNotRegistered, CseFailed, false, false),
            (CseFailed, CseTimedOut, false, false),
        ] {
            let held = HeldVerdict::unwritten(held, "m", None);
            let outranks = |message| outranks(&Verdict::plain(new, message), &held);
            assert_eq!((outranks("m"), outranks("n")), (same, other), "{} {new}", held.reason);
        }
    }
}
