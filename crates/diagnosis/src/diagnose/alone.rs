//! Diagnoses of texts that are nothing but an exit code, the phrases of a wording or a clue of a rule.
//!
//! Such a text names no other subject, so it is taken as one about a node, with low confidence.

use std::ops::Range;

use mooring_codes::all;

use crate::cause::Confidence;
use crate::cause::wording::Subject;
use crate::decode::{BootstrapOutcome, DecodedMessage};
use crate::diagnose::code::diagnose_code;
use crate::diagnose::evidence::quote;
use crate::diagnose::rules;
use crate::diagnose::rules::{MAX_CODES, Rule};
use crate::diagnose::wording_case::{from_wording, worded_message};
use crate::diagnose::wordings::matches;
use crate::diagnosis::Diagnosis;
use crate::hints::Hints;
use crate::text::ScannedText;
use crate::text::scan::Clue;
use crate::text::scan::TextMark;

const MAX_BYTES: usize = 512;

/// Returns the failures in a text without any other words.
pub(crate) fn alone(text: &ScannedText, hints: Hints) -> Vec<(DecodedMessage, Diagnosis)> {
    if text.bytes.len() > MAX_BYTES {
        return Vec::new();
    }
    let coded = by_code(text, hints);
    if !coded.is_empty() {
        return coded;
    }
    by_wording(text, hints).or_else(|| by_clue(text, hints)).into_iter().collect()
}

/// Words that a log or a person writes beside an exit code.
const CODE_WORDS: [&str; 16] = [
    "code",
    "cse",
    "error",
    "exit",
    "exitcode",
    "exited",
    "exit_code",
    "failed",
    "node",
    "provisioning",
    "returned",
    "script",
    "status",
    "the",
    "vmsscse",
    "with",
];

/// Returns the exit code of a text that has no other words: `ExitCode: 211`, `exit status 50`, `CSE exited 211`, `211`, or
/// the code with its name.
pub fn code_alone(text: &str) -> Option<i32> {
    if let Some((number, name)) = text.trim().split_once(' ')
        && let Ok(code) = number.parse()
        && all().any(|row| row.number == code && row.name.eq_ignore_ascii_case(name.trim()))
    {
        return Some(code);
    }
    let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-';
    let mut code = None;
    for word in text.split(is_end).filter(|word| !word.is_empty()) {
        if CODE_WORDS.contains(&word.to_ascii_lowercase().as_str()) {
            continue;
        }
        if code.is_some() || word.len() > 4 {
            return None;
        }
        code = Some(word.parse().ok()?);
    }
    code
}

fn by_code(text: &ScannedText, hints: Hints) -> Vec<(DecodedMessage, Diagnosis)> {
    let text_of = std::str::from_utf8(&text.bytes).ok();
    let Some(code) = text_of.and_then(code_alone) else { return Vec::new() };
    let message = worded_message(text, 0, None);
    let evidence = || vec![quote(&text.bytes, &message, 0)];
    let diagnoses = diagnose_code(code, hints).into_iter();
    diagnoses.map(|one| (message.clone(), Diagnosis { evidence: evidence(), ..one })).collect()
}

fn by_wording(text: &ScannedText, hints: Hints) -> Option<(DecodedMessage, Diagnosis)> {
    let all = 0..text.bytes.len();
    let mut fitting = matches(&text.bytes, &text.phrases, all, Subject::Node);
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
        let rule = rule_of(clue).filter(|_| {
            is_sentence && (fills(text, [range.clone()]) || fills_line(text, range.clone()))
        })?;
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

/// Returns the rule of a clue that has one cause for every exit code, or says that the clue alone has its cause. That of a
/// timeout has several.
fn rule_of(clue: Clue) -> Option<&'static Rule> {
    let has = |rule: &&Rule| rule.clues.iter().any(|group| group.contains(&clue));
    if let Some(rule) = rules::all().filter(has).find(|rule| rule.alone) {
        return Some(rule);
    }
    let rule = rules::all().find(has)?;
    let is_other = |other: &Rule| other.cause.reason != rule.cause.reason;
    let is_ambiguous = rules::all().filter(has).any(is_other);
    let is_enough = rule.clues.len() == 1
        && rule.outcome == BootstrapOutcome::Failed
        && rule.codes.len() <= MAX_CODES
        && rule.seconds.is_none();
    (is_enough && !is_ambiguous).then_some(rule)
}

/// Words of tools around a clue, apart from addresses and numbers.
const TOOL_WORDS: [&[u8]; 10] =
    [b"curl:", b"wget:", b"error:", b"dial", b"tcp", b"tcp:", b"udp", b"get", b"lookup", b"on"];

/// Returns true if a text has a clue, and otherwise only addresses, numbers and names of tools.
fn fills_line(text: &ScannedText, clue: Range<usize>) -> bool {
    let clue = clue.start..clue.end.min(text.bytes.len());
    let (before, after) = (&text.bytes[..clue.start], &text.bytes[clue.end..]);
    // A clue that ends within a word is part of another one.
    let is_whole = !after.first().is_some_and(u8::is_ascii_alphanumeric)
        && !before.last().is_some_and(u8::is_ascii_alphanumeric);
    let is_context = |word: &[u8]| {
        let is_address = || {
            let inner = word.trim_ascii_end().strip_suffix(b":").unwrap_or(word);
            inner.windows(2).any(|pair| pair[0] == b'.' && pair[1].is_ascii_alphanumeric())
        };
        !word.iter().any(u8::is_ascii_alphabetic) && word.is_ascii()
            || TOOL_WORDS.contains(&word.to_ascii_lowercase().as_slice())
            || is_address()
    };
    let mut words =
        before.split(u8::is_ascii_whitespace).chain(after.split(u8::is_ascii_whitespace));
    is_whole && words.all(is_context)
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
