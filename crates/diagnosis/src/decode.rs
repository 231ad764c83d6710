//! From messages to what they say: which code counts.

use std::ops::Range;

use mooring_contract::catalogue::{Date, Os, by_name, image_date};

use crate::decoded::{Decoded, FoundBy, Outcome, Situation};
use crate::extension::is_bootstrap;
use crate::merge::merge;
use crate::message::{Found, Handler, Message, Opener, Silence};
use crate::normalise::normalise;
use crate::read::Read;
use crate::report::status;
use crate::scan::{Hit, scan};

/// A text of more than this is cut: places in it are kept in 32 bits, and nobody pastes as much.
const LONGEST: usize = 1 << 30;

/// What a text says about node bootstraps, message by message, in the order of the text.
///
/// Any bytes will do: escaped any number of times, cut anywhere, wrapped, quoted, marked up. A text
/// without a message gives nothing. Takes time and memory in proportion to the input.
#[must_use]
pub fn decode(input: &[u8]) -> Vec<Decoded> {
    Text::read(input, None).1.into_iter().map(|told| told.decoded).collect()
}

/// Only what fits on somebody's screen was cut by a terminal.
const LONGEST_JOINED: usize = 1 << 16;

/// A normalised text and what was found in it.
pub(crate) struct Text {
    pub(crate) bytes: Vec<u8>,
    pub(crate) hits: Vec<Hit>,
}

/// A decoded message and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) decoded: Decoded,
    pub(crate) span: Range<usize>,
    /// Where the code, or what stands in its place, was read.
    pub(crate) at: Option<usize>,
    /// Whether the code says only that something failed.
    pub(crate) weak: bool,
    pub(crate) opener: Opener,
    pub(crate) stdout: Option<usize>,
    pub(crate) stderr: Option<usize>,
    pub(crate) step_at: Option<usize>,
}

impl Text {
    pub(crate) fn of(input: &[u8]) -> Self {
        let bytes = normalise(&input[..input.len().min(LONGEST)]);
        let hits = scan(&bytes);
        Self { bytes, hits }
    }

    /// Reads a text that a terminal has cut into lines in the middle of words, which shows in that
    /// no message has a code until the lines are joined.
    pub(crate) fn read(input: &[u8], day: Option<Date>) -> (Self, Vec<Told>) {
        let text = Self::of(input);
        let told = text.decode(day);
        let coded = |told: &[Told]| told.iter().any(|one| one.decoded.code.is_some());
        let other =
            |told: &[Told]| told.iter().any(|one| one.decoded.outcome == Outcome::NotABootstrap);
        let short = text.bytes.len() <= LONGEST_JOINED;
        if short && !coded(&told) && !other(&told) && memchr::memchr(b'\n', &text.bytes).is_some() {
            let bytes: Vec<u8> = text.bytes.iter().copied().filter(|byte| *byte != b'\n').collect();
            let joined = Self { hits: scan(&bytes), bytes };
            let retold = joined.decode(day);
            if coded(&retold) {
                return (joined, retold);
            }
        }
        (text, told)
    }

    /// `day` is the image's, for names whose number has changed over the years.
    pub(crate) fn decode(&self, day: Option<Date>) -> Vec<Told> {
        let read = Read::of(&self.bytes, &self.hits);
        let mut told: Vec<Told> =
            read.messages.iter().map(|message| tell(&read, message)).collect();
        told = merge(told);
        add_names(&read, &mut told, day);
        if told.is_empty() {
            told.extend(arm_code_alone(&read));
        }
        told
    }
}

fn tell(read: &Read<'_>, message: &Message) -> Told {
    let os = os(read, message);
    let picked = match os {
        Some(Os::Windows) => windows_code(message),
        _ => linux_code(message),
    };
    let bootstrap = is_bootstrap(message);
    let outcome = match picked {
        _ if !bootstrap => Outcome::NotABootstrap,
        Some((_, Found { value: 0, .. })) if message.handler != Handler::Failed => {
            Outcome::Succeeded
        }
        Some(_) => Outcome::Failed,
        None => Outcome::NoCode,
    };
    let silence = message.silence;
    let at = picked.map(|(_, found)| found.at).or(silence.map(|found| found.at));
    let code = picked.and_then(|(_, found)| i32::try_from(found.value).ok());
    Told {
        decoded: Decoded {
            os,
            code,
            found_by: code.and(picked.map(|(by, _)| by)),
            outcome,
            situation: (outcome == Outcome::NoCode).then(|| situation(message)),
            arm_code: None,
            status: status(read.text, message),
            extension: message.extension.clone(),
            publisher: message.publisher.clone(),
            extension_type: message.kind.clone(),
            instance: message.target,
            image_version: message.image.clone().or_else(|| read.loose.image.clone()),
            exec_duration: message.duration,
            step: message.step.as_ref().map(|step| step.value.clone()),
        },
        span: message.span.clone(),
        at: at.or(Some(message.span.start)),
        weak: matches!(
            picked,
            Some((FoundBy::OuterStatus | FoundBy::VmssStatus, Found { value: 0 | 1, .. }))
        ) && outcome == Outcome::Failed,
        opener: message.opener,
        stdout: message.stdout,
        stderr: message.stderr,
        step_at: message.step.as_ref().map(|step| step.at),
    }
}

