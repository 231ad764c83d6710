//! What a process starts with.

use crate::approval::Approval;
use crate::document::Document;

/// What a process starts with that begins, continues or rolls back a run.
///
/// It is written by that process and read back by it alone: to the next one it is evidence, and what that one may do
/// is decided again.
pub trait Session: Document {
    /// On what authority the process acts.
    fn approval(&self) -> &Approval;

    /// Returns true if steps that are done under `earlier` stay done.
    fn continues(&self, earlier: &Self) -> bool;
}
