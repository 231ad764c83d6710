//! Failures, from a diagnosis or without one.

use mooring_diagnosis::Diagnosis;
use mooring_redact::without_middle;

use crate::text::{bounded, safe};
use crate::verdict::failure::{Failure, FailureSource};

/// Bytes of a line in the failure record.
const MAX_EVIDENCE: usize = 480;

pub fn failure(diagnosis: &Diagnosis, source: FailureSource) -> Failure {
    let Diagnosis { reported, effective, .. } = diagnosis;
    let name = reported.name.as_deref().map(|name| safe(name, 80));
    let name = name.filter(|name| !name.is_empty());
    let other = effective.code.filter(|code| Some(*code) != reported.code);
    let effective =
        other.map(|code| (code, safe(effective.name.as_deref().unwrap_or_default(), 80)));
    Failure {
        code: reported.code,
        name,
        effective,
        cause: label(&diagnosis.reason),
        sentence: cause(diagnosis),
        action: clause(diagnosis.actions.first().map_or("", String::as_str), 320),
        owner: diagnosis.owner.as_str(),
        confidence: diagnosis.confidence.as_str(),
        evidence: diagnosis.evidence.first().map(|evidence| {
            without_middle(&safe(&evidence.line, usize::MAX), MAX_EVIDENCE).into_owned()
        }),
        source,
    }
}

pub fn silent_failure(source: FailureSource) -> Failure {
    Failure {
        code: None,
        name: None,
        effective: None,
        cause: "NoCode".to_owned(),
        sentence: "Azure reports that the extension failed, without a message".to_owned(),
        action: "Read /var/log/azure/cluster-provision.log on a node of this pool".to_owned(),
        owner: "operator",
        confidence: "low",
        evidence: None,
        source,
    }
}

pub fn out_of_time(minutes: i64) -> Failure {
    Failure {
        cause: "StillRunning".to_owned(),
        sentence: format!("CSE was still running when Karpenter gave up on the node after {minutes}m"),
        action: "Check /var/log/azure/cluster-provision.log on a node of this pool for a step that hangs".to_owned(),
        ..silent_failure(FailureSource::Clock)
    }
}

/// Returns the cause in one sentence. Some causes have a shorter text here than in the diagnosis.
fn cause(diagnosis: &Diagnosis) -> String {
    match diagnosis.reason.as_str() {
        "OrasBinaryMissing" => "oras is missing on the image".to_owned(),
        _ => clause(first_sentence(&diagnosis.summary), 400),
    }
}

/// Returns a sentence of the code tables or of a rule, without its full stop. It is not redacted, since it
/// contains no input: advice may name an option such as `--cacert`.
pub(super) fn clause(sentence: &str, most: usize) -> String {
    let sentence = bounded(&mooring_redact::one_line(sentence), most);
    sentence.trim_end_matches(['.', ' ']).to_owned()
}

/// Returns the text up to a full stop that another sentence follows.
pub(super) fn first_sentence(text: &str) -> &str {
    let starts = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '`');
    let end = text.match_indices(". ").find(|(at, stop)| starts(&text[at + stop.len()..]));
    end.map_or(text, |(at, _)| &text[..at])
}

/// Returns a value that is valid in a label.
pub(super) fn label(reason: &str) -> String {
    let label: String = reason.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
    if label.is_empty() { "Unknown".to_owned() } else { label }
}
