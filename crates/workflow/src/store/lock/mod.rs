//! The lock of a journal: a Lease in the cluster, or `flock` on a file.

mod acquire;
mod file;
mod holder;
mod journal_lock;
mod lease;
pub mod process;

pub use acquire::{LockError, LockWait, acquire};
pub(crate) use file::{FileLock, file_holder};
pub(crate) use holder::LockAttempt;
pub use holder::{Lock, LockOwner};
pub use journal_lock::JournalLock;
pub use lease::TIMES;
pub(crate) use lease::{LeaseLock, TERM, lease_holder};
