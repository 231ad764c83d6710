//! Truncation of a report to the size that Azure keeps.

use super::status::CseStatus;
use super::timings::Timings;
use super::write::ESCAPE;
use crate::json::escaped_len;

/// The Custom Script Extension keeps the last 4,096 bytes of a command's output. A longer
/// report loses its *head*, and with it the exit code.
pub const EXTENSION_WINDOW: usize = 4096;

/// A decimal number of 64 bits and its sign: no usable exit code is longer.
const MAX_CODE_LEN: usize = 20;

impl CseStatus {
    /// Returns the report as one line with its line end, in at most `limit` bytes.
    ///
    /// A report that fits is unchanged. Otherwise `Output` loses its beginning (the failure is at its end), then
    /// `Diagnosis` and then `Error` lose their end, as far as needed; timings are dropped only if the report would not
    /// fit otherwise. The result is always valid JSON with `ExitCode` first, even where `limit` is too small for that.
    pub fn fit(&self, limit: usize) -> String {
        let excess = |status: &Self| line_len(status).saturating_sub(limit);
        if excess(self) == 0 {
            return line(self);
        }
        let mut status = self.clone();
        if line_len(&status.without_texts()) > limit {
            status.timings = Timings::default();
            status.hotfix.clear();
            // Formatted again, so that leading zeros cannot displace the code's digits.
            if let Ok(code) = status.code() {
                status.exit_code = code.to_string();
            }
            status.exit_code.truncate(status.exit_code.floor_char_boundary(MAX_CODE_LEN));
        }
        status.output = without_front(&status.output, excess(&status)).to_owned();
        status.diagnosis = without_back(&status.diagnosis, excess(&status)).to_owned();
        status.error = without_back(&status.error, excess(&status)).to_owned();
        line(&status)
    }

    fn without_texts(&self) -> Self {
        Self {
            exit_code: self.exit_code.clone(),
            hotfix: self.hotfix.clone(),
            timings: self.timings.clone(),
            ..Self::default()
        }
    }
}

fn line(status: &CseStatus) -> String {
    status.to_json() + "\n"
}

fn line_len(status: &CseStatus) -> usize {
    line(status).len()
}

/// Returns the end of a text, shorter by at least `excess` bytes as written.
fn without_front(text: &str, excess: usize) -> &str {
    &text[cut(text.chars(), excess)..]
}

/// Returns the beginning of a text, shorter by at least `excess` bytes as written.
fn without_back(text: &str, excess: usize) -> &str {
    &text[..text.len() - cut(text.chars().rev(), excess)]
}

/// Returns the number of bytes of text to drop so that at least `excess` written bytes are dropped.
fn cut(characters: impl Iterator<Item = char>, excess: usize) -> usize {
    let mut dropped = 0;
    let mut saved = 0;
    for character in characters {
        if saved >= excess {
            break;
        }
        dropped += character.len_utf8();
        saved += escaped_len(character, ESCAPE);
    }
    dropped
}
