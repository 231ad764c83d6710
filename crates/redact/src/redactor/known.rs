//! Secrets that the caller knows, in any text.

use std::borrow::Cow;
use std::fmt;

use super::matcher::Matcher;
use super::{encodings, placeholder, values};
use crate::MASK;

/// Finds known secrets in text and masks them.
pub struct Redactor {
    pub(super) pieces: Matcher,
    pub(super) mask: &'static str,
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

    /// Writes as much of `text` as can be decided; returns how many bytes that was.
    pub(super) fn write(
        &self,
        text: &[u8],
        input: Input,
        run: &mut Run,
        out: &mut Vec<u8>,
    ) -> usize {
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
pub(super) enum Input {
    Complete,
    /// More bytes follow, so a secret may begin here and end there.
    Partial,
}

/// The state of the writer between two calls.
#[derive(Default)]
pub(super) struct Run {
    /// This many of the next bytes belong to a match that has begun.
    masked_ahead: usize,
    /// The last byte was masked, so the next masked one needs no new mask.
    mask_written: bool,
}
