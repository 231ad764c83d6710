//! Diagnoses by an error code of Azure: a row of the catalog, otherwise what the code's HTTP status and name show; or by
//! the status of a request that was refused without a code.

use std::ops::Range;

use mooring_codes::Owner;

use crate::cause::{CatalogRow, Confidence, TextSubject, find_row};
use crate::decode::{BootstrapOutcome, DecodedMessage};
use crate::diagnose::error_codes::{FoundCode, error_codes};
use crate::diagnose::evidence::quote;
use crate::diagnose::http_status::{Refusal, first_refusal, refusal};
use crate::diagnose::rules::{OPERATION_FAILED, REQUEST_REJECTED};
use crate::diagnose::scope::{is_of_others, is_presumed, names_nodes, names_nothing_else};
use crate::diagnose::wording_case::worded_message;
use crate::diagnosis::{Diagnosis, Evidence, Reported, Rung};
use crate::hints::Hints;
use crate::text::ScannedText;

/// Lines before a code that may name its subject.
const LINES_BEFORE: usize = 2;
/// Distance of the message from its code.
const NEAR: usize = 400;
/// A text without other words.
const MAX_ALONE: usize = 160;

/// Returns the failure that an error code or an HTTP status shows, if the text is about a node, its pool or its cluster.
pub(crate) fn coded(text: &ScannedText, hints: Hints) -> Option<(DecodedMessage, Diagnosis)> {
    let mut codes = error_codes(&text.bytes);
    let is_of_others = |at| is_of_others(&text.phrases, &lines_of(&text.bytes, at));
    codes.retain(|code| !is_of_others(code.at));
    let is_named = names_nodes(text);
    let is_presumed = !is_named && is_presumed(text);
    // A code with a label is a word of Azure itself.
    let is_bare = || !is_named && names_nothing_else(text);
    let listed = codes.iter().find_map(|code| {
        let row = find_row(hints.catalog, &code.name)?;
        let is_ours =
            row.about.holds(&text.phrases) || code.is_labeled && (is_presumed || is_bare());
        (is_ours || is_alone(text, code)).then_some((code, row))
    });
    let unlisted = || {
        let is_ours = |code: &FoundCode| is_named || is_presumed || has_own_name(code) && is_bare();
        codes.iter().find(|code| code.is_labeled && is_ours(code))
    };
    let (at, name, diagnosis) = if let Some((code, row)) = listed {
        let is_sure = code.is_labeled && is_named && !is_alone(text, code);
        (code.at, Some(&code.name), by_row(row, is_sure))
    } else if let Some(code) = unlisted() {
        let (refusal, is_shown) = refusal(&text.bytes, code);
        (code.at, Some(&code.name), by_refusal(Some(&code.name), refusal, is_shown))
    } else {
        let is_azure = TextSubject::Cluster.holds(&text.phrases)
            && !TextSubject::NodeLog.holds(&text.phrases)
            || is_presumed;
        let is_ours = |at: usize| is_azure && !is_of_others(at);
        let (at, refusal) = first_refusal(&text.bytes).filter(|(at, _)| is_ours(*at))?;
        (at, None, by_refusal(None, refusal, false))
    };
    let message = worded_message(text, at, None);
    let evidence = evidence(text, &message, at);
    let reported = Reported { name: name.cloned(), ..Reported::default() };
    let outcome = BootstrapOutcome::NoCode;
    let rung = Rung::Code;
    Some((message, Diagnosis { os: hints.os, outcome, reported, evidence, rung, ..diagnosis }))
}

/// Returns the lines of a code that may name its subject.
fn lines_of(text: &[u8], at: usize) -> Range<usize> {
    let mut start = at;
    for _ in 0..=LINES_BEFORE {
        start = memchr::memrchr(b'\n', &text[..start]).unwrap_or(0);
    }
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
    start..end
}

