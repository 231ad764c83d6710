//! From what is held to what stands on the object, and to the next look.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::event_reads::EVENT_TTL;
use super::limits::{ANSWERED_WITHIN, REASSERTED_FOR};
use super::machine::State;
use super::messages::{Action, Told};
use super::telling::failure_entry;
use super::tracked::{Held, Tracked};
use crate::schedule::{Next, Why, next};
use crate::verdict::condition::Reason;
use crate::verdict::patch::{self, Answer, Kind, Wanted};
use crate::verdict::wording;
use crate::verdict::{Verdict, hints, judge_event, seconds};

/// Pauses before a patch is tried again, in seconds; the last repeats.
const REWRITE_PAUSES: [i64; 4] = [1, 5, 30, 300];
/// Pauses between two writes of a condition that another writer drops, in seconds; the last repeats. Karpenter drops
/// conditions for seconds, while it registers a Node; a writer that goes on must not be answered without an end.
const REASSERT_PAUSES: [i64; 6] = [0, 1, 2, 5, 60, 300];
/// A success is written when Karpenter has ended its work on the Node: so long after the registration, or after the
/// verdict if the node does not register. Karpenter would drop it before, and turns each return into an event.
const AFTER_REGISTRATION: SignedDuration = SignedDuration::from_secs(5);
const WITHOUT_REGISTRATION: SignedDuration = SignedDuration::from_secs(30);

impl State {
    /// Compares a claim with what is held for it; asks for what is missing, and for the next look.
    pub(super) fn reconcile(&mut self, uid: &Arc<str>, now: Timestamp, actions: &mut Vec<Action>) {
        if !self.leads {
            return;
        }
        let patience = self.settings.registration_patience;
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
        match next(&tracked.claim, tracked.looks(), tracked.reason(), patience, now) {
            Next::At(at, priority) => {
                let launched = tracked.claim.launched.unwrap_or(tracked.claim.created);
                self.queue.set(uid, at, priority, launched);
            }
            Next::Never(why) => {
                self.queue.remove(uid);
                self.conclude(uid, why, now, actions);
            }
        }
    }

    /// There will be no further look: say what can be said, and keep only what is needed.
    fn conclude(&mut self, uid: &Arc<str>, why: Why, now: Timestamp, actions: &mut Vec<Action>) {
        if why == Why::Exhausted && self.inspect(uid, true, now, actions) {
            return;
        }
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        // An event counts only where the API server agrees that the node was given up.
        let given_up = tracked.gone.is_some() || tracked.claim.deleted.is_some();
        let event = tracked.work.as_ref().and_then(|work| work.event.as_ref());
        let event =
            event.filter(|event| given_up && now.duration_since(event.at) <= EVENT_TTL).cloned();
        let unexplained = !tracked.is_settled() && tracked.claim.registered.is_none();
        let silent = unexplained && tracked.held.is_none() && tracked.gone.is_none();
        let outside = tracked.claim.outside.map(|outside| self.settings.scope.reason(outside));
        let verdict = match (why, event) {
            (Why::Exhausted | Why::NotLaunched, Some(event)) if unexplained => {
                judge_event(&event, hints(&tracked.claim, None))
            }
            (Why::NotLaunched, None) if silent => outside.map(Verdict::unavailable),
            (Why::Exhausted, None) if silent => {
                Some(Verdict::unavailable(outside.unwrap_or_else(|| wording::VM_GONE.to_owned())))
            }
            _ => None,
        };
        let ended = matches!(why, Why::Ended | Why::TooOld);
        match verdict {
            Some(verdict) => self.settle(uid, verdict, now, actions),
            None if tracked.gone.is_some() => {}
            None if ended && tracked.work.as_ref().is_some_and(|work| !work.has_writes(now)) => {
                tracked.work = None;
            }
            None => {}
        }
    }

