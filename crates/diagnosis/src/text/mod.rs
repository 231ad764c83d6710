//! Input text: normalized, and scanned once.

use crate::text::line_wraps::{join_lines, join_numbers};
use crate::text::normalize::normalize;
use crate::text::phrases::Phrases;
use crate::text::scan::{Hit, scan};

mod grams;
pub(crate) mod lexer;
mod line_wraps;
mod normalize;
pub(crate) mod phrases;
pub(crate) mod scan;

/// Longer texts are truncated: positions have 32 bits.
const MAX_BYTES: usize = 1 << 30;

pub(crate) struct ScannedText {
    pub(crate) bytes: Vec<u8>,
    pub(crate) hits: Vec<Hit>,
    pub(crate) phrases: Phrases,
}

impl ScannedText {
    pub(crate) fn new(input: &[u8]) -> Self {
        let input = join_numbers(&input[..input.len().min(MAX_BYTES)]);
        Self::scanned(normalize(&input))
    }

    /// Returns the text in one line, if a terminal may have wrapped it.
    pub(crate) fn in_one_line(&self) -> Option<Self> {
        join_lines(&self.bytes).map(Self::scanned)
    }

    fn scanned(bytes: Vec<u8>) -> Self {
        let (hits, phrases) = scan(&bytes);
        Self { bytes, hits, phrases }
    }
}
