//! Fitting a report into the window through which Azure sees it.

use super::write::ESCAPE;
use super::{CseStatus, Timings};
use crate::json::escaped_len;

/// The Custom Script Extension keeps the last 4,096 bytes of what a command prints. A longer
/// report loses its *head*, and with it the exit code.
pub const EXTENSION_WINDOW: usize = 4096;

/// A decimal number of 64 bits and its sign: no usable exit code is longer.
const LONGEST_CODE: usize = 20;

impl CseStatus {
    /// The report as one line with its line end, in at most `limit` bytes.
    ///
    /// A report that fits is unchanged. Otherwise `Output` loses its beginning (its end says what
    /// failed), then `Diagnosis` and then `Error` lose their end, as far as needed; timings go only
    /// if the report would not fit without any of these. The result is always valid JSON with
    /// `ExitCode` first, even where `limit` is too small for that.
    pub fn fit(&self, limit: usize) -> String {
        let excess = |status: &Self| line_len(status).saturating_sub(limit);
        if excess(self) == 0 {
            return line(self);
        }
        let mut status = self.clone();
        if line_len(&status.without_texts()) > limit {
            status.timings = Timings::default();
            status.hotfix.clear();
            // Written anew, so that zeros in front cannot push the code's own digits out.
            if let Ok(code) = status.code() {
                status.exit_code = code.to_string();
            }
            status.exit_code.truncate(status.exit_code.floor_char_boundary(LONGEST_CODE));
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

/// The end of a text, shorter by at least `excess` bytes as written.
fn without_front(text: &str, excess: usize) -> &str {
    &text[cut(text.chars(), excess)..]
}

/// The beginning of a text, shorter by at least `excess` bytes as written.
fn without_back(text: &str, excess: usize) -> &str {
    &text[..text.len() - cut(text.chars().rev(), excess)]
}

/// How many bytes of text to drop so that at least `excess` written bytes go.
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
