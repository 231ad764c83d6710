//! Policies and timeouts of a repair.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

/// Maximum recreations of a pool within [`BREAKER_PERIOD`].
pub(crate) const MAX_RECREATIONS: usize = 2;
pub(crate) const BREAKER_PERIOD: SignedDuration = SignedDuration::from_hours(24);

/// Kubernetes version of the recreated pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VersionPolicy {
    /// Version of the current nodes: a repair is not an upgrade.
    #[default]
    Keep,
    ControlPlane,
}

impl VersionPolicy {
    /// Returns the value of `--kubernetes-version`.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::ControlPlane => "control-plane",
        }
    }
}

/// What shows that writes keep failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignPolicy {
    /// Enough failed writes, or live state that shows the same.
    #[default]
    Direct,
    /// Enough failed writes only.
    Writes,
}

impl SignPolicy {
    /// Returns the value of `--signs`.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Writes => "writes",
        }
    }
}

/// Policy for PDBs that block the eviction of a pod.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetPolicy {
    /// Wait until the drain timeout, then stop; the run can be resumed.
    #[default]
    Wait,
    /// Stop as soon as a PDB blocks.
    Stop,
    /// Wait, then delete the pod, for the recorded reason.
    Override(String),
}

/// Timeouts. A run that exceeds one can be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub overall: SignedDuration,
    /// Minimum age of an operation that is aborted.
    pub operation_age: SignedDuration,
    /// Time for an instance to register as a node.
    pub registration: SignedDuration,
    /// Wait for a final state of the cluster.
    pub settle: SignedDuration,
    /// Wait for a pool operation and its nodes.
    pub pool: SignedDuration,
    pub drain: SignedDuration,
    /// Wait for evicted pods to run on other nodes.
    pub placement: SignedDuration,
    pub poll: SignedDuration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            overall: SignedDuration::from_mins(60),
            operation_age: SignedDuration::from_mins(30),
            registration: SignedDuration::from_mins(10),
            settle: SignedDuration::from_mins(30),
            pool: SignedDuration::from_mins(20),
            drain: SignedDuration::from_mins(15),
            placement: SignedDuration::from_mins(10),
            poll: SignedDuration::from_secs(3),
        }
    }
}
