//! The durable, append-only record that makes a run resumable.
//!
//! Every intent is written before its effect and every result after it. Whoever may write the object may write any record:
//! the journal is evidence, and nothing in it approves an effect. A [`Run`] is computed from the records alone.

mod record;
mod run;
mod text;

pub use record::{Content, Entry, Record, retained};
pub use run::{Attempt, Phase, Replay, Run};
pub use text::{JournalError, decode, encode, follow, verify};
