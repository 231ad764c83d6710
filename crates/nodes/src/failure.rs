//! The reason why a node did not join.

use std::fmt;

use jiff::Timestamp;
use mooring_diagnosis::{Hints, Stage, cause_page, diagnose};
use mooring_redact::{Limit, foreign};
use serde::Serialize;

use crate::record::FailureRecord;
use crate::verdict::Failure;

const MAX_MESSAGE: Limit = Limit::Chars(1000);
/// A report so many seconds after the failure is late: reads take up to a minute.
const LATE_REPORT: i64 = 120;

/// An exit code with its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Code {
    pub code: i32,
    pub name: Option<String>,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} {name}", self.code),
            None => write!(f, "{}", self.code),
        }
    }
}

/// A line that shows the cause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Evidence {
    pub line: String,
    pub file: Option<String>,
    /// `record`, `cluster`, `azure` or `node`.
    pub source: &'static str,
}

/// The failure of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeFailure {
    /// `OrasBinaryMissing`.
    pub cause: String,
    /// The cause in one sentence, without its full stop.
    pub summary: String,
    /// The reason of Mooring's condition or of Karpenter's: `CSEFailed`, `LaunchFailed`.
    pub condition_reason: String,
    pub message: String,
    /// The code that the node reported.
    pub reported: Option<Code>,
    /// The code of the cause, if it is another one.
    pub effective: Option<Code>,
    /// `launch`, `boot`, `bootstrap`, `register` or `ready`.
    pub stage: &'static str,
    pub owner: Option<String>,
    pub confidence: Option<String>,
    pub evidence: Vec<Evidence>,
    /// False if only an event reports it.
    pub is_confirmed: bool,
    pub failed_at: Option<Timestamp>,
    /// When the controller reported it, if later.
    pub reported_at: Option<Timestamp>,
}

impl NodeFailure {
    /// Returns the failure that a record has.
    pub fn recorded(entry: &FailureRecord) -> Self {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let reported = entry.code.map(|code| Code { code, name: entry.name.clone() });
        let effective = entry.effective_code.filter(|code| Some(*code) != entry.code);
        Self {
            stage: stage(&entry.cause, &entry.reason),
            condition_reason: entry.reason.clone(),
            summary: entry.summary.clone(),
            message: entry.message.clone(),
            reported,
            effective: effective.map(with_name),
            owner: some(&entry.owner),
            confidence: some(&entry.confidence),
            evidence: evidence(entry.evidence.as_deref(), "record"),
            is_confirmed: !entry.unconfirmed,
            failed_at: Some(entry.at),
            reported_at: entry.reported_at,
            cause: entry.cause.clone(),
        }
    }

    /// Diagnoses the message of a condition.
    pub fn diagnosed(
        reason: &str,
        message: &str,
        default_stage: Stage,
        failed_at: Option<Timestamp>,
    ) -> Self {
        let text = foreign(message, MAX_MESSAGE);
        let hints = Hints { catalog: mooring_catalog::rows(), ..Hints::default() };
        let diagnoses = diagnose(message.as_bytes(), hints);
        let Some(found) = diagnoses.first() else {
            return Self {
                cause: reason.to_owned(),
                condition_reason: reason.to_owned(),
                summary: first_sentence(&text).to_owned(),
                evidence: evidence(Some(&text), "cluster"),
                message: text,
                reported: None,
                effective: None,
                stage: default_stage.as_str(),
                owner: None,
                confidence: None,
                is_confirmed: true,
                failed_at,
                reported_at: None,
            };
        };
        let reported = found.reported.code;
        let effective = found.effective.code.filter(|code| Some(*code) != reported);
        let lines = found.evidence.iter().map(|one| Evidence {
            line: one.line.clone(),
            file: None,
            source: "cluster",
        });
        Self {
            cause: found.reason.clone(),
            summary: first_sentence(&found.summary).to_owned(),
            condition_reason: reason.to_owned(),
            message: text,
            reported: reported.map(with_name),
            effective: effective.map(with_name),
            stage: found.stage.as_str(),
            owner: Some(found.owner.as_str().to_owned()),
            confidence: Some(found.confidence.as_str().to_owned()),
            evidence: lines.collect(),
            is_confirmed: true,
            failed_at,
            reported_at: None,
        }
    }

    /// Returns the verdict on a node that Azure showed.
    pub fn observed(found: &Failure, reason: &str, message: &str) -> Self {
        let effective = found.effective.as_ref().filter(|(code, _)| Some(*code) != found.code);
        Self {
            stage: stage(&found.cause, reason),
            cause: found.cause.clone(),
            summary: found.sentence.clone(),
            condition_reason: reason.to_owned(),
            message: message.to_owned(),
            reported: found.code.map(|code| Code { code, name: found.name.clone() }),
            effective: effective.map(|(code, _)| with_name(*code)),
            owner: (!found.owner.is_empty()).then(|| found.owner.to_owned()),
            confidence: (!found.confidence.is_empty()).then(|| found.confidence.to_owned()),
            evidence: evidence(found.evidence.as_deref(), "azure"),
            is_confirmed: found.is_confirmed(),
            failed_at: None,
            reported_at: None,
        }
    }

    /// Returns how many seconds after the failure it was reported, if that was late.
    pub fn seconds_to_late_report(&self) -> Option<i64> {
        let seconds = self.reported_at?.duration_since(self.failed_at?).as_secs();
        (seconds >= LATE_REPORT).then_some(seconds)
    }

    /// Returns the code of the cause: the effective one, or that which was reported.
    pub fn code(&self) -> Option<&Code> {
        self.effective.as_ref().or(self.reported.as_ref())
    }
}

/// Returns the text up to a full stop that another sentence follows, without its own.
pub(crate) fn first_sentence(text: &str) -> &str {
    let starts = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '`');
    let end = text.match_indices(". ").find(|(at, stop)| starts(&text[at + stop.len()..]));
    end.map_or(text, |(at, _)| &text[..at]).trim_end_matches('.')
}

fn with_name(code: i32) -> Code {
    let row = mooring_codes::lookup(mooring_codes::Os::Linux, code, None);
    Code { code, name: row.first().map(|row| row.name.to_owned()) }
}

fn evidence(text: Option<&str>, source: &'static str) -> Vec<Evidence> {
    let line = text.map(str::to_owned).filter(|line| !line.is_empty());
    line.map(|line| Evidence { line, file: None, source }).into_iter().collect()
}

fn stage(cause: &str, reason: &str) -> &'static str {
    match (cause_page(cause).or_else(|| mooring_catalog::page(cause)), cause) {
        (Some(page), _) => page.stage.as_str(),
        (None, "NodeNeverReady") => Stage::Ready.as_str(),
        (None, "VMNotRunning" | "AgentSilent") => Stage::Boot.as_str(),
        (None, _) if reason == "NodeNotRegistered" => Stage::Register.as_str(),
        (None, _) => Stage::Bootstrap.as_str(),
    }
}
