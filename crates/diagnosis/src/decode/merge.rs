//! The same message, told more than once.
//!
//! Azure repeats: ARM's error within AKS's, the handler's text within itself, a summary before its
//! details. What is about the same extension on the same instance and has the same code is one.

use crate::decode::decoded::Outcome;
use crate::decode::decoded_message::{DecodedMessage, Item};
use crate::read::message::Opener;

pub(crate) fn merge(told: Vec<DecodedMessage>) -> Vec<DecodedMessage> {
    // Beside each message, the list that it was told in last.
    let mut kept: Vec<(DecodedMessage, usize)> = Vec::new();
    let mut list = 0;
    let mut before = Item::Alone;
    for mut one in told {
        if begins_a_list(before, one.item) {
            list += 1;
        }
        before = one.item;
        let same = kept.iter_mut().find(|(other, told_in)| {
            let instance = one.decoded.instance;
            let known = instance.is_some() && instance == other.decoded.instance;
            (*told_in != list || known) && is_same(other, &one)
        });
        match same {
            Some((other, told_in)) => {
                if trust(&one) < trust(other) {
                    std::mem::swap(other, &mut one);
                }
                fill(other, one);
                *told_in = list;
            }
            None => kept.push((one, list)),
        }
    }
    kept.into_iter().map(|(told, _)| told).collect()
}

/// Whether a message does not belong to the list that the one before it was in.
fn begins_a_list(before: Item, item: Item) -> bool {
    match item {
        Item::Alone => true,
        Item::Listed => before == Item::Viewed,
        Item::Viewed => before != Item::Viewed,
    }
}

pub(crate) fn trust(told: &DecodedMessage) -> (bool, bool, u8) {
    let by = told.decoded.found_by.map_or(u8::MAX, |by| by as u8);
    (told.decoded.code.is_none(), told.weak, by)
}

pub(crate) fn is_same(one: &DecodedMessage, other: &DecodedMessage) -> bool {
    if one.worded.is_some() || other.worded.is_some() {
        let reason = |told: &DecodedMessage| told.worded.map(|wording| wording.cause.reason);
        return reason(one) == reason(other);
    }
    let (a, b) = (&one.decoded, &other.decoded);
    let ours = |told: &DecodedMessage| told.decoded.outcome != Outcome::NotABootstrap;
    let name = match (&a.extension, &b.extension) {
        (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
        _ => ours(one) && ours(other),
    };
    let instance = a.instance.is_none() || b.instance.is_none() || a.instance == b.instance;
    let os = a.os.is_none() || b.os.is_none() || a.os == b.os;
    let silent = |told: &DecodedMessage| told.opener == Opener::Sentence;
    let result = match (a.outcome, b.outcome) {
        _ if silent(one) || silent(other) => {
            silent(one) && silent(other) && a.situation == b.situation && a.instance == b.instance
        }
        (Outcome::Failed, Outcome::Failed) => a.code == b.code || one.weak || other.weak,
        // A message whose code was lost, next to one of the same extension that has it.
        (Outcome::Failed, Outcome::NoCode) | (Outcome::NoCode, Outcome::Failed) => true,
        (one, other) => one == other,
    };
    name && instance && os && result
}

/// Takes from a copy what the original lacks.
fn fill(told: &mut DecodedMessage, copy: DecodedMessage) {
    let (to, from) = (&mut told.decoded, copy.decoded);
    to.os = to.os.or(from.os);
    to.extension = to.extension.take().or(from.extension);
    to.publisher = to.publisher.take().or(from.publisher);
    to.extension_type = to.extension_type.take().or(from.extension_type);
    to.instance = to.instance.or(from.instance);
    to.image_version = to.image_version.take().or(from.image_version);
    to.exec_duration = to.exec_duration.or(from.exec_duration);
    to.status = to.status.take().or(from.status);
    to.step = to.step.take().or(from.step);
    // Only neighbours, so that messages never overlap and all of them together cost one pass.
    if copy.span.end == told.span.start || told.span.end == copy.span.start {
        told.span = told.span.start.min(copy.span.start)..told.span.end.max(copy.span.end);
    }
}
