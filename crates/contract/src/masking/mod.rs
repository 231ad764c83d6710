//! Secrets in foreign text, masked. Everything that is quoted goes through here.
//!
//! | module | idea |
//! |---|---|
//! | `names` | names behind which a secret stands, and words that are none |
//! | `announced` | secrets behind a name, a header, a flag, a sentence |
//! | `values` | where a value begins and ends |
//! | `addresses` | user information and queries |

mod addresses;
mod announced;
mod names;
mod values;

use std::ops::Range;

use crate::{MASK, looks_secret};

pub use names::names_secret;

/// The line with everything masked that is, or may be, a secret.
///
/// This goes by likeness: what nothing announces and what looks like nothing special, stays. Masking too much is
/// harmless, but words of a sentence and paths stay readable.
#[must_use]
pub fn masked(line: &str) -> String {
    masked_around(line, 0).0
}

/// What in a text is, or may be, a secret; the same may be told twice.
#[must_use]
pub fn likely_secrets(text: &str) -> Vec<&str> {
    found(text).into_iter().map(|range| &text[range]).collect()
}

/// The byte ranges of a line that are, or may be, secrets: sorted, and never touching each other.
#[must_use]
pub fn secret_ranges(line: &str) -> Vec<Range<usize>> {
    merged(found(line))
}

/// The masked line, and where that is now which stood at `focus`.
#[must_use]
pub fn masked_around(line: &str, focus: usize) -> (String, usize) {
    let mut shown = String::with_capacity(line.len());
    let mut shown_focus = None;
    let mut at = 0;
    for range in secret_ranges(line) {
        if shown_focus.is_none() && focus < range.end {
            // What is masked is short: its beginning is near enough.
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
    announced::find(line, &mut found);
    for (at, word) in words(line, char::is_whitespace) {
        addresses::find(word, at, &mut found);
    }
    let known = merged(found.clone());
    for (at, word) in words(line, |c| c.is_whitespace() || matches!(c, '"' | '\'' | ',')) {
        // The parts of an address are names, however long they are together.
        let parts: fn(char) -> bool = if word.contains("://") { |c| c == '/' } else { |_| false };
        for (inside, part) in words(word, parts) {
            let part = at + inside..at + inside + part.len();
            let left = left_of(part, &known);
            found.extend(left.into_iter().filter(|left| looks_secret(&line[left.clone()])));
        }
    }
    found
}

/// What is left of a part where others, in order, are taken out of it.
fn left_of(part: Range<usize>, others: &[Range<usize>]) -> Vec<Range<usize>> {
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

/// Words, and where they begin.
fn words(line: &str, parts: fn(char) -> bool) -> impl Iterator<Item = (usize, &str)> {
    let begin = line.as_ptr() as usize;
    line.split(parts).map(move |word| (word.as_ptr() as usize - begin, word))
}

/// In order, and what touches as one.
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
