//! Redacting a child's output while it arrives.

use std::fmt;

use super::known::{Input, Redactor, Run};
use crate::MASK;

/// Redacts a text that arrives in chunks, cut anywhere.
///
/// The bytes written equal those of [`Redactor::redact_bytes`] for the whole text. Only the longest suffix that
/// may be the beginning of a secret is held back, at most 63 bytes, because the output may be watched.
pub struct Stream<'r> {
    redactor: &'r Redactor,
    pub(super) held: Vec<u8>,
    run: Run,
}

impl<'r> Stream<'r> {
    pub(super) fn new(redactor: &'r Redactor) -> Self {
        Self { redactor, held: Vec::new(), run: Run::default() }
    }

    /// Appends to `out` the text that is safe to print.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.held.extend_from_slice(chunk);
        let decided = self.redactor.write(&self.held, Input::Partial, &mut self.run, out);
        self.held.drain(..decided);
    }

    /// Appends to `out` the rest of the text.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.redactor.write(&self.held, Input::Complete, &mut self.run, out);
    }
}

impl Redactor {
    /// Redacts a text that arrives in chunks.
    pub fn stream(&self) -> Stream<'_> {
        Stream::new(self)
    }
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}
