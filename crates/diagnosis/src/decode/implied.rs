//! Codes that nobody has written as a number: AKS's names and sentences, and ARM's own errors.

use mooring_codes::{Date, ExitCode, Os, by_name, image_date};

use crate::decode::decoded::{FoundBy, Outcome, Situation};
use crate::decode::decoded_message::DecodedMessage;
use crate::decode::interpret::tell;
use crate::read::message::{Found, Opener};
use crate::read::reading::Read;

/// AKS's names and sentences count where no message has a better code.
pub(crate) fn add_names(read: &Read<'_>, told: &mut Vec<DecodedMessage>, day: Option<Date>) {
    let is_ours = |told: &DecodedMessage| told.decoded.outcome != Outcome::NotABootstrap;
    if told.iter().any(|one| is_ours(one) && one.decoded.code.is_some() && !one.weak) {
        return;
    }
    let windows = read.loose.says_windows
        || told.iter().any(|one| is_ours(one) && one.decoded.os == Some(Os::Windows));
    if windows {
        return;
    }
    let image = read.loose.image.as_deref().and_then(|image| image_date(image).ok());
    let day = day.or(image);
    let named = read.names.iter().filter_map(|name| {
        Some((FoundBy::AksName, Found { value: named_code(&name.value, day)?, at: name.at }))
    });
    let mut codes: Vec<(FoundBy, Found<i64>)> = named.collect();
    if codes.is_empty() {
        codes.extend(read.sentences.iter().map(|found| (FoundBy::Sentence, *found)));
    }
    codes.dedup_by_key(|(_, found)| found.value);
    let mut codes = codes.into_iter();
    if let Some(message) = told.iter_mut().find(|one| is_ours(one)) {
        if let Some(picked) = codes.next() {
            give(message, picked);
        }
        return;
    }
    for picked in codes {
        let mut message = nothing_but(read, picked.1.at);
        give(&mut message, picked);
        told.push(message);
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

fn give(told: &mut DecodedMessage, (by, found): (FoundBy, Found<i64>)) {
    told.decoded.code = i32::try_from(found.value).ok();
    told.decoded.found_by = Some(by);
    told.decoded.outcome = Outcome::Failed;
    told.decoded.situation = None;
    told.decoded.os = Some(Os::Linux);
    told.at = Some(found.at);
    told.weak = false;
}

/// A failure of which only an ARM code, or an unknown name of AKS, is told.
pub(crate) fn arm_code_alone(read: &Read<'_>) -> Option<DecodedMessage> {
    if read.loose.run_command {
        return None;
    }
    let named = read.names.iter().find(|name| name.value.contains('_'));
    let found = match (named, read.arm_codes.first()) {
        (Some(name), _) => Found { value: name.value.clone(), at: name.at },
        (None, Some(code)) => Found { value: code.value.to_owned(), at: code.at },
        (None, None) => return None,
    };
    let mut told = nothing_but(read, found.at);
    let code = found.value.to_ascii_lowercase();
    told.decoded.situation = Some(match code.as_str() {
        "vmextensionprovisioningtimeout" | "vmextensionerror_provisioningtimeout" => {
            Situation::TimedOut
        }
        "vmextensionhandlernontransienterror" => Situation::HandlerFailed,
        "vmagentstatuscommunicationerror" | "osprovisioningtimedout" | "vmstarttimedout" => {
            Situation::AgentSilent
        }
        _ => Situation::ArmCodeOnly,
    });
    told.decoded.arm_code = Some(found.value);
    Some(told)
}

/// The end of a report whose head is cut off: a bootstrap, and its code is lost.
pub(crate) fn report_without_head(read: &Read<'_>) -> Option<DecodedMessage> {
    let ran = read.loose.duration.is_some() && !read.loose.run_command;
    ran.then(|| nothing_but(read, 0))
}

/// A failure of which nothing is known yet but what stands outside of messages.
fn nothing_but(read: &Read<'_>, at: usize) -> DecodedMessage {
    let mut message = read.loose.clone();
    message.opener = Opener::Sentence;
    message.span = 0..read.text.len();
    let mut told = tell(read, &message);
    told.decoded.outcome = Outcome::NoCode;
    told.decoded.code = None;
    told.decoded.found_by = None;
    told.at = Some(at);
    told.weak = false;
    told
}
