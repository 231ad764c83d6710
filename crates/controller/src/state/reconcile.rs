//! From the held verdict to the condition on the object and the next read.

use std::sync::Arc;

use jiff::Timestamp;
use mooring_nodes::verdict::{ConditionReason, Verdict, messages, seconds};

use super::condition_write::{HeldVerdict, PatchOutcome, WriteStep};
use super::events::failure_entry;
use super::machine::State;
use super::messages::{Action, DiagnosedClaim};
use super::reads::EVENT_TTL;
use super::tracked::TrackedClaim;
use crate::schedule::{NextRead, NoReadReason, next};
use crate::verdict::patch::{self, DesiredCondition, PatchResult};
use crate::verdict::{evaluate_event, hints};

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
            tracked.work.take_if(|work| !work.write.is_unfinished(now));
        }
    }

    /// Holds a verdict, if it ranks above the held one, and reports it.
    pub(super) fn hold_verdict(
        &mut self,
        uid: &Arc<str>,
        mut verdict: Verdict,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let url = verdict.failure.as_ref().and_then(|failure| {
            let effective = failure.effective.as_ref().map(|(code, _)| *code);
            self.settings.docs.failure(&failure.cause, effective.or(failure.code))
        });
        if let Some(url) = url {
            verdict.message = format!("{} {url}", verdict.message);
        }
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
        match tracked.work().write.answered(result, now) {
            PatchOutcome::Written => {
                if let Some(held) = &mut tracked.held {
                    held.was_written = true;
                }
                // The condition may have been dropped since: the newest version of the object decides.
                self.reconcile(uid, now, actions);
            }
            PatchOutcome::Gone => self.remove_claim(uid, now, actions),
            PatchOutcome::Reread => actions.push(Action::Reread { uid: Arc::clone(uid), name }),
            PatchOutcome::RereadAt(at) => {
                self.rewrites.insert((at, Arc::clone(uid)));
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
            if tracked.work.as_ref().is_none_or(|work| !work.write.has_failed()) {
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
    let since = held.at.unwrap_or(now);
    let desired = DesiredCondition { reason: held.reason, message: &held.message, since };
    let body = patch::patch(&tracked.claim, condition_type, desired)?;
    let claim = Arc::clone(&tracked.claim);
    match tracked.work().write.next(&claim, &held, now) {
        WriteStep::Await => None,
        WriteStep::Later(at) => Some(at),
        WriteStep::Send(kind) => {
            let (uid, name) = (Arc::clone(&claim.uid), claim.name.to_string());
            actions.push(Action::Patch { uid, name, body, kind });
            None
        }
    }
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
