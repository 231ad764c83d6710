//! Diagnoses of texts that have no message of a bootstrap: by their wording, or by the failure of another extension.

use crate::cause::about::About;
use crate::cause::confidence::Confidence;
use crate::cause::stage::Stage;
use crate::cause::wording::{Match, Tier, Wording};
use crate::decode::decoded::{Decoded, Outcome};
use crate::decode::decoded_message::{DecodedMessage, Item};
use crate::diagnose::evidence::quote;
use crate::diagnose::tables::OTHER_EXTENSION;
use crate::diagnose::wordings::matches;
use crate::diagnosis::{Diagnosis, Effective, Hints, Reported};
use crate::read::message::{Handler, Opener};
use crate::text::phrases::PHRASES;
use crate::text::scanned::Text;

/// The failure that a text without a message describes.
pub(crate) fn without_message(
    text: &Text,
    others: &[DecodedMessage],
    hints: Hints,
) -> Option<(DecodedMessage, Diagnosis)> {
    let found = matches(&text.bytes, &text.phrases, 0..text.bytes.len(), false).next();
    let extension = others.iter().find(|told| has_failed(told));
    let is_node = About::Cluster.holds(&text.phrases);
    match (found, extension) {
        (Some(found), extension)
            if extension.is_none() || !is_node || found.wording.tier == Tier::Root =>
        {
            let told = told(text, found);
            let mut diagnosis = from_wording(text, &told, found);
            diagnosis.os = found.wording.os.or(hints.os);
            if diagnosis.stage == Stage::Launch && !About::Nodes.holds(&text.phrases) {
                // Nothing shows that the VM is a node's.
                diagnosis.confidence = diagnosis.confidence.min(Confidence::Medium);
            }
            Some((told, diagnosis))
        }
        (_, Some(extension)) if is_node => Some(other_extension(text, extension, hints)),
        _ => None,
    }
}

/// Whether a message of another extension reports a failure.
fn has_failed(told: &DecodedMessage) -> bool {
    let decoded = &told.decoded;
    let reported = matches!(told.opener, Opener::Wrapper | Opener::Sentence | Opener::Summary);
    let failed = decoded.code.is_some_and(|code| code != 0) || told.handler == Handler::Failed;
    decoded.extension.is_some() && (failed || reported && told.handler != Handler::Succeeded)
}

fn other_extension(
    text: &Text,
    told: &DecodedMessage,
    hints: Hints,
) -> (DecodedMessage, Diagnosis) {
    let cause = OTHER_EXTENSION;
    let name = told.decoded.extension.clone();
    let diagnosis = Diagnosis {
        os: told.decoded.os.or(hints.os),
        outcome: Outcome::NoCode,
        reported: Reported { name: name.clone(), ..Reported::default() },
        confidence: Confidence::Medium,
        rule: Some("other-extension"),
        summary: format!(
            "{} The extension is {}.",
            cause.summary,
            name.as_deref().map(shown).unwrap_or_default()
        ),
        evidence: told
            .at
            .map(|at| quote(&text.bytes, told, at))
            .filter(|evidence| !evidence.line.is_empty())
            .into_iter()
            .collect(),
        extension: name,
        ..Diagnosis::of_cause(cause)
    };
    let mut told = told.clone();
    told.decoded.outcome = Outcome::NoCode;
    told.decoded.code = None;
    told.decoded.found_by = None;
    (told, diagnosis)
}

/// A name that others wrote, short and printable.
fn shown(name: &str) -> String {
    name.chars().filter(char::is_ascii_graphic).take(64).collect()
}

/// A failure that consists of nothing but a wording.
fn told(text: &Text, found: Match) -> DecodedMessage {
    DecodedMessage {
        decoded: Decoded {
            os: found.wording.os,
            code: None,
            found_by: None,
            outcome: Outcome::NoCode,
            situation: None,
            arm_code: None,
            status: None,
            extension: None,
            publisher: None,
            extension_type: None,
            instance: None,
            image_version: None,
            exec_duration: None,
            step: None,
        },
        span: 0..text.bytes.len(),
        at: Some(found.at),
        weak: false,
        opener: Opener::Sentence,
        handler: Handler::Silent,
        stdout: None,
        stderr: None,
        step_at: None,
        error_at: None,
        item: Item::Alone,
        worded: Some(found.wording),
    }
}

/// What a wording says, with the line that has it.
pub(crate) fn from_wording(text: &Text, told: &DecodedMessage, found: Match) -> Diagnosis {
    Diagnosis {
        outcome: Outcome::NoCode,
        reported: Reported { name: error_name(text, found.wording), ..Reported::default() },
        effective: Effective::default(),
        confidence: found.wording.confidence,
        rule: Some(found.wording.name),
        evidence: vec![quote(&text.bytes, told, found.at)],
        ..Diagnosis::of_cause(found.wording.cause)
    }
}

/// The name of the error as the text writes it, where the wording has one.
fn error_name(text: &Text, wording: &Wording) -> Option<String> {
    let is_alphanumeric = |phrase: &str| phrase.bytes().all(|byte| byte.is_ascii_alphanumeric());
    wording.phrases.iter().filter(|phrase| is_alphanumeric(PHRASES[**phrase])).find_map(|phrase| {
        let at = text.phrases.places(*phrase).next()?;
        let name = text.bytes.get(at..at + PHRASES[*phrase].len())?;
        let is_name = name.iter().any(u8::is_ascii_uppercase);
        is_name.then(|| String::from_utf8_lossy(name).into_owned())
    })
}
