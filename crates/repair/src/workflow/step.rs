//! Steps of a repair. One list drives plan, execution, progress and report.

use mooring_workflow::StepInfo;
use serde::{Deserialize, Serialize};

/// A step, in the order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    Snapshot,
    ClearOperation,
    Recheck,
    CreateTemporary,
    VerifyTemporary,
    CordonPool,
    DrainPool,
    VerifyWorkloads,
    DeletePool,
    RecreatePool,
    WaitForNodes,
    VerifyPool,
    CordonTemporary,
    DrainTemporary,
    DeleteTemporary,
    ReconcileCluster,
}

impl Step {
    pub const ALL: &'static [Self] = &[
        Self::Snapshot,
        Self::ClearOperation,
        Self::Recheck,
        Self::CreateTemporary,
        Self::VerifyTemporary,
        Self::CordonPool,
        Self::DrainPool,
        Self::VerifyWorkloads,
        Self::DeletePool,
        Self::RecreatePool,
        Self::WaitForNodes,
        Self::VerifyPool,
        Self::CordonTemporary,
        Self::DrainTemporary,
        Self::DeleteTemporary,
        Self::ReconcileCluster,
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
        Self::ALL.iter().position(|one| *one == self).map_or(0, |at| at + 1)
    }

    pub fn expected_seconds(self) -> u32 {
        self.about().expected_seconds.unwrap_or_default()
    }

    pub fn risk(self) -> Option<&'static str> {
        Some(self.about().risk).filter(|risk| *risk != "none")
    }

    /// Durations are those of a published healthy run: temporary pool 3:14, drain 0:15, delete 1:04, recreate 3:13, drain and
    /// delete of the temporary pool 1:46.
    pub(crate) fn about(self) -> StepInfo {
        let (name, what, seconds, risk) = match self {
            Self::Snapshot => ("snapshot", "save the pool configuration to the journal", 2, "none"),
            Self::ClearOperation => (
                "clear-operation",
                "wait for the running operation; abort it if stuck",
                60,
                "an abort is final",
            ),
            Self::Recheck => ("recheck", "run all checks again", 5, "none"),
            Self::CreateTemporary => (
                "create-temporary",
                "create a temporary pool of the same size",
                194,
                "uses quota and IP addresses",
            ),
            Self::VerifyTemporary => (
                "verify-temporary",
                "wait for Ready nodes with IP addresses",
                30,
                "the run stops here if it fails",
            ),
            Self::CordonPool => ("cordon-pool", "cordon the pool's nodes", 2, "none"),
            Self::DrainPool => (
                "drain-pool",
                "evict its pods, honoring PDBs (pods restart)",
                15,
                "data in emptyDir is lost",
            ),
            Self::VerifyWorkloads => (
                "verify-workloads",
                "verify that evicted workloads run on other nodes",
                30,
                "the run stops here if it fails",
            ),
            Self::DeletePool => {
                ("delete-pool", "delete the wedged pool", 64, "cannot be rolled back")
            }
            Self::RecreatePool => (
                "recreate-pool",
                "recreate the pool from the snapshot",
                193,
                "temporary pool stays if it fails",
            ),
            Self::WaitForNodes => {
                ("wait-for-nodes", "wait until as many nodes as before are Ready", 60, "none")
            }
            Self::VerifyPool => (
                "verify-pool",
                "verify scale set, writes, addresses, cluster state",
                10,
                "temporary pool stays if it fails",
            ),
            Self::CordonTemporary => {
                ("cordon-temporary", "cordon the temporary pool's nodes", 2, "none")
            }
            Self::DrainTemporary => (
                "drain-temporary",
                "evict the temporary pool's pods, honoring PDBs",
                42,
                "pods restart again",
            ),
            Self::DeleteTemporary => ("delete-temporary", "delete the temporary pool", 64, "none"),
            Self::ReconcileCluster => (
                "reconcile-cluster",
                "update a cluster tag to trigger reconciliation",
                10,
                "a tag stays on the cluster",
            ),
        };
        StepInfo { name, what, expected_seconds: Some(seconds), risk }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_complete_and_in_order() {
        assert!(Step::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        for step in Step::ALL.iter().copied() {
            assert_eq!(serde_json::to_value(step).unwrap(), step.name());
            assert!(!step.what().is_empty() && step.expected_seconds() > 0);
        }
    }
}
