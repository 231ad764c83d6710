//! The message of a condition and the note of an event about a failure.

use super::fixed_texts::IDLE;
use crate::text::{bounded, safe};
use crate::verdict::failure::{Failure, FailureSource};

/// The API accepts 32 KiB, but the message is read in a terminal, is part of every write of the NodeClaim,
/// and is repeated by Karpenter in an event.
pub const MAX_MESSAGE_BYTES: usize = 512;

/// Limit of the API server.
pub const MAX_NOTE_BYTES: usize = 1024;

pub(super) const SEE: &str = "See VM extension logs for details.";

/// Marks a failure that only an event reports: any client that may create events in `default` can write one.
const UNCONFIRMED: &str = "Unconfirmed: ";
pub(super) const EVENT_ONLY: &str =
    " Only an event reports this; the VM was deleted before Azure could be read.";

pub fn condition(failure: &Failure) -> String {
    let (mark, source) = if failure.is_confirmed() { ("", "") } else { (UNCONFIRMED, EVENT_ONLY) };
    let head = head(failure);
    let cause = with_effective(&failure.sentence, failure.effective.as_ref());
    let action =
        if failure.action.is_empty() { String::new() } else { format!(" {}.", failure.action) };
    // Reserves the space of a suffix that may be appended later.
    let (tail, kept) = match failure.source {
        FailureSource::Registration => (String::new(), IDLE.len()),
        _ => (format!("{source} {SEE}"), 0),
    };
    let room = MAX_MESSAGE_BYTES - tail.len() - kept;
    bounded(&format!("{mark}{head}: {cause}.{action}"), room) + &tail
}

/// Returns the note of an event: the reported code first, then the cause if different.
pub fn note(failure: &Failure, node: &str) -> String {
    let node = safe(node, 128);
    let mut text = match (failure.code, &failure.name) {
        (Some(code), Some(name)) => format!("CSE exited with code {code} on node {node}: {name}"),
        (Some(code), None) => format!("CSE exited with code {code} on node {node}: unknown code"),
        (None, Some(name)) => format!("CSE failed without an exit code on node {node}: {name}"),
        (None, None) if failure.source == FailureSource::Clock => {
            format!("CSE did not finish on node {node}: {}", failure.sentence)
        }
        (None, None) if failure.source == FailureSource::Registration => {
            let evidence = failure.evidence.as_ref();
            let output =
                evidence.map_or_else(String::new, |end| format!(". CSE output ends with: {end}"));
            format!(
                "Node {node} did not register: {}. {}{output}",
                failure.sentence, failure.action
            )
        }
        (None, None) => format!("CSE failed without an exit code on node {node}"),
    };
    if let Some(effective) = &failure.effective {
        text.push_str(". ");
        text.push_str(&with_effective(&failure.sentence, Some(effective)));
    }
    if failure.is_confirmed() {
        return bounded(&text, MAX_NOTE_BYTES);
    }
    let tail = EVENT_ONLY.trim_end_matches('.');
    bounded(&format!("{UNCONFIRMED}{text}."), MAX_NOTE_BYTES - tail.len()) + tail
}

fn head(failure: &Failure) -> String {
    let name = failure.name.as_deref().map_or_else(String::new, |name| format!(" ({name})"));
    match failure.code {
        Some(code) => format!("CSE exited with code {code}{name}"),
        None if failure.source == FailureSource::Clock => "CSE did not finish".to_owned(),
        None if failure.source == FailureSource::Registration => {
            "The node did not register".to_owned()
        }
        None => format!("CSE failed without an exit code{name}"),
    }
}

fn with_effective(sentence: &str, effective: Option<&(i32, String)>) -> String {
    match effective {
        Some((code, name)) if name.is_empty() => format!("{sentence} ({code})"),
        Some((code, name)) => format!("{sentence} ({code} {name})"),
        None => sentence.to_owned(),
    }
}
