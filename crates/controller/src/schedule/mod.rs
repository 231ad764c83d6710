//! When a claim is looked at next, if ever.
//!
//! A node that came up is never looked at again, so a steady cluster costs nothing. One on its way is
//! looked at a minute after its launch and then ever less often; one whose NodeClaim is deleted is
//! looked at once, since its VM goes within seconds. An event adds a read and never moves one of these.
//!
//! A node without a bootstrap extension has nothing to show until it has not registered for minutes: it is looked at about
//! 5 and 12 minutes after its creation, before Karpenter deletes it, and after 16 and 20 minutes if Karpenter does not.

pub mod share;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::claim::Claim;
use crate::claim::mode::Mode;
use crate::hash::fraction;
use crate::verdict::condition::Reason;
use crate::verdict::registration::{IDLE_AFTER, OVERDUE_AFTER, due_after_success, overdue};
use crate::verdict::seconds;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// The NodeClaim was deleted, so its VM goes within seconds.
    Trigger,
    /// A sweep showed that the VM has something to tell.
    Wanted,
    /// The node is on its way.
    Pending,
    /// An event asks for a read. Last: others can write events.
    Event,
}

/// What is known about earlier looks at a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    pub count: u32,
    /// Looks since the NodeClaim was deleted; none if it was not.
    pub since_trigger: Option<u32>,
    /// Looks in a row that found nothing there.
    pub missing: u32,
    /// Azure refused the last one.
    pub refused: bool,
    /// Azure asked for this long a pause.
    pub retry_after_seconds: i64,
    /// A sweep asked for a look.
    pub wanted: bool,
    pub last: Option<Timestamp>,
    /// It has been told that Karpenter does not act.
    pub told_idle: bool,
    /// Looks since CSE ended.
    pub late: u32,
    /// There is nothing to look for before then.
    pub not_before: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    At(Timestamp, Priority),
    /// Never again, unless something happens to the claim.
    Never(Why),
}

/// Why there is nothing to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Karpenter has not made a VM yet.
    NotLaunched,
    /// The bootstrap has ended.
    Ended,
    /// The VM is going, and every quick look found nothing.
    Exhausted,
    /// Too old to tell anything.
    TooOld,
    /// There is nothing to look for until the NodeClaim is deleted.
    Waiting,
}

/// Nothing is there to see before the VM stands.
const FIRST_LOOK: i64 = 60;
/// Pauses between looks; the last repeats.
const PAUSES: [i64; 3] = [20, 30, 60];
/// Pauses after a trigger: the VM is gone within seconds, or its view comes late.
pub(crate) const QUICK_PAUSES: [i64; 3] = [1, 2, 4];
/// A VM that is not there twice in a row is gone; what else is known must be told while the claim lives.
pub(crate) const GONE: u32 = 2;
/// Rights that somebody gives take minutes to arrive.
const REFUSED_PAUSE: i64 = 300;
/// Scripts end after 15 minutes at most. A node that has registered and was launched before that has nothing to tell,
/// which is what most are on the first start.
const TOO_OLD: i64 = 30 * 60;
/// Looks at a node that has no extension, in seconds since it was created.
const MARKS: [i64; 4] = [5 * 60, 12 * 60, OVERDUE_AFTER, IDLE_AFTER];
/// Seconds within which nodes are looked at that were seen late, each at its own time: those that may still come up, and
/// those that were overdue before.
const LATE_SPREAD: f64 = 1.0;
const OVERDUE_SPREAD: f64 = 60.0;

