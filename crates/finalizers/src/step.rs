//! Steps of a removal. One list drives plan, execution, progress and report.

use mooring_workflow::StepInfo;
use serde::{Deserialize, Serialize};

/// A step, in the order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    DeleteObjects,
    WaitForTeardown,
    ScaleDown,
    RemoveFinalizers,
    DeleteCrds,
    DeleteBindings,
    DeleteRelease,
    DeleteNamespace,
    Verify,
}

impl Step {
    pub const ALL: &'static [Self] = &[
        Self::DeleteObjects,
        Self::WaitForTeardown,
        Self::ScaleDown,
        Self::RemoveFinalizers,
        Self::DeleteCrds,
        Self::DeleteBindings,
        Self::DeleteRelease,
        Self::DeleteNamespace,
        Self::Verify,
    ];

    /// Returns the name, as in JSON.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    pub fn what(self) -> &'static str {
        self.about().what
    }

    /// Returns the position, from 1.
    pub fn number(self) -> usize {
        self as usize + 1
    }

    pub(crate) fn about(self) -> StepInfo {
        let (name, what) = ABOUT[self as usize];
        StepInfo { name, what, expected_seconds: None, risk: "none" }
    }
}

/// Names and descriptions, in order.
const ABOUT: [(&str, &str); 9] = [
    ("delete-objects", "delete the custom resources"),
    ("wait-for-teardown", "wait for the running operator to remove its finalizers"),
    ("scale-down", "scale the operator to zero, and wait until its pods are deleted"),
    (
        "remove-finalizers",
        "remove listed finalizers from objects being deleted, after a backup to the journal",
    ),
    ("delete-crds", "delete CRDs that have no objects left"),
    ("delete-bindings", "delete cluster role bindings"),
    ("delete-release", "delete the resources of the Helm release, then its records"),
    ("delete-namespace", "delete the operator's namespace, and wait until it is deleted"),
    ("verify", "verify, and list what remains"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_complete_and_in_order() {
        assert!(Step::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        for step in Step::ALL.iter().copied() {
            assert_eq!(serde_json::to_value(step).unwrap(), step.name());
            assert!(!step.what().is_empty());
        }
    }
}
