//! Merges repetitions of a message.
//!
//! Azure repeats messages: the ARM error within the AKS error, the handler's text within itself, a summary before its
//! details. Messages about the same extension and instance with the same code are one.

use crate::decode::decoded::Outcome;
use crate::decode::decoded_message::{DecodedMessage, Item};
use crate::read::message::Opener;

pub(crate) fn merge(messages: Vec<DecodedMessage>) -> Vec<DecodedMessage> {
    // Each message with the number of the last list that contained it.
    let mut kept: Vec<(DecodedMessage, usize)> = Vec::new();
    let mut list = 0;
    let mut before = Item::Alone;
    for mut one in messages {
        if begins_a_list(before, one.item) {
            list += 1;
        }
        before = one.item;
        let same = kept.iter_mut().find(|(other, last_list)| {
            let instance = one.decoded.instance;
            let known = instance.is_some() && instance == other.decoded.instance;
            (*last_list != list || known) && is_same(other, &one)
        });
        match same {
            Some((other, last_list)) => {
                if trust(&one) < trust(other) {
                    std::mem::swap(other, &mut one);
                }
                fill(other, one);
                *last_list = list;
            }
            None => kept.push((one, list)),
        }
    }
    kept.into_iter().map(|(message, _)| message).collect()
}

/// Returns true if a message is not in the list of the one before it.
fn begins_a_list(before: Item, item: Item) -> bool {
    match item {
        Item::Alone => true,
        Item::Listed => before == Item::Viewed,
        Item::Viewed => before != Item::Viewed,
    }
}

/// Ranks the code of a message; lower is more reliable.
pub(crate) fn trust(message: &DecodedMessage) -> (bool, bool, u8) {
    let by = message.decoded.found_by.map_or(u8::MAX, |by| by as u8);
    (message.decoded.code.is_none(), message.weak, by)
}

pub(crate) fn is_same(one: &DecodedMessage, other: &DecodedMessage) -> bool {
    if one.worded.is_some() || other.worded.is_some() {
        let reason = |message: &DecodedMessage| message.worded.map(|wording| wording.cause.reason);
        return reason(one) == reason(other);
    }
    let (a, b) = (&one.decoded, &other.decoded);
    let ours = |message: &DecodedMessage| message.decoded.outcome != Outcome::NotABootstrap;
    let name = match (&a.extension, &b.extension) {
        (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
        _ => ours(one) && ours(other),
    };
    let instance = a.instance.is_none() || b.instance.is_none() || a.instance == b.instance;
    let os = a.os.is_none() || b.os.is_none() || a.os == b.os;
    let silent = |message: &DecodedMessage| message.opener == Opener::Sentence;
    let result = match (a.outcome, b.outcome) {
        _ if silent(one) || silent(other) => {
            silent(one) && silent(other) && a.situation == b.situation && a.instance == b.instance
        }
        (Outcome::Failed, Outcome::Failed) => a.code == b.code || one.weak || other.weak,
        // One message lost its code; the other one of the same extension has it.
        (Outcome::Failed, Outcome::NoCode) | (Outcome::NoCode, Outcome::Failed) => true,
        (one, other) => one == other,
    };
    name && instance && os && result
}

/// Adds facts from a repetition.
fn fill(message: &mut DecodedMessage, copy: DecodedMessage) {
    let (to, from) = (&mut message.decoded, copy.decoded);
    to.os = to.os.or(from.os);
    to.extension = to.extension.take().or(from.extension);
    to.instance = to.instance.or(from.instance);
    to.image_version = to.image_version.take().or(from.image_version);
    to.exec_duration = to.exec_duration.or(from.exec_duration);
    to.status = to.status.take().or(from.status);
    to.step = to.step.take().or(from.step);
    // Only adjacent spans, so that messages never overlap and all of them are read in one pass.
    if copy.span.end == message.span.start || message.span.end == copy.span.start {
        message.span = message.span.start.min(copy.span.start)..message.span.end.max(copy.span.end);
    }
}
