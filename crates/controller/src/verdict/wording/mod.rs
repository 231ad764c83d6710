//! The sentences that people read.

use mooring_diagnosis::Diagnosis;

use crate::verdict::failure::{Failure, Source};
use crate::verdict::text::{bounded, safe};

/// A condition's message is at most this long, although the API would take 32 KiB: it is read in a
/// terminal, every write of the claim carries it, and Karpenter repeats all of it in an event.
pub const LONGEST_MESSAGE: usize = 512;

/// The API server refuses a longer note.
pub const LONGEST_NOTE: usize = 1024;

pub(crate) const SUCCEEDED: &str = "CSE succeeded.";
pub(crate) const RUNNING: &str = "CSE has not ended yet.";
pub(crate) const NO_EXTENSION: &str = "The VM has no CSE extension: its custom data sets the node up, and Azure has no result \
    to show. On the node, /var/log/azure/aks/provision.json has it.";
pub(crate) const NOT_CREATED: &str = "The VM has no CSE extension, which Karpenter creates after the VM: Karpenter probably \
    restarted in between, and nothing will set the node up. The image is not the cause. Karpenter deletes the NodeClaim 15 \
    minutes after its creation; to replace it now, delete it.";
/// Appended to a message about a NodeClaim that Karpenter should have deleted minutes ago.
pub(crate) const IDLE: &str = " Karpenter is not acting: it deletes such a NodeClaim after 15 minutes. Check that it is running.";
pub(crate) const NO_REPORT_ON_NODE: &str = "The VM has no CSE extension, and no /var/log/azure/aks/provision.json yet: its bootstrap \
    has not ended. Ask again in a minute; /var/log/azure/aks/ on the node has its logs.";
const SEE: &str = "See VM extension logs for details.";

/// Where the claim is not allowed to know more.
pub(crate) fn refused(status: u16) -> String {
    format!(
        "Azure does not let the controller read the VM ({status}). Give its identity the role Reader on the node resource group."
    )
}

/// The mark of a failure that only an event reports: any client that may create events in `default` can write one.
const UNCONFIRMED: &str = "Unconfirmed: ";
const EVENT_ONLY: &str =
    " Only an event reports this; the VM was deleted before Azure could be read.";
/// Written in place of [`EVENT_ONLY`] by version 0.1.0, which did not mark such failures.
const EVENT_ONLY_BEFORE: &str = "Read from Karpenter's event";

/// Whether a condition's message is that of an unconfirmed failure, also of an earlier version.
pub(crate) fn is_unconfirmed(message: &str) -> bool {
    message.starts_with(UNCONFIRMED) || message.contains(EVENT_ONLY_BEFORE)
}

/// The node registered although an event reported a failure.
pub(crate) const REGISTERED: &str =
    "The node registered. The result of CSE has not been read from Azure yet.";

/// All attempts to read are over, and nothing was seen.
pub(crate) const VM_GONE: &str = "The VM was gone before the result of CSE could be read.";

/// What a diagnosis comes to in a few sentences.
pub(crate) fn failure(told: &Diagnosis, source: Source) -> Failure {
    let differs = told.effective.code.is_some() && told.effective.code != told.reported.code;
    let name =
        told.reported.name.as_deref().map(|name| safe(name, 80)).filter(|name| !name.is_empty());
    let effective = told
        .effective
        .code
        .filter(|_| differs)
        .map(|code| (code, safe(told.effective.name.as_deref().unwrap_or_default(), 80)));
    Failure {
        code: told.reported.code,
        name,
        effective,
        cause: word(&told.reason),
        sentence: cause(told),
        action: clause(told.actions.first().map_or("", String::as_str), 320),
        owner: told.owner.as_str(),
        confidence: told.confidence.as_str(),
        evidence: told.evidence.first().map(|evidence| safe(&evidence.line, 240)),
        source,
    }
}

/// The extension failed and left no word.
pub(crate) fn silent_failure(source: Source) -> Failure {
    Failure {
        code: None,
        name: None,
        effective: None,
        cause: "NoCode".to_owned(),
        sentence: "Azure shows that the extension failed and no text about it".to_owned(),
        action: "Read /var/log/azure/cluster-provision.log on a node of this pool".to_owned(),
        owner: "operator",
        confidence: "low",
        evidence: None,
        source,
    }
}