/// Returns true for a code that names what a node or its pool has.
fn has_own_name(code: &FoundCode) -> bool {
    const PARTS: [&str; 24] = [
        "VM",
        "Vm",
        "Subnet",
        "VNet",
        "Vnet",
        "Nic",
        "Nsg",
        "Zone",
        "Sku",
        "Capacity",
        "Node",
        "Agent",
        "Cluster",
        "Kubernetes",
        "Kubelet",
        "Extension",
        "PublicIP",
        "LoadBalancer",
        "Route",
        "NatGateway",
        "HostGroup",
        "Addon",
        "Outbound",
        "DiskEncryptionSet",
    ];
    PARTS.iter().any(|part| code.name.contains(part))
}

fn is_alone(text: &ScannedText, code: &FoundCode) -> bool {
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let label: &[u8] = b"errorcode:=\"'() \n";
    let before = &text.bytes[..code.at];
    let after = &text.bytes[code.at + code.name.len()..];
    text.bytes.len() <= MAX_ALONE
        && before.to_ascii_lowercase().iter().all(|byte| label.contains(byte))
        && !after.iter().any(|byte| is_word(&byte))
}

fn by_row(row: &CatalogRow, is_sure: bool) -> Diagnosis {
    Diagnosis {
        confidence: if is_sure { Confidence::Medium } else { Confidence::Low },
        reason: row.name.to_owned(),
        owner: row.owner,
        stage: row.stage,
        summary: row.meaning.to_owned(),
        actions: vec![row.next.to_owned()],
        ..Diagnosis::from_cause(OPERATION_FAILED)
    }
}

/// Returns what the status of a request and the name of an unlisted code show.
fn by_refusal(name: Option<&String>, refusal: Refusal, is_sure: bool) -> Diagnosis {
    let with = name.map(|name| format!(" with {name}")).unwrap_or_default();
    let rejected = |what: &str| format!("Azure rejected the request{with}: {what}.");
    let failed = |what: &str| format!("The operation failed{with}{what}.");
    let (cause, owner, summary) = match refusal {
        Refusal::Content => {
            (REQUEST_REJECTED, Owner::Operator, rejected("something in it is not allowed"))
        }
        Refusal::Permission => {
            (REQUEST_REJECTED, Owner::Operator, rejected("the caller lacks a permission"))
        }
        Refusal::State => {
            let what = ": another operation, or the state of a resource, blocks it";
            (OPERATION_FAILED, Owner::Operator, failed(what))
        }
        Refusal::Rate => (OPERATION_FAILED, Owner::Operator, failed(": Azure throttles requests")),
        Refusal::Fault => (OPERATION_FAILED, Owner::Platform, failed(": an error within Azure")),
        Refusal::Unknown => {
            (OPERATION_FAILED, Owner::Operator, failed(", which Mooring does not list"))
        }
    };
    let confidence = if is_sure { Confidence::Medium } else { Confidence::Low };
    Diagnosis { confidence, owner, summary, ..Diagnosis::from_cause(cause) }
}

/// Quotes the line of the code, and that of its message if it is another one.
fn evidence(text: &ScannedText, message: &DecodedMessage, found: usize) -> Vec<Evidence> {
    let near = &text.bytes[found..text.bytes.len().min(found + NEAR)];
    let labels: [&[u8]; 3] = [b"essage\"", b"essage:", b"essage="];
    let at = labels.iter().filter_map(|label| memchr::memmem::find(near, label)).min();
    let value = at.map(|at| at + b"essage\": ".len()).filter(|at| *at < near.len());
    let lines = [Some(found), value.map(|at| found + at)].into_iter().flatten();
    let mut evidence: Vec<Evidence> = Vec::new();
    for at in lines {
        let line = quote(&text.bytes, message, at);
        let is_new = !evidence.iter().any(|other| other.line.contains(&line.line));
        if !line.line.is_empty() && is_new {
            evidence.push(line);
        }
    }
    evidence
}
