//! A text made ready for reading: undressed, and scanned once.

use crate::text::normalize::normalize;
use crate::text::phrases::Phrases;
use crate::text::scan::{Hit, scan};
use crate::text::wrapped::{joined, rejoined};

/// A text of more than this is cut: places in it are kept in 32 bits, and nobody pastes as much.
const LONGEST: usize = 1 << 30;

/// A normalised text and what was found in it.
pub(crate) struct Text {
    pub(crate) bytes: Vec<u8>,
    pub(crate) hits: Vec<Hit>,
    pub(crate) phrases: Phrases,
}

impl Text {
    pub(crate) fn of(input: &[u8]) -> Self {
        let input = rejoined(&input[..input.len().min(LONGEST)]);
        Self::scanned(normalize(&input))
    }

    /// The same text in one line, if it is one that a terminal may have cut into several.
    pub(crate) fn in_one_line(&self) -> Option<Self> {
        joined(&self.bytes).map(Self::scanned)
    }

    fn scanned(bytes: Vec<u8>) -> Self {
        let (hits, phrases) = scan(&bytes);
        Self { bytes, hits, phrases }
    }
}
