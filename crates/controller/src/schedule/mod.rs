//! The time of the next read of a NodeClaim's VM.
//!
//! A joined node is never read again, so a stable cluster costs nothing. A starting node is read a minute
//! after its launch and then less and less often; one whose NodeClaim is deleted is read at once, since its
//! VM is deleted within seconds. An event adds a read and never moves one of these.
//!
//! A node without a bootstrap extension shows nothing until it is overdue: it is read about 5 and 12 minutes
//! after its creation, before Karpenter deletes it, and after 16 and 20 minutes if Karpenter does not.

mod next_read;
mod queue;
pub mod rate_limit;
#[cfg(test)]
mod tests;

pub(crate) use next_read::{DELETED_AFTER_MISSES, QUICK_PAUSES};
pub use next_read::{NextRead, NoReadReason, ReadHistory, is_fixed_read_due, next};
pub use queue::{Queue, QueuePriority};
