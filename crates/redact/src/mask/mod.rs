//! Likely secrets in text of other systems.
//!
//! | module | contents |
//! |---|---|
//! | `labeled` | values after a name, a header, a flag or a verb |
//! | `values` | start and end of a value |
//! | `urls` | user information and queries |

mod labeled;
mod urls;
mod values;

use std::borrow::Cow;
use std::ops::Range;

use crate::{MASK, looks_secret};

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

/// Returns the likely secrets of a text; one may occur twice.
pub fn likely_secrets(text: &str) -> Vec<&str> {
    found(text).into_iter().map(|range| &text[range]).collect()
}

/// Returns the byte ranges of likely secrets in a line: sorted, and never touching each other.
pub fn secret_ranges(line: &str) -> Vec<Range<usize>> {
    merged(found(line))
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

fn found(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    labeled::find(line, &mut found);
    for (at, word) in split_words(line, char::is_whitespace) {
        urls::find(word, at, &mut found);
    }
    let known = merged(found.clone());
    for (at, word) in split_words(line, |c| c.is_whitespace() || matches!(c, '"' | '\'' | ',')) {
        // The parts of an address are names, however long they are together.
        let parts: fn(char) -> bool = if word.contains("://") { |c| c == '/' } else { |_| false };
        for (inside, part) in split_words(word, parts) {
            let part = at + inside..at + inside + part.len();
            let left = remainder_of(part, &known);
            found.extend(left.into_iter().filter(|left| looks_secret(&line[left.clone()])));
        }
    }
    found
}

/// Returns the remainder of a part without the others, which are sorted.
fn remainder_of(part: Range<usize>, others: &[Range<usize>]) -> Vec<Range<usize>> {
    let first = others.partition_point(|other| other.end <= part.start);
    let mut left = Vec::new();
    let mut at = part.start;
    for other in others[first..].iter().take_while(|other| other.start < part.end) {
        left.push(at..other.start.max(at));
        at = other.end;
    }
    left.push(at..part.end.max(at));
    left
}

fn split_words(line: &str, parts: fn(char) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let begin = line.as_ptr() as usize;
    line.split(parts).map(move |word| (word.as_ptr() as usize - begin, word))
}

/// Sorts ranges and joins those that touch.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
