//! Known secrets in every encoding.
//!
//! A [`Redactor`] is built once from every secret value that the caller knows. It finds them in
//! any text: as they are, line by line, decoded, and in each of the encodings that the
//! scripts, their tools and our own logs use (`encodings`).
//!
//! **Redacted:** every byte that belongs to any match, so that overlapping secrets leave no
//! remainder; each unbroken run of such bytes becomes one mask. A pattern longer than 61 bytes is cut into pieces of 28
//! to 64 bytes which are searched for one by one: a whole occurrence is still masked as one run, and of an occurrence
//! that was cut off, as in the tail of a log, all whole pieces are masked.
//!
//! **Not redacted:** white space around a value. Values of less than four bytes ([`MIN_VALUE`]):
//! masking them would destroy the text around them and reveal them to a reader. For the
//! same reason a base64 form counts from six characters on. Secrets encoded twice are found only
//! if a known value is one of the two layers, as with base64 of the base64 in a node config.
//!
//! **Cost.** Per byte of text one lookup in a bitmap and, where that hits, a binary search
//! over the pieces, each comparison at most 64 bytes, and at most 60 steps from a piece to a shorter
//! one: `O(text * log(pieces))` for any text and any secrets. A match that fails late, as `aaaa...`
//! does against `aaa...ab`, costs no more than one that succeeds.

mod encodings;
mod foreign;
mod matcher;
mod placeholder;
mod stream;
mod values;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use crate::MASK;

pub use foreign::ForeignStream;
use matcher::Matcher;
pub use stream::Stream;
pub use values::MIN_VALUE;

/// Finds known secrets in text and masks them.
pub struct Redactor {
    pieces: Matcher,
    mask: &'static str,
}

impl Redactor {
    /// Returns a redactor without secrets.
    pub fn none() -> Self {
        Self { pieces: Matcher::default(), mask: MASK }
    }

    /// Returns a redactor for these secret values; duplicates are allowed.
    pub fn new(secrets: impl IntoIterator<Item: AsRef<[u8]>>) -> Self {
        let mut patterns = encodings::Patterns::default();
        for value in values::all(secrets) {
            patterns.add(&value);
        }
        let pieces = patterns.into_matcher();
        let mask = placeholder::choose_mask(&pieces);
        Self { pieces, mask }
    }

    /// Returns `text` with a mask in place of every secret.
    ///
    /// If a binary secret ends inside a character, the rest of that character becomes U+FFFD.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(
                String::from_utf8(bytes)
                    .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
            ),
        }
    }

    /// Returns `text`, in any encoding, with a mask in place of every secret.
    ///
    /// The result holds no secret in any form, so redacting it again changes nothing. (For the one
    /// exception, which needs half a dozen odd secrets at once, see `placeholder`.)
    pub fn redact_bytes<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        if self.pieces.is_empty() {
            return Cow::Borrowed(text);
        }
        let Some(first) =
            (0..text.len()).find(|&at| self.pieces.longest_start_of(&text[at..]).is_some())
        else {
            return Cow::Borrowed(text);
        };
        let mut out = text[..first].to_vec();
        self.write(&text[first..], Input::Complete, &mut Run::default(), &mut out);
        Cow::Owned(out)
    }

    /// Redacts a text that arrives in chunks.
    pub fn stream(&self) -> Stream<'_> {
        Stream::new(self)
    }

    /// Writes as much of `text` as can be decided; returns how many bytes that was.
    fn write(&self, text: &[u8], input: Input, run: &mut Run, out: &mut Vec<u8>) -> usize {
        let mut written = 0;
        for at in 0..text.len() {
            let ahead = &text[at..];
            if input == Input::Partial && self.pieces.may_become_one(ahead) {
                out.extend_from_slice(&text[written..at]);
                return at;
            }
            if let Some(length) = self.pieces.longest_start_of(ahead) {
                run.masked_ahead = run.masked_ahead.max(length);
            }
            if run.masked_ahead == 0 {
                run.mask_written = false;
                continue;
            }
            run.masked_ahead -= 1;
            if !run.mask_written {
                out.extend_from_slice(&text[written..at]);
                out.extend_from_slice(self.mask.as_bytes());
                run.mask_written = true;
            }
            written = at + 1;
        }
        out.extend_from_slice(&text[written..]);
        text.len()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    Complete,
    /// More bytes follow, so a secret may begin here and end there.
    Partial,
}

/// The state of the writer between two calls.
#[derive(Default)]
struct Run {
    /// This many of the next bytes belong to a match that has begun.
    masked_ahead: usize,
    /// The last byte was masked, so the next masked one needs no new mask.
    mask_written: bool,
}