/// When to look at a claim next. `held` is the reason of the verdict that is held for it.
pub fn next(
    claim: &Claim,
    looks: Looks,
    held: Option<Reason>,
    patience: SignedDuration,
    now: Timestamp,
) -> Next {
    match held {
        Some(Reason::CseSucceeded) if claim.registered.is_none() => {
            return look_after_success(claim, looks, held, patience, now);
        }
        Some(Reason::NodeNotRegistered) => return idle_look(claim, looks, now),
        Some(reason) if reason.is_terminal() => return Next::Never(Why::Ended),
        _ => {}
    }
    let slow = expects_no_extension(claim, held);
    if slow && claim.registered.is_some() {
        return Next::Never(Why::Ended);
    }
    let Some(launched) = claim.launched.filter(|_| claim.vm.is_some()) else {
        return Next::Never(Why::NotLaunched);
    };
    if let Some(tried) = looks.since_trigger {
        return quick_look(claim, tried, looks, held, now);
    }
    if claim.registered.is_some() && now.as_second() - launched.as_second() > TOO_OLD {
        return Next::Never(Why::TooOld);
    }
    if looks.wanted {
        return Next::At(now, Priority::Wanted);
    }
    let jitter = fraction(&[&claim.uid, &looks.count.to_string()]);
    if slow && !looks.refused {
        return next_mark(claim, looks, jitter, now);
    }
    let at = if looks.count == 0 {
        let first = after(launched, spread(FIRST_LOOK, jitter));
        if first < now { late_look_at(claim, jitter, now) } else { first }
    } else {
        let pause = PAUSES[(looks.count as usize - 1).min(PAUSES.len() - 1)];
        let pause = if looks.refused { REFUSED_PAUSE } else { pause };
        after(now, spread(pause.max(looks.retry_after_seconds), jitter))
    };
    Next::At(at, Priority::Pending)
}

/// Whether no extension is expected, or none came. A read shows one that is there all the same.
fn expects_no_extension(claim: &Claim, held: Option<Reason>) -> bool {
    match held {
        Some(Reason::NoCseExtension | Reason::CseNotCreated) => true,
        Some(Reason::CseRunning) => false,
        _ => claim.mode() == Some(Mode::Scriptless),
    }
}

/// The next mark that has no look behind it yet.
fn next_mark(claim: &Claim, looks: Looks, jitter: f64, now: Timestamp) -> Next {
    let since = claim.unregistered_since;
    let looked = looks.last.map_or(0, |last| seconds(since, last));
    let Some(mark) = MARKS.into_iter().find(|mark| *mark > looked) else {
        return Next::Never(Why::Waiting);
    };
    // Up to a twentieth later: 12 minutes stay below 15.
    let later = SignedDuration::try_from_secs_f64(
        f64::from(u32::try_from(mark).unwrap_or(0)) * 0.05 * jitter,
    );
    let at = after(since, SignedDuration::from_secs(mark) + later.unwrap_or_default());
    let at = if at < now && looks.last.is_none() { late_look_at(claim, jitter, now) } else { at };
    let pause = SignedDuration::from_secs(looks.retry_after_seconds);
    Next::At(at.max(after(now, pause)), Priority::Pending)
}

/// Whether a look is due of a node that has no extension.
pub fn is_mark_due(claim: &Claim, looks: Looks, held: Option<Reason>, now: Timestamp) -> bool {
    let at = |next| matches!(next, Next::At(at, _) if at <= now);
    expects_no_extension(claim, held) && at(next_mark(claim, looks, 0.0, now))
}

/// When to look at a node whose first look is past: soon, or within a minute where nobody waits for it any more.
fn late_look_at(claim: &Claim, jitter: f64, now: Timestamp) -> Timestamp {
    let seconds = if overdue(claim, None, now).is_some() { OVERDUE_SPREAD } else { LATE_SPREAD };
    after(now, SignedDuration::try_from_secs_f64(seconds * jitter).unwrap_or_default())
}

/// The NodeClaim was deleted.
fn quick_look(
    claim: &Claim,
    tried: u32,
    looks: Looks,
    held: Option<Reason>,
    now: Timestamp,
) -> Next {
    if tried == 0 {
        return Next::At(now, Priority::Trigger);
    }
    // One answer is enough where there is no extension that could still report.
    let reported = held == Some(Reason::CseSucceeded);
    if (reported || expects_no_extension(claim, held)) && looks.last.is_some() && looks.missing == 0
    {
        return Next::Never(Why::Exhausted);
    }
    let Some(pause) = QUICK_PAUSES.get(tried as usize - 1).filter(|_| looks.missing < GONE) else {
        return Next::Never(Why::Exhausted);
    };
    let jitter = fraction(&[&claim.uid, "quick", &tried.to_string()]);
    Next::At(after(now, spread((*pause).max(looks.retry_after_seconds), jitter)), Priority::Trigger)
}

