//! What plans, reports and screens say of a run: its subject, steps, ends and reasons, and what is left.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Target of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Subject {
    Pool(String),
    Profile(String),
}

impl Subject {
    pub fn name(&self) -> &str {
        match self {
            Self::Pool(name) | Self::Profile(name) => name,
        }
    }
}

/// What plans, progress and reports say about a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepInfo {
    /// As in JSON.
    pub name: &'static str,
    pub what: &'static str,
    /// The usual duration; none if it depends on the number of objects.
    pub expected_seconds: Option<u32>,
    pub risk: &'static str,
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    Complete,
    /// Complete, except for what remains.
    Partial,
    NothingToDo,
    Refused,
    /// Rolled back as far as possible.
    Aborted,
}

/// The reason for a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The deadline of the session.
    Deadline,
    Interrupted,
    StepTimeout,
    /// No approval covers the next effect.
    NotApproved,
    /// The object of the run is not the one of the plan.
    Changed,
    Gone,
    CheckFailed,
    /// What runs there may end by itself.
    TooRecent,
    Unidentified,
    NameTaken,
    EffectRefused,
    TooManyAttempts,
    Blocked,
    NotPermitted,
    SignedOut,
    /// A rollback has ended, and the run can only continue.
    NotUndoable,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EffectStatus {
    /// Time of the attempt; none until it is known.
    pub at: Option<Timestamp>,
    pub what: String,
    /// Removed finalizers.
    pub removed: Vec<String>,
    pub error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OverrideStatus {
    pub check: String,
    pub comment: String,
}

/// Something lost, kept or left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remaining {
    pub what: String,
    pub explanation: Option<String>,
    pub finalizers: Vec<String>,
}

impl From<String> for Remaining {
    fn from(what: String) -> Self {
        Self { what, explanation: None, finalizers: Vec::new() }
    }
}
