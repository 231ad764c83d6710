//! Conditions of an action.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Pass,
    Fail,
    /// Never treated as a pass.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The name that `--override` takes.
    pub name: String,
    pub outcome: Outcome,
    pub evidence: Vec<String>,
    /// The operator's reason for an override.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overridden: Option<String>,
    /// Unknown only until an operation in progress ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transient: bool,
}

impl CheckResult {
    /// Creates a result with one piece of evidence.
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

    /// Returns all evidence as one text.
    pub fn detail(&self) -> String {
        self.evidence.join("; ")
    }

    /// Returns true if the check passed or was overridden.
    pub fn allows_run(&self) -> bool {
        self.outcome == Outcome::Pass || self.overridden.is_some()
    }
}
