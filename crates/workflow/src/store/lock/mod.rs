//! The lock of a journal: a Lease in the cluster.

mod acquire;
mod holder;
mod lease;
pub mod process;

pub use acquire::{LockError, LockWait, acquire};
pub(crate) use holder::LockAttempt;
pub use holder::{Lock, LockOwner};
pub use lease::{JournalLock, TIMES};
pub(crate) use lease::{TERM, lease_holder};
