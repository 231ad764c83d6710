//! A line with masks.

use std::borrow::Cow;
use std::ops::Range;

use super::ranges::secret_ranges;
use crate::MASK;

/// Returns the line with a mask in place of every likely secret.
///
/// These are heuristics: a secret without a label that looks like a common word is not found. Masking too much is
/// harmless, but messages and paths stay readable.
pub fn mask_line(line: &str) -> Cow<'_, str> {
    let ranges = secret_ranges(line);
    if ranges.is_empty() {
        return Cow::Borrowed(line);
    }
    Cow::Owned(masked(line, &ranges, 0).0)
}

/// Returns the masked line, and the new offset of what was at `focus`.
pub fn mask_line_around(line: &str, focus: usize) -> (String, usize) {
    masked(line, &secret_ranges(line), focus)
}

fn masked(line: &str, secrets: &[Range<usize>], focus: usize) -> (String, usize) {
    let mut shown = String::with_capacity(line.len());
    let mut shown_focus = None;
    let mut at = 0;
    for range in secrets {
        if shown_focus.is_none() && focus < range.end {
            // A mask is short: its start is near enough.
            shown_focus = Some(shown.len() + focus.min(range.start) - at);
        }
        shown.push_str(&line[at..range.start]);
        shown.push_str(MASK);
        at = range.end;
    }
    let focus = shown_focus.unwrap_or(shown.len() + focus.saturating_sub(at));
    shown.push_str(&line[at..]);
    let focus = shown.floor_char_boundary(focus.min(shown.len()));
    (shown, focus)
}