/// Karpenter gave the node up while CSE ran.
pub(crate) fn out_of_time(minutes: i64) -> Failure {
    Failure {
        cause: "StillRunning".to_owned(),
        sentence: format!("CSE was still running when Karpenter gave the node up after {minutes} minutes"),
        action: "Look for a step that hangs in /var/log/azure/cluster-provision.log on a node of this pool".to_owned(),
        ..silent_failure(Source::Clock)
    }
}

pub(crate) fn condition(failure: &Failure) -> String {
    let (mark, source) = if failure.is_confirmed() { ("", "") } else { (UNCONFIRMED, EVENT_ONLY) };
    let head = head(failure);
    let cause = with_effective(&failure.sentence, failure.effective.as_ref());
    let action =
        if failure.action.is_empty() { String::new() } else { format!(" {}.", failure.action) };
    // What may be appended to it later has its room.
    let (tail, kept) = match failure.source {
        Source::Registration => (String::new(), IDLE.len()),
        _ => (format!("{source} {SEE}"), 0),
    };
    let room = LONGEST_MESSAGE - tail.len() - kept;
    bounded(&format!("{mark}{head}: {cause}.{action}"), room) + &tail
}

/// The note of an event: the reported code leads, and the cause follows where it is another.
pub fn note(failure: &Failure, node: &str) -> String {
    let node = safe(node, 128);
    let mut told = match (failure.code, &failure.name) {
        (Some(code), Some(name)) => format!("CSE exited with code {code} on node {node}: {name}"),
        (Some(code), None) => format!("CSE exited with code {code} on node {node}: unknown code"),
        (None, Some(name)) => format!("CSE failed without an exit code on node {node}: {name}"),
        (None, None) if failure.source == Source::Clock => {
            format!("CSE did not end on node {node}: {}", failure.sentence)
        }
        (None, None) if failure.source == Source::Registration => {
            let evidence = failure.evidence.as_ref();
            let output =
                evidence.map_or_else(String::new, |end| format!(". CSE's output ends with: {end}"));
            format!(
                "Node {node} did not register: {}. {}{output}",
                failure.sentence, failure.action
            )
        }
        (None, None) => format!("CSE failed without an exit code on node {node}"),
    };
    if let Some(effective) = &failure.effective {
        told.push_str(". ");
        told.push_str(&with_effective(&failure.sentence, Some(effective)));
    }
    if failure.is_confirmed() {
        return bounded(&told, LONGEST_NOTE);
    }
    let tail = EVENT_ONLY.trim_end_matches('.');
    bounded(&format!("{UNCONFIRMED}{told}."), LONGEST_NOTE - tail.len()) + tail
}

fn head(failure: &Failure) -> String {
    let name = failure.name.as_deref().map_or_else(String::new, |name| format!(" ({name})"));
    match failure.code {
        Some(code) => format!("CSE exited with code {code}{name}"),
        None if failure.source == Source::Clock => "CSE did not end".to_owned(),
        None if failure.source == Source::Registration => "The node did not register".to_owned(),
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

/// The cause in one sentence. A few causes have shorter words than a diagnosis needs in full.
fn cause(told: &Diagnosis) -> String {
    match told.reason.as_str() {
        "OrasBinaryMissing" => "oras is missing on the image".to_owned(),
        _ => clause(first_sentence(&told.summary), 400),
    }
}

/// A sentence of the catalogue's or a rule's, without its full stop. These are our own words, so
/// nothing is masked: advice may name an option such as `--cacert`.
fn clause(sentence: &str, most: usize) -> String {
    let sentence = bounded(&mooring_redact::one_line(sentence), most);
    sentence.trim_end_matches(['.', ' ']).to_owned()
}

/// Up to a full stop behind which another sentence starts.
fn first_sentence(text: &str) -> &str {
    let starts = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '`');
    let end = text.match_indices(". ").find(|(at, stop)| starts(&text[at + stop.len()..]));
    end.map_or(text, |(at, _)| &text[..at])
}

/// A word that a label may hold.
fn word(reason: &str) -> String {
    let word: String = reason.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
    if word.is_empty() { "Unknown".to_owned() } else { word }
}

#[cfg(test)]
mod tests;