/// CSE succeeded: one more look if its node does not register.
fn look_after_success(
    claim: &Claim,
    looks: Looks,
    held: Option<Reason>,
    patience: SignedDuration,
    now: Timestamp,
) -> Next {
    if let Some(tried) = looks.since_trigger {
        return quick_look(claim, tried, looks, held, now);
    }
    let Some(due) = due_after_success(claim, patience).filter(|_| claim.deleted.is_none()) else {
        return Next::Never(Why::Ended);
    };
    let pause = if looks.late == 0 { 0 } else { PAUSES[0].max(looks.retry_after_seconds) };
    let due = due.max(looks.not_before.unwrap_or(due));
    Next::At(due.max(after(now, SignedDuration::from_secs(pause))), Priority::Pending)
}

/// The node was given up: one more look if Karpenter does not delete its NodeClaim.
fn idle_look(claim: &Claim, looks: Looks, now: Timestamp) -> Next {
    if claim.registered.or(claim.deleted).is_some() || looks.told_idle {
        return Next::Never(Why::Ended);
    }
    let due = after(claim.unregistered_since, SignedDuration::from_secs(IDLE_AFTER));
    Next::At(due.max(now), Priority::Pending)
}

/// A pause and up to a quarter more.
fn spread(seconds: i64, jitter: f64) -> SignedDuration {
    let base = SignedDuration::from_secs(seconds);
    base + SignedDuration::try_from_secs_f64(base.as_secs_f64() * 0.25 * jitter).unwrap_or_default()
}

fn after(from: Timestamp, pause: SignedDuration) -> Timestamp {
    from.saturating_add(pause).unwrap_or(Timestamp::MAX)
}

/// Claims to look at, by time and then by priority. Claims that need no look are not in it.
#[derive(Debug, Default)]
pub struct Queue {
    slots: HashMap<Arc<str>, Slot>,
    later: BTreeSet<(Timestamp, Arc<str>)>,
    /// Due, the most urgent first, then the oldest.
    due: BTreeSet<(Priority, Timestamp, Arc<str>)>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    at: Timestamp,
    priority: Priority,
    /// The claim's age, which decides among equals.
    launched: Timestamp,
    is_due: bool,
}

impl Queue {
    /// Puts a claim in its place, whatever place it had.
    pub fn set(&mut self, uid: &Arc<str>, at: Timestamp, priority: Priority, launched: Timestamp) {
        self.remove(uid);
        self.later.insert((at, Arc::clone(uid)));
        self.slots.insert(Arc::clone(uid), Slot { at, priority, launched, is_due: false });
    }

    /// Takes a claim out.
    pub fn remove(&mut self, uid: &Arc<str>) {
        if let Some(slot) = self.slots.remove(uid) {
            if slot.is_due {
                self.due.remove(&(slot.priority, slot.launched, Arc::clone(uid)));
            } else {
                self.later.remove(&(slot.at, Arc::clone(uid)));
            }
        }
    }

    /// Moves what is due by now.
    pub fn advance(&mut self, now: Timestamp) {
        while let Some((at, uid)) = self.later.first().cloned() {
            if at > now {
                return;
            }
            self.later.pop_first();
            if let Some(slot) = self.slots.get_mut(&uid) {
                slot.is_due = true;
                self.due.insert((slot.priority, slot.launched, uid));
            }
        }
    }

    /// The most urgent claim that is due.
    pub fn first(&self) -> Option<(Priority, &Arc<str>)> {
        self.due.first().map(|(priority, _, uid)| (*priority, uid))
    }

    /// When something will be due that is not.
    pub fn next_at(&self) -> Option<Timestamp> {
        self.later.first().map(|(at, _)| *at)
    }

    /// The claims with a look ahead of them.
    pub fn uids(&self) -> impl Iterator<Item = &Arc<str>> {
        self.slots.keys()
    }

    /// How many claims have a look ahead of them.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// How many are due and have not been taken.
    pub fn waiting(&self) -> usize {
        self.due.len()
    }
}

#[cfg(test)]
mod tests;
