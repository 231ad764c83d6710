//! The document that makes a run resumable: the run itself, and what earlier ones leave behind.
//!
//! Every intent is written before its effect and every result after it. Whoever may write the object may write any document:
//! it is evidence, and nothing in it approves an effect.

pub(crate) mod document;
mod run;

pub use document::{MAX_START_BYTES, PastRun, Runs, decode, encode};
pub use run::{Attempt, CompletedStep, Entry, JournalError, Note, Phase, Run, Workflow, number};
