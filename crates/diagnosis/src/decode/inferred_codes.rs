//! Codes that are not written as numbers: AKS error names and messages, and ARM errors.

use mooring_codes::{Date, ExitCode, Os, by_name, image_date};

use crate::decode::decoded::{BootstrapOutcome, DecodedMessage, FoundBy, Situation};
use crate::decode::interpret::interpret;
use crate::read::message::{Located, Opener};
use crate::read::reading::TextReading;

/// Adds the codes of AKS names and messages, unless a message has a better code.
pub(crate) fn add_names(
    read: &TextReading<'_>,
    messages: &mut Vec<DecodedMessage>,
    day: Option<Date>,
) {
    let is_ours = |one: &DecodedMessage| one.decoded.outcome != BootstrapOutcome::NotABootstrap;
    if messages.iter().any(|one| is_ours(one) && one.decoded.code.is_some() && !one.weak) {
        return;
    }
    let windows = read.loose.is_windows
        || messages.iter().any(|one| is_ours(one) && one.decoded.os == Some(Os::Windows));
    if windows {
        return;
    }
    let image = read.loose.image.as_deref().and_then(|image| image_date(image).ok());
    let day = day.or(image);
    let named = read.names.iter().filter_map(|name| {
        Some((FoundBy::AksName, Located { value: named_code(&name.value, day)?, at: name.at }))
    });
    let mut codes: Vec<(FoundBy, Located<i64>)> = named.collect();
    if codes.is_empty() {
        codes.extend(read.sentences.iter().map(|found| (FoundBy::Sentence, *found)));
    }
    codes.dedup_by_key(|(_, found)| found.value);
    let mut codes = codes.into_iter();
    if let Some(message) = messages.iter_mut().find(|one| is_ours(one)) {
        if let Some(code) = codes.next() {
            set_code(message, code);
        }
        return;
    }
    for code in codes {
        let mut message = message_without_code(read, code.1.at);
        set_code(&mut message, code);
        messages.push(message);
    }
}

fn named_code(name: &str, day: Option<Date>) -> Option<i64> {
    let rows = by_name(name);
    let held = |row: &&&'static ExitCode| match day {
        Some(day) => row.removed.is_some_and(|removed| day < removed),
        None => false,
    };
    let linux = || rows.iter().filter(|row| row.os == Os::Linux);
    let row = linux().find(held).or_else(|| linux().next())?;
    Some(row.number.into())
}

fn set_code(message: &mut DecodedMessage, (by, found): (FoundBy, Located<i64>)) {
    message.decoded.code = i32::try_from(found.value).ok();
    message.decoded.found_by = Some(by);
    message.decoded.outcome = BootstrapOutcome::Failed;
    message.decoded.situation = None;
    message.decoded.os = Some(Os::Linux);
    message.at = Some(found.at);
    message.weak = false;
}

/// Returns a failure that has only an ARM error code or an unknown AKS name.
pub(crate) fn arm_code_alone(read: &TextReading<'_>) -> Option<DecodedMessage> {
    if read.loose.run_command {
        return None;
    }
    let named = read.names.iter().find(|name| name.value.contains('_'));
    let found = match (named, read.arm_codes.first()) {
        (Some(name), _) => Located { value: name.value.clone(), at: name.at },
        (None, Some(code)) => Located { value: code.value.to_owned(), at: code.at },
        (None, None) => return None,
    };
    let mut message = message_without_code(read, found.at);
    let code = found.value.to_ascii_lowercase();
    message.decoded.situation = Some(match code.as_str() {
        "vmextensionprovisioningtimeout" | "vmextensionerror_provisioningtimeout" => {
            Situation::TimedOut
        }
        "vmextensionhandlernontransienterror" => Situation::HandlerFailed,
        "vmagentstatuscommunicationerror" | "osprovisioningtimedout" | "vmstarttimedout" => {
            Situation::AgentSilent
        }
        _ => Situation::ArmCodeOnly,
    });
    message.decoded.arm_code = Some(found.value);
    Some(message)
}

/// Returns the failure of a report without its head, and so without its code.
pub(crate) fn report_without_head(read: &TextReading<'_>) -> Option<DecodedMessage> {
    let ran = read.loose.duration.is_some() && !read.loose.run_command;
    ran.then(|| message_without_code(read, 0))
}

/// Returns a failure with the facts outside of messages.
fn message_without_code(read: &TextReading<'_>, at: usize) -> DecodedMessage {
    let mut message = read.loose.clone();
    message.opener = Opener::Sentence;
    message.span = 0..read.text.len();
    let mut message = interpret(read, &message);
    message.decoded.outcome = BootstrapOutcome::NoCode;
    message.decoded.code = None;
    message.decoded.found_by = None;
    message.at = Some(at);
    message.weak = false;
    message
}
