//! Diagnoses by the line that says of a component that it failed, where no rule fits.

use std::ops::Range;

use crate::cause::{Component, Confidence};
use crate::decode::{BootstrapOutcome, DecodedMessage};
use crate::diagnose::components::component_of;
use crate::diagnose::evidence::quote;
use crate::diagnose::scope::{MAX_LINE, is_of_others, is_presumed, line_around, names_nodes};
use crate::diagnose::wording_case::worded_message;
use crate::diagnosis::{Diagnosis, Rung};
use crate::hints::Hints;
use crate::text::ScannedText;
use crate::text::phrases::{FAILURES, NOT_FAILURES, STRONG_FAILURES};

/// Lines before a failure that may name its component.
const LINES_BEFORE: usize = 6;
/// Lines that are tried.
const MAX_TRIED: usize = 64;

/// Returns the failure in the line that says most, if the text is about a node, its pool or its cluster.
pub(crate) fn sentence(text: &ScannedText, hints: Hints) -> Option<(DecodedMessage, Diagnosis)> {
    let is_node = names_nodes(text) || is_presumed(text);
    let strong = places(text, STRONG_FAILURES).map(|at| (at, 2));
    let weak = places(text, FAILURES).map(|at| (at, 1));
    let mut tried: Vec<(usize, u8)> = strong.chain(weak).collect();
    tried.sort_unstable_by_key(|(at, weight)| (std::cmp::Reverse(*weight), *at));
    tried.truncate(MAX_TRIED);
    let lines = tried.into_iter().filter_map(|(at, weight)| {
        let line = line_around(&text.bytes, at);
        if is_of_others(&text.phrases, &line) || is_success(text, &line) {
            return None;
        }
        let own = component_of(&text.bytes[line.clone()].to_ascii_lowercase(), is_node);
        let is_own = own.is_some();
        let before = || is_node.then(|| component_before(text, &line)).flatten();
        let component = own.or_else(before)?;
        let weight = weight + u8::from(is_own) * 2 + u8::from(is_error(&text.bytes[line.clone()]));
        Some((weight, at, component))
    });
    let (_, at, component) =
        lines.max_by_key(|(weight, at, _)| (*weight, std::cmp::Reverse(*at)))?;
    Some(by_line(text, at, component, hints))
}

fn by_line(
    text: &ScannedText,
    at: usize,
    component: &'static Component,
    hints: Hints,
) -> (DecodedMessage, Diagnosis) {
    let message = worded_message(text, at, None);
    let cause = component.cause;
    let diagnosis = Diagnosis {
        os: hints.os,
        outcome: BootstrapOutcome::NoCode,
        confidence: Confidence::Low,
        rung: Rung::Sentence,
        component: Some(component.name),
        summary: format!("{} No rule of Mooring fits; the line says it.", cause.summary),
        evidence: vec![quote(&text.bytes, &message, decisive(&text.bytes, at))],
        ..Diagnosis::from_cause(cause)
    };
    (message, diagnosis)
}

fn places<'t>(text: &'t ScannedText, phrases: &'t [usize]) -> impl Iterator<Item = usize> + 't {
    phrases.iter().flat_map(|phrase| text.phrases.places(*phrase))
}

fn is_success(text: &ScannedText, line: &Range<usize>) -> bool {
    places(text, NOT_FAILURES).any(|at| line.contains(&at))
}

/// Returns the component that lines before name, unless one of them is about a pod or another service.
fn component_before(text: &ScannedText, line: &Range<usize>) -> Option<&'static Component> {
    let mut start = line.start;
    for _ in 0..LINES_BEFORE {
        let before = &text.bytes[..start.saturating_sub(1)];
        start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    }
    let before = start.max(line.start.saturating_sub(2 * MAX_LINE))..line.start;
    let is_ours = !is_of_others(&text.phrases, &before) && !is_success(text, &before);
    let words = is_ours.then(|| text.bytes[before].to_ascii_lowercase())?;
    component_of(&words, true)
}

/// Returns the position of the error in a structured log line, otherwise that of the failure.
fn decisive(text: &[u8], at: usize) -> usize {
    let line = line_around(text, at);
    let labels: [&[u8]; 2] = [b"\"error\":\"", b"\"error\"=\""];
    let ends = labels.iter().filter_map(|label| {
        memchr::memmem::find(&text[line.clone()], label).map(|start| start + label.len())
    });
    ends.min().map_or(at, |end| line.start + end)
}

/// `E1120 12:37:52.949649`, `level=error`, `"level":"ERROR"`, `ERROR:`.
fn is_error(line: &[u8]) -> bool {
    let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    let is_klog = |word: &[u8]| {
        word.len() == 5
            && matches!(word[0], b'E' | b'F')
            && word[1..].iter().all(u8::is_ascii_digit)
    };
    [b"ERROR".as_slice(), b"FATAL", b"level=error", b"level=fatal"].into_iter().any(has)
        || line.split(u8::is_ascii_whitespace).any(is_klog)
}
