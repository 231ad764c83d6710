//! The time of the next read of a NodeClaim's VM.
//!
//! A joined node is never read again, so a stable cluster costs nothing. A starting node is read a minute
//! after its launch and then less and less often; one whose NodeClaim is deleted is read at once, since its
//! VM is deleted within seconds. An event adds a read and never moves one of these.
//!
//! A node without a bootstrap extension shows nothing until it is overdue: it is read about 5 and 12 minutes
//! after its creation, before Karpenter deletes it, and after 16 and 20 minutes if Karpenter does not.

mod next_read;
#[cfg(test)]
mod tests;

use mooring_arm::{BucketLimit, BudgetLimits};

pub(crate) use next_read::{DELETED_AFTER_MISSES, QUICK_PAUSES};
pub use next_read::{
    NextRead, NoReadReason, Queue, QueuePriority, ReadHistory, is_fixed_read_due, next,
};

/// Returns half of Azure's limits of an identity, so that other users of the identity or the subscription are
/// not throttled: 125 at once and 12.5 a second. The Azure client keeps them; a bucket of the same size decides
/// *which* reads are requested, so that a trigger never waits for reads that could wait.
pub fn controller_limits() -> BudgetLimits {
    BudgetLimits::default().share(50)
}

/// Reserve for triggers. 200 nodes that fail at once need 200 reads: with 90 at once and 12.5 a second the
/// last is read after 8.8 s.
pub(crate) const TRIGGER_RESERVE: u32 = 90;

/// Reads requested by events: 30 at once and one every two seconds, so at most 60 in any minute. They are sent after
/// every scheduled read that is due, and only from the part of the rate limit that scheduled reads use.
pub(crate) const EVENT_READS: BucketLimit = BucketLimit::per_second_milli(30, 500);
