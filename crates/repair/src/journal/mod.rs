//! The durable, append-only record that makes a run resumable.
//!
//! Every intent is written before its effect and every result after it. Records are chained by their hashes,
//! so that an edit or a gap shows. What a state is follows from the records alone (`machine::State`).

mod archive;
mod chain;
mod configmap;
mod file;
mod lock;
mod record;

pub use archive::{RunSummary, breaker, summaries};
pub use chain::{JournalError, Tail, decode, encode, follow, verify};
pub use configmap::{SEGMENT_BYTES, Segment, join, location, split};
pub use file::{Disk, FileError, FileJournal, RealDisk};
pub use lock::{Liveness, Lock, Owner, TakeOver, may_take_over};
pub use record::{Entry, Finish, Record, SCHEMA, Workload};