/// Windows where its own words stand, else Linux where its words stand.
fn os(read: &Read<'_>, message: &Message) -> Option<Os> {
    let own_words = message.windows_result.is_some()
        || message.windows_name.is_some()
        || message.windows_error.is_some();
    let kind = message.kind.as_deref().unwrap_or_default();
    let windows_kind = kind.ends_with("CustomScriptExtension");
    let name = message.extension.as_deref().unwrap_or_default();
    match (message.says_windows, message.says_linux) {
        _ if own_words || windows_kind || name.starts_with("windows-") => Some(Os::Windows),
        (true, false) => Some(Os::Windows),
        (_, true) => Some(Os::Linux),
        (false, false) => match (read.loose.says_windows, read.loose.says_linux) {
            (true, false) => Some(Os::Windows),
            (false, true) => Some(Os::Linux),
            _ if name == "cse-agent-karpenter" => Some(Os::Linux),
            _ => None,
        },
    }
}

type Picked = Option<(FoundBy, Found<i64>)>;

fn windows_code(message: &Message) -> Picked {
    // Since the end of 2023 the outer number is always 1; wrappers of that time name the publisher.
    let old = message.opener == Opener::Wrapper && message.publisher.is_none();
    let outer = message.outer.filter(|outer| outer.value != 1 || old);
    let done = message.handler == Handler::Succeeded;
    let none = Found { value: 0, at: message.span.start };
    message
        .windows_result
        .map(|found| (FoundBy::WindowsResult, found))
        .or(message.windows_name.map(|found| (FoundBy::WindowsName, found)))
        .or(message.windows_error.map(|found| (FoundBy::WindowsError, found)))
        .or(outer.map(|found| (FoundBy::OuterStatus, found)))
        .or(done.then_some((FoundBy::OuterStatus, none)))
}

fn linux_code(message: &Message) -> Picked {
    let failed = message.handler == Handler::Failed;
    let told = |found: &Found<i64>| found.value != 0 || !failed;
    let trusted = |found: &Found<i64>| !matches!(found.value, 0 | 1);
    let by = |by: FoundBy| move |found: Found<i64>| (by, found);
    let done = message.handler == Handler::Succeeded;
    let none = Found { value: 0, at: message.span.start };
    message
        .report
        .filter(told)
        .map(by(FoundBy::Json))
        .or(message.slog.filter(|found| found.value != 0).map(by(FoundBy::Slog)))
        .or(message.trace.map(by(FoundBy::Trace)))
        .or(message.summary.filter(trusted).map(by(FoundBy::VmssStatus)))
        .or(message.outer.filter(trusted).map(by(FoundBy::OuterStatus)))
        .or(message.summary.map(by(FoundBy::VmssStatus)))
        .or(message.outer.map(by(FoundBy::OuterStatus)))
        .or(done.then_some((FoundBy::OuterStatus, none)))
}

fn situation(message: &Message) -> Situation {
    match (message.silence.map(|found| found.value), message.handler) {
        (Some(Silence::TimedOut), _) => Situation::TimedOut,
        (Some(Silence::HandlerFailed), _) => Situation::HandlerFailed,
        (Some(Silence::AgentSilent), _) => Situation::AgentSilent,
        (None, Handler::Lost) => Situation::Interrupted,
        (None, Handler::Failed) if !message.in_streams() && !message.says_windows => {
            Situation::NeverStarted
        }
        (None | Some(Silence::CodeLost), _) => Situation::CodeLost,
    }
}

/// AKS's names and sentences count where no message has a better code.
fn add_names(read: &Read<'_>, told: &mut Vec<Told>, day: Option<Date>) {
    let is_ours = |told: &Told| told.decoded.outcome != Outcome::NotABootstrap;
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
    let held = |row: &&&'static mooring_contract::catalogue::ExitCode| match day {
        Some(day) => row.removed.is_some_and(|removed| day < removed),
        None => false,
    };
    let linux = || rows.iter().filter(|row| row.os == Os::Linux);
    let row = linux().find(held).or_else(|| linux().next())?;
    Some(row.number.into())
}

fn give(told: &mut Told, (by, found): (FoundBy, Found<i64>)) {
    told.decoded.code = i32::try_from(found.value).ok();
    told.decoded.found_by = Some(by);
    told.decoded.outcome = Outcome::Failed;
    told.decoded.situation = None;
    told.decoded.os = Some(Os::Linux);
    told.at = Some(found.at);
    told.weak = false;
}

/// A failure of which only an ARM code, or an unknown name of AKS, is told.
fn arm_code_alone(read: &Read<'_>) -> Option<Told> {
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

/// A failure of which nothing is known yet but what stands outside of messages.
fn nothing_but(read: &Read<'_>, at: usize) -> Told {
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
