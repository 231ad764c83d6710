use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::claim::{Claim, ClaimMode};
use mooring_nodes::text::fraction;
use mooring_nodes::verdict::registration::{IDLE_AFTER, OVERDUE_AFTER, due_after_success, overdue};
use mooring_nodes::verdict::{ConditionReason, after, seconds};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadHistory {
    pub count: u32,
    /// Reads since the NodeClaim was deleted; none if it was not.
    pub since_trigger: Option<u32>,
    /// Consecutive reads that returned 404.
    pub missing: u32,
    pub denied: bool,
    /// Pause requested by Azure.
    pub retry_after_seconds: i64,
    pub sweep_requested: bool,
    pub last: Option<Timestamp>,
    /// The idle Karpenter was reported.
    pub idle_reported: bool,
    /// Reads since CSE finished.
    pub late: u32,
    pub not_before: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextRead {
    At(Timestamp, QueuePriority),
    /// No read until the NodeClaim changes.
    Never(NoReadReason),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoReadReason {
    /// Karpenter has not created a VM yet.
    NotLaunched,
    /// The bootstrap has finished.
    Ended,
    /// The VM is being deleted, and every quick read found nothing.
    Exhausted,
    TooOld,
    /// No read until the NodeClaim is deleted.
    Waiting,
}

/// Nothing can be read before the VM exists.
const FIRST_READ: i64 = 60;
/// Pauses between reads; the last repeats.
const PAUSES: [i64; 3] = [20, 30, 60];
/// Pauses after a trigger: the VM is deleted within seconds, or its view is late.
pub(crate) const QUICK_PAUSES: [i64; 3] = [1, 2, 4];
/// A VM not found twice in a row is deleted; other evidence must be written while the NodeClaim exists.
pub(crate) const DELETED_AFTER_MISSES: u32 = 2;
/// A new role assignment takes minutes to propagate.
const REFUSED_PAUSE: i64 = 300;
/// Scripts finish after 15 minutes at most. A registered node launched before that needs no read; on the
/// first start, most nodes are of this kind.
const MAX_AGE: i64 = 30 * 60;
/// Reads of a node without an extension, in seconds since its creation.
const READ_TIMES: [i64; 4] = [5 * 60, 12 * 60, OVERDUE_AFTER, IDLE_AFTER];
/// Seconds over which late reads are spread: of nodes that may still join, and of nodes that were overdue before.
const LATE_SPREAD: f64 = 1.0;
const OVERDUE_SPREAD: f64 = 60.0;

/// Returns the time of the next read. `held` is the reason of the verdict held for the NodeClaim.
pub fn next(
    claim: &Claim,
    history: ReadHistory,
    held: Option<ConditionReason>,
    timeout: SignedDuration,
    now: Timestamp,
) -> NextRead {
    match held {
        Some(ConditionReason::CseSucceeded) if claim.registered.is_none() => {
            return next_after_success(claim, history, held, timeout, now);
        }
        Some(ConditionReason::NodeNotRegistered) => return next_idle_read(claim, history, now),
        Some(reason) if reason.is_terminal() => return NextRead::Never(NoReadReason::Ended),
        _ => {}
    }
    let slow = expects_no_extension(claim, held);
    if slow && claim.registered.is_some() {
        return NextRead::Never(NoReadReason::Ended);
    }
    let Some(launched) = claim.launched.filter(|_| claim.vm.is_some()) else {
        return NextRead::Never(NoReadReason::NotLaunched);
    };
    if let Some(tried) = history.since_trigger {
        return next_quick_read(claim, tried, history, held, now);
    }
    if claim.registered.is_some() && now.as_second() - launched.as_second() > MAX_AGE {
        return NextRead::Never(NoReadReason::TooOld);
    }
    if history.sweep_requested {
        return NextRead::At(now, QueuePriority::Sweep);
    }
    let jitter = fraction(&[&claim.uid, &history.count.to_string()]);
    if slow && !history.denied {
        return next_fixed_read(claim, history, jitter, now);
    }
    let at = if history.count == 0 {
        let first = after(launched, spread(FIRST_READ, jitter));
        if first < now { late_read_at(claim, jitter, now) } else { first }
    } else {
        let pause = PAUSES[(history.count as usize - 1).min(PAUSES.len() - 1)];
        let pause = if history.denied { REFUSED_PAUSE } else { pause };
        after(now, spread(pause.max(history.retry_after_seconds), jitter))
    };
    NextRead::At(at, QueuePriority::Pending)
}

/// Returns true if no extension is expected, or none was created. A read shows one that exists anyway.
pub(super) fn expects_no_extension(claim: &Claim, held: Option<ConditionReason>) -> bool {
    match held {
        Some(ConditionReason::NoCseExtension | ConditionReason::CseNotCreated) => true,
        Some(ConditionReason::CseRunning) => false,
        _ => claim.mode() == Some(ClaimMode::Scriptless),
    }
}

/// Returns the first time without a read.
pub(super) fn next_fixed_read(
    claim: &Claim,
    history: ReadHistory,
    jitter: f64,
    now: Timestamp,
) -> NextRead {
    let since = claim.unregistered_since;
    let last_read = history.last.map_or(0, |last| seconds(since, last));
    let Some(mark) = READ_TIMES.into_iter().find(|mark| *mark > last_read) else {
        return NextRead::Never(NoReadReason::Waiting);
    };
    // Up to a twentieth later: 12 minutes stay below 15.
    let later = SignedDuration::try_from_secs_f64(
        f64::from(u32::try_from(mark).unwrap_or(0)) * 0.05 * jitter,
    );
    let at = after(since, SignedDuration::from_secs(mark) + later.unwrap_or_default());
    let at = if at < now && history.last.is_none() { late_read_at(claim, jitter, now) } else { at };
    let pause = SignedDuration::from_secs(history.retry_after_seconds);
    NextRead::At(at.max(after(now, pause)), QueuePriority::Pending)
}

/// Returns true if a node without an extension must be read now.
pub fn is_fixed_read_due(
    claim: &Claim,
    history: ReadHistory,
    held: Option<ConditionReason>,
    now: Timestamp,
) -> bool {
    let at = |next| matches!(next, NextRead::At(at, _) if at <= now);
    expects_no_extension(claim, held) && at(next_fixed_read(claim, history, 0.0, now))
}

/// Returns the time for a node whose first read is past: soon, or within a minute if it is overdue anyway.
pub(super) fn late_read_at(claim: &Claim, jitter: f64, now: Timestamp) -> Timestamp {
    let seconds = if overdue(claim, None, now).is_some() { OVERDUE_SPREAD } else { LATE_SPREAD };
    after(now, SignedDuration::try_from_secs_f64(seconds * jitter).unwrap_or_default())
}

pub(super) fn next_quick_read(
    claim: &Claim,
    tried: u32,
    history: ReadHistory,
    held: Option<ConditionReason>,
    now: Timestamp,
) -> NextRead {
    if tried == 0 {
        return NextRead::At(now, QueuePriority::Trigger);
    }
    // One result is enough without an extension that could still report.
    let reported = held == Some(ConditionReason::CseSucceeded);
    if (reported || expects_no_extension(claim, held))
        && history.last.is_some()
        && history.missing == 0
    {
        return NextRead::Never(NoReadReason::Exhausted);
    }
    let Some(pause) =
        QUICK_PAUSES.get(tried as usize - 1).filter(|_| history.missing < DELETED_AFTER_MISSES)
    else {
        return NextRead::Never(NoReadReason::Exhausted);
    };
    let jitter = fraction(&[&claim.uid, "quick", &tried.to_string()]);
    NextRead::At(
        after(now, spread((*pause).max(history.retry_after_seconds), jitter)),
        QueuePriority::Trigger,
    )
}

fn next_after_success(
    claim: &Claim,
    history: ReadHistory,
    held: Option<ConditionReason>,
    timeout: SignedDuration,
    now: Timestamp,
) -> NextRead {
    if let Some(tried) = history.since_trigger {
        return next_quick_read(claim, tried, history, held, now);
    }
    let Some(due) = due_after_success(claim, timeout).filter(|_| claim.deleted.is_none()) else {
        return NextRead::Never(NoReadReason::Ended);
    };
    let pause = if history.late == 0 { 0 } else { PAUSES[0].max(history.retry_after_seconds) };
    let due = due.max(history.not_before.unwrap_or(due));
    NextRead::At(due.max(after(now, SignedDuration::from_secs(pause))), QueuePriority::Pending)
}

/// Schedules one more read if Karpenter does not delete an overdue NodeClaim.
fn next_idle_read(claim: &Claim, history: ReadHistory, now: Timestamp) -> NextRead {
    if claim.registered.or(claim.deleted).is_some() || history.idle_reported {
        return NextRead::Never(NoReadReason::Ended);
    }
    let due = after(claim.unregistered_since, SignedDuration::from_secs(IDLE_AFTER));
    NextRead::At(due.max(now), QueuePriority::Pending)
}

/// Adds up to a quarter to a pause.
pub(super) fn spread(seconds: i64, jitter: f64) -> SignedDuration {
    let base = SignedDuration::from_secs(seconds);
    base + SignedDuration::try_from_secs_f64(base.as_secs_f64() * 0.25 * jitter).unwrap_or_default()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueuePriority {
    /// The NodeClaim was deleted, so its VM is deleted within seconds.
    Trigger,
    /// A sweep showed a result on the VM.
    Sweep,
    /// The node is starting.
    Pending,
    /// Requested by an event. Last, because others can write events.
    Event,
}

/// NodeClaims to read, by time and then by priority.
#[derive(Debug, Default)]
pub struct Queue {
    slots: HashMap<Arc<str>, Slot>,
    later: BTreeSet<(Timestamp, Arc<str>)>,
    /// Due, sorted by priority, then age.
    due: BTreeSet<(QueuePriority, Timestamp, Arc<str>)>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    at: Timestamp,
    priority: QueuePriority,
    /// Decides among equal priorities.
    launched: Timestamp,
    is_due: bool,
}

impl Queue {
    pub fn set(
        &mut self,
        uid: &Arc<str>,
        at: Timestamp,
        priority: QueuePriority,
        launched: Timestamp,
    ) {
        self.remove(uid);
        self.later.insert((at, Arc::clone(uid)));
        self.slots.insert(Arc::clone(uid), Slot { at, priority, launched, is_due: false });
    }

    pub fn remove(&mut self, uid: &Arc<str>) {
        if let Some(slot) = self.slots.remove(uid) {
            if slot.is_due {
                self.due.remove(&(slot.priority, slot.launched, Arc::clone(uid)));
            } else {
                self.later.remove(&(slot.at, Arc::clone(uid)));
            }
        }
    }

    /// Moves entries that are due.
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

    pub fn first(&self) -> Option<(QueuePriority, &Arc<str>)> {
        self.due.first().map(|(priority, _, uid)| (*priority, uid))
    }

    pub fn next_at(&self) -> Option<Timestamp> {
        self.later.first().map(|(at, _)| *at)
    }

    pub fn uids(&self) -> impl Iterator<Item = &Arc<str>> {
        self.slots.keys()
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the number of NodeClaims that are due and not taken.
    pub fn waiting(&self) -> usize {
        self.due.len()
    }
}
