//! The durable, append-only record that makes a run resumable.
//!
//! Every intent is written before its effect and every result after it. Records are chained by their hashes,
//! so that an edit or a gap shows. What a state is follows from the records alone (`machine::State`). What the
//! records say is a type of its own ([`Content`]): a pool's repair has [`Entry`], others have theirs.

mod archive;
mod chain;
mod configmap;
mod file;
mod lock;
mod record;

pub use archive::{RunSummary, breaker, retained, summaries};
pub use chain::{JournalError, Tail, decode, encode, follow, verify};
pub use configmap::{SEGMENT_BYTES, Segment, join, split};
pub use file::{Disk, FileError, FileJournal, RealDisk};
pub(crate) use file::{NEVER_A_LINK, OWNER_ONLY};
pub use lock::{Liveness, Lock, Owner, SILENCE, STEADY, TakeOver, may_take_over};
pub use record::{Content, Entry, Finish, Record, SCHEMA, Session, Workload};
