//! The steps of a removal. One list drives the plan, the execution, the progress and the report.

use serde::{Deserialize, Serialize};

/// A step, in the order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each has its sentence in `what`")]
pub enum Step {
    DeleteObjects,
    AwaitTeardown,
    ScaleDown,
    StripFinalizers,
    DeleteDefinitions,
    DeleteBindings,
    DeleteRelease,
    DeleteNamespace,
    Verify,
}

impl mooring_workflow::Step for Step {
    const ALL: &'static [Self] = &[
        Self::DeleteObjects,
        Self::AwaitTeardown,
        Self::ScaleDown,
        Self::StripFinalizers,
        Self::DeleteDefinitions,
        Self::DeleteBindings,
        Self::DeleteRelease,
        Self::DeleteNamespace,
        Self::Verify,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::DeleteObjects => "delete-objects",
            Self::AwaitTeardown => "await-teardown",
            Self::ScaleDown => "scale-down",
            Self::StripFinalizers => "strip-finalizers",
            Self::DeleteDefinitions => "delete-definitions",
            Self::DeleteBindings => "delete-bindings",
            Self::DeleteRelease => "delete-release",
            Self::DeleteNamespace => "delete-namespace",
            Self::Verify => "verify",
        }
    }
}

impl Step {
    pub fn what(self) -> &'static str {
        match self {
            Self::DeleteObjects => "delete the custom resources",
            Self::AwaitTeardown => "let the operator that still runs remove its own finalizers",
            Self::ScaleDown => "scale the operator to zero, and wait until its pods are gone",
            Self::StripFinalizers => {
                "remove listed finalizers from what is being deleted, each with a backup in the journal"
            }
            Self::DeleteDefinitions => "delete definitions of which no object is left",
            Self::DeleteBindings => "delete cluster role bindings",
            Self::DeleteRelease => "delete what the Helm release made, then its records",
            Self::DeleteNamespace => "delete the operator's namespace, and wait until it is gone",
            Self::Verify => "look at everything again, and say what is left",
        }
    }
}

#[cfg(test)]
mod tests {
    use mooring_workflow::Step as _;

    use super::*;

    #[test]
    fn the_list_is_whole_and_in_order() {
        let walked: Vec<Step> =
            std::iter::successors(Some(Step::DeleteObjects), |step| step.following()).collect();
        assert_eq!(walked, Step::ALL);
        for step in Step::ALL.iter().copied() {
            assert_eq!(serde_json::to_value(step).unwrap(), step.name());
            assert!(!step.what().is_empty());
        }
    }
}
