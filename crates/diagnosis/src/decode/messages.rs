//! From any bytes to what they say, message by message.

use mooring_codes::Date;

use crate::decode::decoded::{Decoded, Outcome};
use crate::decode::decoded_message::DecodedMessage;
use crate::decode::implied::{add_names, arm_code_alone, report_without_head};
use crate::decode::interpret::tell;
use crate::decode::merge::merge;
use crate::read::facts::gather;
use crate::text::scanned::Text;

/// What a text says about node bootstraps, message by message, in the order of the text.
///
/// Any bytes will do: escaped any number of times, cut anywhere, wrapped, quoted, marked up. A text
/// without a message gives nothing. Takes time and memory in proportion to the input.
pub fn decode(input: &[u8]) -> Vec<Decoded> {
    read(input, None).1.into_iter().map(|told| told.decoded).collect()
}

/// Reads a text, also one that a terminal has cut into lines in the middle of words, which shows in
/// that no message has a good code until the lines are joined.
///
/// `day` is the image's, for names whose number has changed over the years.
pub(crate) fn read(input: &[u8], day: Option<Date>) -> (Text, Vec<DecodedMessage>) {
    let text = Text::of(input);
    let told = tell_all(&text, day);
    let coded =
        |told: &[DecodedMessage]| told.iter().any(|one| one.decoded.code.is_some() && !one.weak);
    let is_other = |one: &DecodedMessage| one.decoded.outcome == Outcome::NotABootstrap;
    if !coded(&told)
        && !told.iter().any(is_other)
        && let Some(joined) = text.in_one_line()
    {
        let retold = tell_all(&joined, day);
        if coded(&retold) {
            return (joined, retold);
        }
    }
    (text, told)
}

fn tell_all(text: &Text, day: Option<Date>) -> Vec<DecodedMessage> {
    let read = gather(&text.bytes, &text.hits);
    let mut told = merge(read.messages.iter().map(|message| tell(&read, message)).collect());
    add_names(&read, &mut told, day);
    if told.is_empty() {
        told.extend(arm_code_alone(&read).or_else(|| report_without_head(&read)));
    }
    told
}