    /// Holds a verdict, if it says more than the one that is held, and tells it.
    pub(super) fn settle(
        &mut self,
        uid: &Arc<str>,
        verdict: Verdict,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        if tracked.held.as_ref().is_some_and(|held| !says_more(&verdict, held)) {
            return;
        }
        tracked.held = Some(Held {
            reason: verdict.reason,
            message: Arc::from(verdict.message.as_str()),
            stood: false,
        });
        if let Some(failure) = &verdict.failure {
            let entry = failure_entry(&tracked.claim, &verdict, failure, now);
            tracked.counted = !entry.unconfirmed;
            self.remember(&entry);
            actions.push(Action::Record(Box::new(entry.clone())));
            self.announce(&entry, actions);
        }
        self.notice(uid, now);
        let patience = self.settings.registration_patience;
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let after_seconds = tracked.claim.launched.map(|launched| seconds(launched, now));
        let told = Told { claim: tracked.claim.clone(), verdict, after_seconds };
        let told_all = tracked.is_explained(patience, now) || told.verdict.failure.is_some();
        if tracked.gone.is_some() && told_all {
            self.forget(uid);
        } else {
            self.reconcile(uid, now, actions);
        }
        actions.push(Action::Tell(Box::new(told)));
    }

    /// A patch was answered.
    pub(super) fn patched(
        &mut self,
        uid: &Arc<str>,
        answer: Answer,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        let name = tracked.claim.name.to_string();
        let work = tracked.work();
        work.patching = None;
        match answer {
            Answer::Written => {
                (work.refusals, work.success) = (0, None);
                if let Some(held) = &mut tracked.held {
                    held.stood = true;
                }
                // What was written may have been dropped by now: the newest form of the object decides.
                self.reconcile(uid, now, actions);
            }
            Answer::Gone => self.lose(uid, now, actions),
            Answer::Reread | Answer::Retry | Answer::Refused => {
                let failed = work.refusals.min(3) as usize;
                work.refusals += 1;
                // Somebody else's write came in between: look at once the first time, then with pauses.
                if answer == Answer::Reread && failed == 0 {
                    actions.push(Action::Reread { uid: Arc::clone(uid), name });
                    return;
                }
                let failed = if answer == Answer::Refused { 3 } else { failed };
                let pause = SignedDuration::from_secs(REWRITE_PAUSES[failed]);
                let at = now.saturating_add(pause).unwrap_or(Timestamp::MAX);
                self.rewrites.insert((at, Arc::clone(uid)));
            }
        }
    }

    /// Patches whose pause is over: one that failed begins with a fresh look at the object.
    pub(super) fn rewrite(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        while let Some((at, uid)) = self.rewrites.first().cloned() {
            if at > now {
                return;
            }
            self.rewrites.pop_first();
            let Some(tracked) = self.claims.get(&uid).filter(|tracked| tracked.gone.is_none())
            else {
                continue;
            };
            if tracked.work.as_ref().is_none_or(|work| work.refusals == 0) {
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

/// Asks for the condition to be written, unless it is there or a write is on its way. Returns when to try again if it
/// is too early.
fn write(
    tracked: &mut Tracked,
    condition_type: &str,
    now: Timestamp,
    actions: &mut Vec<Action>,
) -> Option<Timestamp> {
    let held = tracked.held.clone().filter(|_| tracked.gone.is_none())?;
    let waits = tracked.work.as_ref().and_then(|work| work.patching);
    if waits.is_some_and(|since| now.duration_since(since) < ANSWERED_WITHIN) {
        return None;
    }
    let wanted = Wanted { reason: held.reason, message: &held.message };
    let body = patch::patch(&tracked.claim, condition_type, wanted, now)?;
    if held.reason == Reason::CseSucceeded && !held.stood {
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
    if held.stood {
        let before = tracked.work.as_ref().and_then(|work| work.reasserted);
        let before = before.filter(|(at, _)| now.duration_since(*at) <= REASSERTED_FOR);
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
        kind: if held.stood { Kind::Reassert } else { Kind::Verdict },
    });
    None
}

/// How much a verdict says. One that says less never replaces one that says more.
pub(super) fn rank(reason: Reason) -> u8 {
    match reason {
        Reason::CseStatusUnavailable => 0,
        Reason::NoCseExtension | Reason::CseNotCreated => 1,
        Reason::CseRunning | Reason::CseFailureUnconfirmed => 2,
        // Says nothing about why the node does not register.
        Reason::CseSucceeded => 3,
        Reason::CseFailed | Reason::CseTimedOut | Reason::NodeNotRegistered => 4,
    }
}

fn says_more(verdict: &Verdict, held: &Held) -> bool {
    let same = rank(verdict.reason) == rank(held.reason);
    if same && verdict.reason.is_terminal() {
        return false;
    }
    // A read that shows the bootstrap running replaces what an event reported, and the other way round.
    rank(verdict.reason) > rank(held.reason) || (same && verdict.message != *held.message)
}
