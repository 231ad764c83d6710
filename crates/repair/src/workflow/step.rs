//! Steps of a repair. One list drives plan, execution, progress and report.

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

impl mooring_workflow::Step for Step {
    const ALL: &'static [Self] = &[
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

    fn name(self) -> &'static str {
        self.about().0
    }
}

impl Step {
    pub fn what(self) -> &'static str {
        self.about().1
    }

    pub fn expected_seconds(self) -> u32 {
        self.about().2
    }

    pub fn risk(self) -> &'static str {
        self.about().3
    }

    /// (name, what, seconds, risk). Durations are those of a published healthy run: temporary pool 3:14,
    /// drain 0:15, delete 1:04, recreate 3:13, drain and delete of the temporary pool 1:46.
    fn about(self) -> (&'static str, &'static str, u32, &'static str) {
        match self {
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
        }
    }
}

#[cfg(test)]
mod tests {
    use mooring_workflow::Step as _;

    use super::*;

    #[test]
    fn steps_are_complete_and_in_order() {
        let mut step = Some(Step::Snapshot);
        let mut walked = Vec::new();
        while let Some(at) = step {
            walked.push(at);
            step = at.following();
        }
        assert_eq!(walked, Step::ALL);
        assert!(Step::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        for step in Step::ALL.iter().copied() {
            assert_eq!(serde_json::to_value(step).unwrap(), step.name());
            assert!(
                !step.what().is_empty() && !step.risk().is_empty() && step.expected_seconds() > 0
            );
        }
    }
}
