//! The first record of each process.

use crate::approval::Approval;
use crate::document::Document;

/// The parameters of a process that starts, resumes or rolls back a run.
///
/// Only the process that wrote a session acts on it. To the next process it is evidence, and its own session decides what
/// it may do.
pub trait Session: Document {
    fn approval(&self) -> &Approval;

    /// Returns true if steps that were completed under `earlier` remain completed.
    fn continues(&self, earlier: &Self) -> bool;
}
