//! The steps of a repair. One list drives the plan, the execution, the progress and the report.

use serde::{Deserialize, Serialize};

/// A step, in the order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each has its sentence in `what`")]
pub enum Step {
    Snapshot,
    Settle,
    Recheck,
    CreateTemporary,
    ProveTemporary,
    CordonPool,
    DrainPool,
    ProvePlacement,
    DeletePool,
    RecreatePool,
    AwaitNodes,
    VerifyCure,
    CordonTemporary,
    DrainTemporary,
    DeleteTemporary,
    TouchCluster,
}

impl mooring_workflow::Step for Step {
    const ALL: &'static [Self] = &[
        Self::Snapshot,
        Self::Settle,
        Self::Recheck,
        Self::CreateTemporary,
        Self::ProveTemporary,
        Self::CordonPool,
        Self::DrainPool,
        Self::ProvePlacement,
        Self::DeletePool,
        Self::RecreatePool,
        Self::AwaitNodes,
        Self::VerifyCure,
        Self::CordonTemporary,
        Self::DrainTemporary,
        Self::DeleteTemporary,
        Self::TouchCluster,
    ];

    fn name(self) -> &'static str {
        self.about().0
    }
}

impl Step {
    pub fn what(self) -> &'static str {
        self.about().1
    }

    /// How long it takes in the usual case, in seconds.
    pub fn expected_seconds(self) -> u32 {
        self.about().2
    }

    /// What can go wrong, and what then.
    pub fn risk(self) -> &'static str {
        self.about().3
    }

    /// (name, what, seconds, risk). Durations are those of a published healthy run: temporary pool 3:14,
    /// drain 0:15, delete 1:04, recreate 3:13, drain and delete of the temporary pool 1:46.
    fn about(self) -> (&'static str, &'static str, u32, &'static str) {
        match self {
            Self::Snapshot => ("snapshot", "write the pool as it is into the journal", 2, "none"),
            Self::Settle => (
                "settle",
                "wait for, or abort, the stuck operation",
                60,
                "an aborted operation cannot be taken up again",
            ),
            Self::Recheck => ("recheck", "evaluate the guards again", 5, "none"),
            Self::CreateTemporary => (
                "create-temporary",
                "make a temporary pool that can carry the load",
                194,
                "costs quota and subnet addresses; nothing is lost if it fails",
            ),
            Self::ProveTemporary => (
                "prove-temporary",
                "wait for its nodes and prove that they have addresses",
                30,
                "the fault may hit the temporary pool too; then the run stops here",
            ),
            Self::CordonPool => {
                ("cordon-pool", "keep new pods off the pool's nodes", 2, "undone by abort")
            }
            Self::DrainPool => (
                "drain-pool",
                "evict the pool's pods as disruption budgets allow",
                15,
                "pods restart; data in emptyDir is lost",
            ),
            Self::ProvePlacement => (
                "prove-placement",
                "prove that evicted pods run elsewhere",
                30,
                "the run stops here if they do not",
            ),
            Self::DeletePool => (
                "delete-pool",
                "delete the broken pool",
                64,
                "from here on only forward: the pool is made again from the journal",
            ),
            Self::RecreatePool => (
                "recreate-pool",
                "make the pool again from the snapshot",
                193,
                "if it fails the temporary pool goes on carrying the load",
            ),
            Self::AwaitNodes => {
                ("await-nodes", "wait for the full former number of nodes", 60, "none")
            }
            Self::VerifyCure => (
                "verify-cure",
                "prove the cure: new scale set, successful write, addresses, cluster Succeeded",
                10,
                "if it is not cured the temporary pool stays",
            ),
            Self::CordonTemporary => {
                ("cordon-temporary", "keep new pods off the temporary nodes", 2, "none")
            }
            Self::DrainTemporary => {
                ("drain-temporary", "evict the temporary pool's pods", 42, "pods restart once more")
            }
            Self::DeleteTemporary => ("delete-temporary", "delete the temporary pool", 64, "none"),
            Self::TouchCluster => (
                "touch-cluster",
                "set a tag so that the cluster settles",
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
    fn the_list_is_whole_and_in_order() {
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
