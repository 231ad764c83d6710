//! Redacting a child's output while it arrives.

use std::fmt;

use super::{Input, Redactor, Run};
use crate::MASK;

/// Redacts a text that arrives in chunks, cut anywhere.
///
/// The bytes written are those that [`Redactor::redact_bytes`] gives for the whole text. Held back
/// is only the longest end of the text that may be the beginning of a secret, at most 63 bytes;
/// everything else is written at once, because the output may be watched.
pub struct Stream<'r> {
    redactor: &'r Redactor,
    pub(super) held: Vec<u8>,
    run: Run,
}

impl<'r> Stream<'r> {
    pub(super) fn new(redactor: &'r Redactor) -> Self {
        Self { redactor, held: Vec::new(), run: Run::default() }
    }

    /// Takes the next chunk and appends to `out` what is safe to show.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.held.extend_from_slice(chunk);
        let decided = self.redactor.write(&self.held, Input::Partial, &mut self.run, out);
        self.held.drain(..decided);
    }

    /// Appends to `out` what was held back: no more text will come.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.redactor.write(&self.held, Input::Complete, &mut self.run, out);
    }
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}
