//! The durable, append-only record that makes a run resumable.
//!
//! Every intent is written before its effect and every result after it. A chain of hashes reveals edits and gaps; it
//! does not authenticate the writer. A [`Run`] is computed from the records alone.

mod chain;
mod record;
mod run;

pub use chain::{JournalError, decode, encode, follow, verify};
pub use record::{Content, Entry, Record, retained};
pub use run::{Attempt, Phase, Replay, Run};
