//! Conditions of an action.

use serde::{Deserialize, Serialize};

/// The outcome of a check, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Pass,
    /// Never treated as a pass.
    Unknown,
    Fail,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_requires_a_pass_or_an_override() {
        let result = |outcome| CheckResult::new("pdb", outcome, "e");
        let allows = [Outcome::Pass, Outcome::Fail, Outcome::Unknown].map(|outcome| {
            let overridden = Some("ticket 7".to_owned());
            (
                result(outcome).allows_run(),
                CheckResult { overridden, ..result(outcome) }.allows_run(),
            )
        });
        assert_eq!(allows, [(true, true), (false, true), (false, true)]);
    }

    #[test]
    fn detail_joins_all_evidence() {
        let mut result = CheckResult::new("pdb", Outcome::Fail, "one");
        assert_eq!((result.name.as_str(), result.detail().as_str()), ("pdb", "one"));
        result.evidence.push("two".to_owned());
        assert_eq!(result.detail(), "one; two");
    }
}
