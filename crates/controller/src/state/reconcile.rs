//! From what is held to what stands on the object, and to the next look.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::event_reads::EVENT_TTL;
use super::telling::failure_entry;
use super::tracked::{Held, Tracked};
use super::{Action, State, Told};
use crate::condition::Reason;
use crate::patch::{self, Answer, Kind, Wanted};
use crate::schedule::{Next, Why, next};
use crate::verdict::{Verdict, hints, judge_event, seconds};
use crate::wording;

/// An answer that did not come by then will not.
pub(super) const ANSWERED_WITHIN: SignedDuration = SignedDuration::from_secs(60);
/// Pauses before a patch is tried again, in seconds; the last repeats.
const REWRITE_PAUSES: [i64; 4] = [1, 5, 30, 300];

impl State {
    /// Compares a claim with what is held for it; asks for what is missing, and for the next look.
    pub(super) fn reconcile(&mut self, uid: &Arc<str>, now: Timestamp, actions: &mut Vec<Action>) {
        if !self.leads {
            return;
        }
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        write(tracked, &self.settings.condition_type, now, actions);
        let patience = SignedDuration::try_from(self.settings.registration_patience)
            .unwrap_or(SignedDuration::MAX);
        if tracked.reading_since(now).is_some() {
            return;
        }
        match next(&tracked.claim, tracked.looks(), tracked.reason(), patience, now) {
            Next::At(at, priority) => {
                if tracked.is_settled()
                    && self.recorded.get(&**uid).is_some_and(|recorded| recorded.unregistered)
                {
                    self.queue.remove(uid);
                    return;
                }
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
            None if ended
                && tracked
                    .work
                    .as_ref()
                    .is_some_and(|work| work.patching.is_none() && work.refusals == 0) =>
            {
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
        let Some(tracked) = self.claims.get_mut(uid) else { return };
        if verdict.reason == Reason::CseSucceeded && !tracked.counted {
            tracked.counted = true;
            if let Some(image) = tracked.claim.image_version() {
                self.fleet.count(image, None);
                self.fleet_changed = true;
            }
        }
        let after_seconds = tracked.claim.launched.map(|launched| seconds(launched, now));
        let told = Told { claim: tracked.claim.clone(), verdict, after_seconds };
        let told_all = told.verdict.reason.is_terminal() || told.verdict.failure.is_some();
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
                work.refusals = 0;
                if let Some(held) = &mut tracked.held {
                    held.stood = true;
                }
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

    /// Patches whose pause is over: each begins with a fresh look at the object.
    pub(super) fn rewrite(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        while let Some((at, uid)) = self.rewrites.first().cloned() {
            if at > now {
                return;
            }
            self.rewrites.pop_first();
            if let Some(tracked) = self.claims.get(&uid).filter(|tracked| tracked.gone.is_none()) {
                actions.push(Action::Reread {
                    uid: Arc::clone(&uid),
                    name: tracked.claim.name.to_string(),
                });
            }
        }
    }
}

/// Asks for the condition to be written, unless it stands or a write is on its way.
fn write(tracked: &mut Tracked, condition_type: &str, now: Timestamp, actions: &mut Vec<Action>) {
    let Some(held) = tracked.held.clone().filter(|_| tracked.gone.is_none()) else { return };
    let waits = tracked.work.as_ref().and_then(|work| work.patching);
    if waits.is_some_and(|since| now.duration_since(since) < ANSWERED_WITHIN) {
        return;
    }
    let wanted = Wanted { reason: held.reason, message: &held.message };
    let Some(body) = patch::patch(&tracked.claim, condition_type, wanted, now) else { return };
    tracked.work().patching = Some(now);
    actions.push(Action::Patch {
        uid: Arc::clone(&tracked.claim.uid),
        name: tracked.claim.name.to_string(),
        body,
        kind: if held.stood { Kind::Reassert } else { Kind::Verdict },
    });
}

/// How much a verdict says. One that says less never replaces one that says more.
pub(super) fn rank(reason: Reason) -> u8 {
    match reason {
        Reason::CseStatusUnavailable => 0,
        Reason::NoCseExtension => 1,
        Reason::CseRunning | Reason::CseFailureUnconfirmed => 2,
        Reason::CseSucceeded | Reason::CseFailed | Reason::CseTimedOut => 3,
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
