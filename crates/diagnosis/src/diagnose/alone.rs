//! Diagnoses of texts that are nothing but the phrases of a wording or a clue of a rule.
//!
//! Such a text names no other subject, so it is taken as one about a node, with low confidence.

use std::ops::Range;

use crate::cause::confidence::Confidence;
use crate::decode::decoded::BootstrapOutcome;
use crate::decode::decoded_message::DecodedMessage;
use crate::diagnose::evidence::quote;
use crate::diagnose::rule::{MAX_CODES, Rule};
use crate::diagnose::rules;
use crate::diagnose::wording_case::{from_wording, worded_message};
use crate::diagnose::wordings::matches;
use crate::diagnosis::{Diagnosis, Hints};
use crate::text::clues::Clue;
use crate::text::scan::TextMark;
use crate::text::scanned::ScannedText;

const MAX_BYTES: usize = 512;

/// Returns the failure in a text without any other words.
pub(crate) fn alone(text: &ScannedText, hints: Hints) -> Option<(DecodedMessage, Diagnosis)> {
    if text.bytes.len() > MAX_BYTES {
        return None;
    }
    by_wording(text, hints).or_else(|| by_clue(text, hints))
}

fn by_wording(text: &ScannedText, hints: Hints) -> Option<(DecodedMessage, Diagnosis)> {
    let all = 0..text.bytes.len();
    let mut fitting = matches(&text.bytes, &text.phrases, all, true);
    let found = fitting.find(|found| fills(text, found.wording.ranges(&text.phrases)))?;
    let message = worded_message(text, found.at, Some(found.wording));
    let diagnosis = Diagnosis {
        os: found.wording.os.or(hints.os),
        confidence: Confidence::Low,
        ..from_wording(text, &message, found)
    };
    Some((message, diagnosis))
}

fn by_clue(text: &ScannedText, hints: Hints) -> Option<(DecodedMessage, Diagnosis)> {
    let mut clues = text.hits.iter().filter_map(|hit| match hit.mark {
        TextMark::Clue(clue) => Some((clue, hit.start()..hit.end())),
        TextMark::Anchor(_) => None,
    });
    let (rule, at) = clues.find_map(|(clue, range)| {
        // A single word is a name or an address, and no failure.
        let is_sentence = text.bytes[range.clone()].contains(&b' ');
        let rule = rule_of(clue).filter(|_| is_sentence && fills(text, [range.clone()]))?;
        Some((rule, range.start))
    })?;
    let message = worded_message(text, at, None);
    let diagnosis = Diagnosis {
        os: rule.os.or(hints.os),
        outcome: BootstrapOutcome::NoCode,
        rule: Some(rule.name),
        evidence: vec![quote(&text.bytes, &message, at)],
        ..Diagnosis::from_cause(rule.cause)
    };
    Some((message, diagnosis))
}

/// Returns the rule of a clue that has one cause for every exit code. That of a timeout has several.
fn rule_of(clue: Clue) -> Option<&'static Rule> {
    let has = |rule: &&Rule| rule.clues.iter().any(|group| group.contains(&clue));
    let rule = rules::all().find(has)?;
    let is_other = |other: &Rule| other.cause.reason != rule.cause.reason;
    let is_ambiguous = rules::all().filter(has).any(is_other);
    let is_enough = rule.clues.len() == 1
        && rule.outcome == BootstrapOutcome::Failed
        && rule.codes.len() <= MAX_CODES
        && rule.seconds.is_none();
    (is_enough && !is_ambiguous).then_some(rule)
}

/// Returns true if all words of a text are in the ranges. A phrase that ends in a colon includes the value that follows.
fn fills(text: &ScannedText, ranges: impl IntoIterator<Item = Range<usize>>) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let mut words: Vec<bool> = text.bytes.iter().map(is_word).collect();
    for range in ranges {
        let end = range.end.min(words.len());
        let start = range.start.min(end);
        let value = match text.bytes[start..end].trim_ascii_end() {
            [.., b':'] => {
                text.bytes[end..].iter().take_while(|byte| byte.is_ascii_graphic()).count()
            }
            _ => 0,
        };
        words[start..end + value].fill(false);
    }
    !words.contains(&true)
}
