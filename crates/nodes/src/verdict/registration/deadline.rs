//! The time by which a node should have registered, and NodeClaims past it.

use jiff::{SignedDuration, Timestamp};

use crate::claim::Claim;
use crate::verdict::condition::ConditionReason;
use crate::verdict::time::{after, seconds};

/// Age of an unregistered NodeClaim from which its deletion means that Karpenter gave up.
const GIVEN_UP_AFTER: i64 = 14 * 60 + 30;
/// Age at which Karpenter deletes an unregistered NodeClaim.
pub const REGISTRATION_LIMIT: SignedDuration = SignedDuration::from_mins(15);
/// Age from which a NodeClaim should have been deleted: Karpenter acts within seconds.
pub const OVERDUE_AFTER: i64 = 16 * 60;
/// Age of a NodeClaim from which Karpenter is considered idle.
pub const IDLE_AFTER: i64 = 20 * 60;

pub const REGISTRATION_TIMEOUT: SignedDuration = SignedDuration::from_mins(5);

/// An unregistered NodeClaim past its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overdue {
    /// When the time was over.
    pub at: Timestamp,
    /// Minutes since its creation or since the success of its CSE.
    pub minutes: i64,
    /// It still exists, although Karpenter should have deleted it.
    pub is_alive: bool,
    pub is_idle: bool,
    pub cse_succeeded: bool,
}

/// Returns how a NodeClaim ended unregistered, or should have. `deleted_at` is the time of its object's removal.
pub fn overdue(claim: &Claim, deleted_at: Option<Timestamp>, now: Timestamp) -> Option<Overdue> {
    if claim.registered.is_some() {
        return None;
    }
    let ended = claim.deleted.or(deleted_at);
    let waited = seconds(claim.unregistered_since, ended.unwrap_or(now));
    let limit = if ended.is_some() { GIVEN_UP_AFTER } else { OVERDUE_AFTER };
    (waited >= limit).then(|| Overdue {
        at: ended.unwrap_or_else(|| after(claim.unregistered_since, REGISTRATION_LIMIT)),
        minutes: (waited + 30) / 60,
        is_alive: ended.is_none(),
        is_idle: ended.is_none() && waited >= IDLE_AFTER,
        cse_succeeded: false,
    })
}

/// Returns the same for a NodeClaim whose CSE succeeded `timeout` ago.
pub fn overdue_after_success(
    claim: &Claim,
    deleted_at: Option<Timestamp>,
    timeout: SignedDuration,
    now: Timestamp,
) -> Option<Overdue> {
    let ended = claim.registered.or(claim.deleted).or(deleted_at).is_some();
    let due = due_after_success(claim, timeout).filter(|due| !ended && *due <= now);
    let early = due.map(|at| Overdue {
        at,
        minutes: timeout.as_mins(),
        is_alive: true,
        is_idle: false,
        cse_succeeded: true,
    });
    let late = overdue(claim, deleted_at, now).map(|late| Overdue { cse_succeeded: true, ..late });
    late.or(early)
}

/// Returns true if Karpenter let a NodeClaim be for so long that its condition says so.
pub fn was_left(claim: &Claim, deleted_at: Option<Timestamp>, now: Timestamp) -> bool {
    let ended = claim.deleted.or(deleted_at).unwrap_or(now);
    claim.registered.is_none() && seconds(claim.unregistered_since, ended) >= IDLE_AFTER
}

/// Returns the time at which the node of a NodeClaim should have registered, by its condition.
pub fn due_after_success(claim: &Claim, timeout: SignedDuration) -> Option<Timestamp> {
    let condition = claim.condition.as_ref()?;
    match ConditionReason::parse(&condition.reason)? {
        ConditionReason::CseSucceeded => Some(after(condition.since, timeout)),
        ConditionReason::NodeNotRegistered => Some(condition.since),
        _ => None,
    }
}
