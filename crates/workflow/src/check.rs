//! What must hold before something is done.

use serde::{Deserialize, Serialize};

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Pass,
    /// It does not hold.
    Fail,
    /// It cannot be known. Never treated as a pass.
    Unknown,
}

/// A check that was evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The check's name, which `--override` takes.
    pub name: String,
    pub outcome: Outcome,
    /// The reasons for the outcome.
    pub evidence: Vec<String>,
    /// The reason for which an operator overrode it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overridden: Option<String>,
    /// It is unknown only because something is about to end: a later evaluation decides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transient: bool,
}

impl CheckResult {
    /// A result with one piece of evidence.
    #[must_use]
    pub fn new(name: &str, outcome: Outcome, evidence: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            outcome,
            evidence: vec![evidence.into()],
            overridden: None,
            transient: false,
        }
    }

    /// All evidence as one text.
    pub fn detail(&self) -> String {
        self.evidence.join("; ")
    }

    /// Returns true if a run may continue as far as this check is concerned.
    pub fn allows_run(&self) -> bool {
        self.outcome == Outcome::Pass || self.overridden.is_some()
    }
}
