//! The text of a journal: its last run, and a line about each earlier one.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::run::Workflow;
use super::run::{JournalError, Phase, Run};
use crate::model::report::Finish;

/// Maximum size of a document at the start of its run, which leaves room for its progress.
pub const MAX_START_BYTES: usize = MAX_BYTES / 2;

/// Maximum size of a document. The API server rejects objects of more than 1 MiB.
pub(crate) const MAX_BYTES: usize = 512 * 1024;

/// Earlier runs that a document names.
const MAX_PAST: usize = 8;

/// Runs that deleted something since then are named as well.
const KEPT_AFTER_DELETION: SignedDuration = SignedDuration::from_hours(24);

/// An earlier run, which has finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastRun {
    pub id: String,
    pub finish: Finish,
    pub started: Timestamp,
    pub last: Timestamp,
    /// The deletion that [`Workflow::deleted`] returned.
    pub deleted: Option<Timestamp>,
}

/// The runs of a journal.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(bound = "")]
pub struct Runs<W: Workflow> {
    #[serde(rename = "run")]
    pub last: Option<Run<W>>,
    /// Oldest first.
    pub past: Vec<PastRun>,
}

impl<W: Workflow> Default for Runs<W> {
    fn default() -> Self {
        Self { last: None, past: Vec::new() }
    }
}

impl<W: Workflow> Runs<W> {
    /// Returns true if the journal names a run.
    pub fn knows(&self, id: &str) -> bool {
        self.last.as_ref().is_some_and(|run| run.id == id)
            || self.past.iter().any(|run| run.id == id)
    }

    /// Returns the finished runs, oldest first.
    pub fn finished(&self) -> impl Iterator<Item = PastRun> {
        self.past.iter().cloned().chain(self.last.as_ref().and_then(finished))
    }

    /// Makes room for another run; returns the runs that the journal does not name any more.
    pub fn archive(&mut self, now: Timestamp) -> Vec<String> {
        self.past = self.finished().collect();
        self.last = None;
        let mut dropped = Vec::new();
        while self.past.len() > MAX_PAST {
            let counts = |run: &PastRun| {
                run.deleted.is_some_and(|at| now.duration_since(at) < KEPT_AFTER_DELETION)
            };
            let Some(at) = self.past.iter().position(|run| !counts(run)) else {
                break;
            };
            dropped.push(self.past.remove(at).id);
        }
        dropped
    }
}

fn finished<W: Workflow>(run: &Run<W>) -> Option<PastRun> {
    let Phase::Finished(finish) = run.phase else { return None };
    let (started, last) = (run.started, run.last);
    Some(PastRun { id: run.id.clone(), finish, started, last, deleted: W::deleted(run) })
}

/// Returns the text of a run and the earlier ones.
pub fn encode<W: Workflow>(run: &Run<W>, past: &[PastRun]) -> String {
    #[derive(Serialize)]
    #[serde(bound = "")]
    struct Document<'a, W: Workflow> {
        schema: &'static str,
        run: &'a Run<W>,
        past: &'a [PastRun],
    }
    // Writing to memory does not fail.
    serde_json::to_string(&Document { schema: W::SCHEMA, run, past }).unwrap_or_default()
}

pub fn decode<W: Workflow>(text: &str) -> Result<Runs<W>, JournalError> {
    // Never the text itself: an edited journal may contain anything.
    let unreadable = |error: serde_json::Error| {
        let why = match error.column() {
            0 => "it has an unknown or missing value".to_owned(),
            column => format!("not JSON at column {column}"),
        };
        JournalError::Unreadable(why)
    };
    let value: Value = serde_json::from_str(text).map_err(unreadable)?;
    let schema = value.get("schema").and_then(Value::as_str).unwrap_or_default();
    if schema != W::SCHEMA {
        return Err(JournalError::Schema(mooring_redact::identifier(schema), W::SCHEMA));
    }
    let runs: Runs<W> = serde_json::from_value(value).map_err(unreadable)?;
    match runs.last.as_ref().map(Run::verify) {
        Some(Err(why)) => Err(JournalError::Unreadable(why.to_owned())),
        _ => Ok(runs),
    }
}
