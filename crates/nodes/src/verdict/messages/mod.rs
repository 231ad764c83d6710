//! Messages of conditions and events.

#[cfg(test)]
mod tests;

use mooring_diagnosis::Diagnosis;
use mooring_redact::without_middle;

use crate::text::{bounded, safe};
use crate::verdict::{Failure, FailureSource};

pub const SUCCEEDED: &str = "CSE succeeded.";
pub const RUNNING: &str = "CSE has not finished yet.";
pub const NO_EXTENSION: &str = "The VM has no CSE extension: its custom data sets up the node, and Azure has no result. \
    The result is in /var/log/azure/aks/provision.json on the node.";
pub const NOT_CREATED: &str = "The VM has no CSE extension, which Karpenter creates after the VM: Karpenter probably \
    restarted in between, and the node will not be set up. The image is not the cause. Karpenter deletes the NodeClaim 15m \
    after its creation; to replace it now, delete it.";
/// Appended to a message about a NodeClaim that Karpenter should have deleted minutes ago.
pub const IDLE: &str =
    " Karpenter is not acting: it deletes such a NodeClaim after 15m. Check that it is running.";
pub const NO_REPORT_ON_NODE: &str = "The VM has no CSE extension, and no /var/log/azure/aks/provision.json yet: its bootstrap \
    has not finished. Retry in a minute; its logs are in /var/log/azure/aks/ on the node.";

pub fn access_denied(status: u16) -> String {
    format!(
        "Access to the VM was denied ({status}). Assign the Reader role on the node resource group to the controller identity."
    )
}

/// The node registered although an event reported a failure.
pub const REGISTERED: &str =
    "The node registered. The CSE result has not been read from Azure yet.";

pub const VM_GONE: &str = "The VM was deleted before the CSE result could be read.";

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

/// The API accepts 32 KiB, but the message is read in a terminal, is part of every write of the NodeClaim,
/// and is repeated by Karpenter in an event.
pub const MAX_MESSAGE_BYTES: usize = 512;

/// Limit of the API server.
pub const MAX_NOTE_BYTES: usize = 1024;

pub(super) const SEE: &str = "See VM extension logs for details.";

/// Marks a failure that only an event reports: any client that may create events in `default` can write one.
const UNCONFIRMED: &str = "Unconfirmed: ";
pub(super) const EVENT_ONLY: &str =
    " Only an event reports this; the VM was deleted before Azure could be read.";

pub fn condition(failure: &Failure) -> String {
    let (mark, source) = if failure.is_confirmed() { ("", "") } else { (UNCONFIRMED, EVENT_ONLY) };
    let head = head(failure);
    let cause = with_effective(&failure.sentence, failure.effective.as_ref());
    let action =
        if failure.action.is_empty() { String::new() } else { format!(" {}.", failure.action) };
    // Reserves the space of a suffix that may be appended later.
    let (tail, kept) = match failure.source {
        FailureSource::Registration => (String::new(), IDLE.len()),
        _ => (format!("{source} {SEE}"), 0),
    };
    let room = MAX_MESSAGE_BYTES - tail.len() - kept;
    bounded(&format!("{mark}{head}: {cause}.{action}"), room) + &tail
}

/// Returns the note of an event: the reported code first, then the cause if different.
pub fn note(failure: &Failure, node: &str) -> String {
    let node = safe(node, 128);
    let mut text = match (failure.code, &failure.name) {
        (Some(code), Some(name)) => format!("CSE exited with code {code} on node {node}: {name}"),
        (Some(code), None) => format!("CSE exited with code {code} on node {node}: unknown code"),
        (None, Some(name)) => format!("CSE failed without an exit code on node {node}: {name}"),
        (None, None) if failure.source == FailureSource::Clock => {
            format!("CSE did not finish on node {node}: {}", failure.sentence)
        }
        (None, None) if failure.source == FailureSource::Registration => {
            let evidence = failure.evidence.as_ref();
            let output =
                evidence.map_or_else(String::new, |end| format!(". CSE output ends with: {end}"));
            format!(
                "Node {node} did not register: {}. {}{output}",
                failure.sentence, failure.action
            )
        }
        (None, None) => format!("CSE failed without an exit code on node {node}"),
    };
    if let Some(effective) = &failure.effective {
        text.push_str(". ");
        text.push_str(&with_effective(&failure.sentence, Some(effective)));
    }
    if failure.is_confirmed() {
        return bounded(&text, MAX_NOTE_BYTES);
    }
    let tail = EVENT_ONLY.trim_end_matches('.');
    bounded(&format!("{UNCONFIRMED}{text}."), MAX_NOTE_BYTES - tail.len()) + tail
}

fn head(failure: &Failure) -> String {
    let name = failure.name.as_deref().map_or_else(String::new, |name| format!(" ({name})"));
    match failure.code {
        Some(code) => format!("CSE exited with code {code}{name}"),
        None if failure.source == FailureSource::Clock => "CSE did not finish".to_owned(),
        None if failure.source == FailureSource::Registration => {
            "The node did not register".to_owned()
        }
        None => format!("CSE failed without an exit code{name}"),
    }
}

fn with_effective(sentence: &str, effective: Option<&(i32, String)>) -> String {
    match effective {
        Some((code, name)) if name.is_empty() => format!("{sentence} ({code})"),
        Some((code, name)) => format!("{sentence} ({code} {name})"),
        None => sentence.to_owned(),
    }
}
