//! Diagnoses of texts without a bootstrap message: by wording, or by the failure of another extension.

use crate::cause::wording::{Match, Subject, Tier, Wording};
use crate::cause::{Confidence, Stage, TextSubject};
use crate::decode::{BootstrapOutcome, DecodedMessage};
use crate::diagnose::evidence::quote;
use crate::diagnose::rules::OTHER_EXTENSION;
use crate::diagnose::scope::{is_of_others, is_presumed, line_around, names_nodes};
use crate::diagnose::wordings::matches;
use crate::diagnosis::{Diagnosis, Reported};
use crate::hints::Hints;
use crate::read::message::{Handler, Opener};
use crate::text::ScannedText;
use crate::text::phrases::PHRASES;

/// Returns the failure in a text without a bootstrap message.
pub(crate) fn without_message(
    text: &ScannedText,
    others: &[DecodedMessage],
    hints: Hints,
) -> Option<(DecodedMessage, Diagnosis)> {
    let is_presumed = is_presumed(text);
    let subject = if is_presumed { Subject::Presumed } else { Subject::Unknown };
    let mut found = matches(&text.bytes, &text.phrases, 0..text.bytes.len(), subject);
    let is_named = names_nodes(text);
    let is_ours = |at| is_named || !is_of_others(&text.phrases, &line_around(&text.bytes, at));
    let found =
        found.find(|found| found.wording.about == TextSubject::Anything || is_ours(found.at));
    let extension = others.iter().find(|message| has_failed(message));
    let is_cluster = TextSubject::Cluster.holds(&text.phrases);
    match (found, extension) {
        (Some(found), extension)
            if extension.is_none()
                || !(is_cluster || is_presumed)
                || found.wording.tier == Tier::Root =>
        {
            let message = worded_message(text, found.at, Some(found.wording));
            let mut diagnosis = from_wording(text, &message, found);
            diagnosis.os = found.wording.os.or(hints.os);
            let is_doubtful = is_presumed || diagnosis.stage == Stage::Launch;
            if is_doubtful && !TextSubject::Nodes.holds(&text.phrases) {
                // Nothing shows that the VM is a node.
                diagnosis.confidence = diagnosis.confidence.min(Confidence::Medium);
            }
            Some((message, diagnosis))
        }
        (_, Some(extension)) if is_cluster || is_presumed => {
            let mut other = other_extension(text, extension, hints);
            if !is_cluster {
                other.1.confidence = Confidence::Low;
            }
            Some(other)
        }
        _ => None,
    }
}

fn has_failed(message: &DecodedMessage) -> bool {
    let decoded = &message.decoded;
    let reported = matches!(message.opener, Opener::Wrapper | Opener::Sentence | Opener::Summary);
    let failed = decoded.code.is_some_and(|code| code != 0) || message.handler == Handler::Failed;
    decoded.extension.is_some() && (failed || reported && message.handler != Handler::Succeeded)
}

fn other_extension(
    text: &ScannedText,
    message: &DecodedMessage,
    hints: Hints,
) -> (DecodedMessage, Diagnosis) {
    let cause = OTHER_EXTENSION;
    let name = message.decoded.extension.clone();
    let diagnosis = Diagnosis {
        os: message.decoded.os.or(hints.os),
        outcome: BootstrapOutcome::NoCode,
        reported: Reported { name: name.clone(), ..Reported::default() },
        confidence: Confidence::Medium,
        rule: Some("other-extension"),
        summary: format!(
            "{} Extension: {}.",
            cause.summary,
            name.as_deref().map(printable).unwrap_or_default()
        ),
        evidence: message
            .at
            .map(|at| quote(&text.bytes, message, at))
            .filter(|evidence| !evidence.line.is_empty())
            .into_iter()
            .collect(),
        extension: name,
        ..Diagnosis::from_cause(cause)
    };
    let mut message = message.clone();
    message.decoded.outcome = BootstrapOutcome::NoCode;
    message.decoded.code = None;
    message.decoded.found_by = None;
    (message, diagnosis)
}

/// Returns a name from the text, short and printable.
fn printable(name: &str) -> String {
    name.chars().filter(char::is_ascii_graphic).take(64).collect()
}

/// Returns a message that consists of a wording or a clue only.
pub(crate) fn worded_message(
    text: &ScannedText,
    at: usize,
    worded: Option<&'static Wording>,
) -> DecodedMessage {
    DecodedMessage {
        span: 0..text.bytes.len(),
        at: Some(at),
        opener: Opener::Sentence,
        worded,
        ..DecodedMessage::default()
    }
}

/// Returns the diagnosis of a wording, with its line as evidence.
pub(crate) fn from_wording(
    text: &ScannedText,
    message: &DecodedMessage,
    found: Match,
) -> Diagnosis {
    Diagnosis {
        outcome: BootstrapOutcome::NoCode,
        reported: Reported { name: error_name(text, found.wording), ..Reported::default() },
        confidence: found.wording.confidence,
        rule: Some(found.wording.name),
        evidence: vec![quote(&text.bytes, message, found.at)],
        ..Diagnosis::from_cause(found.wording.cause)
    }
}

/// Returns the name of the error, spelled as in the text.
fn error_name(text: &ScannedText, wording: &Wording) -> Option<String> {
    let is_alphanumeric = |phrase: &str| phrase.bytes().all(|byte| byte.is_ascii_alphanumeric());
    wording.phrases.iter().filter(|phrase| is_alphanumeric(PHRASES[**phrase])).find_map(|phrase| {
        let at = text.phrases.places(*phrase).next()?;
        let name = text.bytes.get(at..at + PHRASES[*phrase].len())?;
        let is_name = name.iter().any(u8::is_ascii_uppercase);
        is_name.then(|| String::from_utf8_lossy(name).into_owned())
    })
}
