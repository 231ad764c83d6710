//! Bootstrap messages and their exit codes.

use crate::decode::inferred_codes::{add_names, arm_code_alone, report_without_head};
use crate::decode::interpret::interpret;
use crate::decode::merge::merge;
use crate::hints::Hints;
use crate::read::facts::gather;
use crate::text::ScannedText;

mod decoded;
mod inferred_codes;
mod interpret;
pub(crate) mod merge;

pub(crate) use decoded::DecodedMessage;
pub use decoded::{BootstrapOutcome, Decoded, FoundBy, Situation};

/// Returns the messages about node bootstraps, in the order of the text.
///
/// Accepts any bytes: escaped any number of times, truncated, wrapped, quoted, marked up. Time and memory are
/// proportional to the input.
pub fn decode(input: &[u8]) -> Vec<Decoded> {
    read(input, Hints::default()).1.into_iter().map(|message| message.decoded).collect()
}

/// Decodes a text. If no message has a good code, joins the lines, which a terminal may have wrapped within words, and
/// decodes them again.
///
/// The date of the image is for names whose number changed over time.
pub(crate) fn read(input: &[u8], hints: Hints) -> (ScannedText, Vec<DecodedMessage>) {
    let text = ScannedText::new(input);
    let messages = interpret_all(&text, hints);
    let coded =
        |all: &[DecodedMessage]| all.iter().any(|one| one.decoded.code.is_some() && !one.weak);
    let is_other = |one: &DecodedMessage| one.decoded.outcome == BootstrapOutcome::NotABootstrap;
    if !coded(&messages)
        && !messages.iter().any(is_other)
        && let Some(joined) = text.in_one_line()
    {
        let rejoined = interpret_all(&joined, hints);
        if coded(&rejoined) {
            return (joined, rejoined);
        }
    }
    (text, messages)
}

fn interpret_all(text: &ScannedText, hints: Hints) -> Vec<DecodedMessage> {
    let read = gather(&text.bytes, &text.hits, hints);
    let mut messages =
        merge(read.messages.iter().map(|message| interpret(&read, message)).collect());
    add_names(&read, &mut messages, hints.image_date);
    if messages.is_empty() {
        messages.extend(arm_code_alone(&read).or_else(|| report_without_head(&read)));
    }
    messages
}
