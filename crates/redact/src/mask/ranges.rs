//! Ranges of likely secrets in a text.

use std::ops::Range;

use super::{labeled, urls};
use crate::looks_secret;

/// Returns the likely secrets of a text; one may occur twice.
pub fn likely_secrets(text: &str) -> Vec<&str> {
    found(text).into_iter().map(|range| &text[range]).collect()
}

/// Returns the byte ranges of likely secrets in a line: sorted, and never touching each other.
pub fn secret_ranges(line: &str) -> Vec<Range<usize>> {
    merged(found(line))
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
