//! A node's life in the cluster and in Azure: from its NodeClaim to a Ready Node.
//!
//! A bundle of a node's name has the objects in separate files. Their times give the stages that the node's files
//! do not show, and all that is left if the VM was deleted.

use std::collections::BTreeMap;

use jiff::Timestamp;

pub const LAUNCH: &str = "created → launched";
pub const MACHINE: &str = "machine";
pub const BOOT: &str = "kernel, cloud-init";
pub const BOOTSTRAP: &str = "bootstrap";
/// Machine and bootstrap, if the start of the bootstrap is unknown.
pub const MACHINE_AND_BOOTSTRAP: &str = "machine, bootstrap";
pub const REGISTER: &str = "register";
pub const READY: &str = "ready";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LifeState {
    /// Not known to have failed, and not registered.
    #[default]
    Joining,
    Failed,
    /// Registered, and not Ready yet.
    NotReady,
    Joined,
}

impl LifeState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Joining => "joining",
            Self::Failed => "failed",
            Self::NotReady => "not-ready",
            Self::Joined => "joined",
        }
    }
}

/// Facts of the cluster, Azure and the failure record. Unknown times are none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeLife {
    pub node_claim: Option<String>,
    pub pool: Option<String>,
    pub state: LifeState,
    /// Cause in the failure record, or reason of a failed launch.
    pub cause: Option<String>,
    /// Exit code in the failure record.
    pub code: Option<i64>,
    pub(crate) created: Option<Timestamp>,
    pub(crate) launched: Option<Timestamp>,
    pub(crate) launch_failed: Option<Timestamp>,
    pub(crate) vm_created: Option<Timestamp>,
    /// End of the extension that runs the bootstrap.
    pub(crate) ended: Option<Timestamp>,
    pub(crate) has_failed_extension: bool,
    pub(crate) node_created: Option<Timestamp>,
    pub(crate) registered: Option<Timestamp>,
    pub(crate) ready: Option<Timestamp>,
    /// Time of the failure in the record.
    pub(crate) failed: Option<Timestamp>,
    pub(crate) usual: BTreeMap<String, f64>,
}

impl NodeLife {
    /// Sets the state, with the exit code of the bootstrap.
    pub(crate) fn judged(mut self, code: Option<i64>) -> Self {
        self.state = if self.ready.is_some() {
            LifeState::Joined
        } else if self.node_created.is_some() || self.registered.is_some() {
            LifeState::NotReady
        } else if code.is_some_and(|code| code != 0)
            || self.has_failed_extension
            || self.failed.is_some()
            || self.launch_failed.is_some()
        {
            LifeState::Failed
        } else {
            LifeState::Joining
        };
        self
    }

    /// Returns the median duration of a stage on other nodes of the pool.
    pub fn usual(&self, stage: &str) -> Option<f64> {
        self.usual.get(stage).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_sign_of_a_failure_or_a_node_sets_the_state() {
        let at = Some(Timestamp::UNIX_EPOCH);
        let state = |life: NodeLife, code| life.judged(code).state;
        let of = |life: NodeLife| state(life, None);
        assert_eq!(of(NodeLife::default()), LifeState::Joining);
        assert_eq!(state(NodeLife::default(), Some(0)), LifeState::Joining);
        assert_eq!(state(NodeLife::default(), Some(50)), LifeState::Failed);
        let failed_extension = NodeLife { has_failed_extension: true, ..NodeLife::default() };
        assert_eq!(of(failed_extension), LifeState::Failed);
        assert_eq!(of(NodeLife { failed: at, ..NodeLife::default() }), LifeState::Failed);
        assert_eq!(of(NodeLife { launch_failed: at, ..NodeLife::default() }), LifeState::Failed);
        assert_eq!(of(NodeLife { node_created: at, ..NodeLife::default() }), LifeState::NotReady);
        assert_eq!(of(NodeLife { registered: at, ..NodeLife::default() }), LifeState::NotReady);
        assert_eq!(of(NodeLife { ready: at, ..NodeLife::default() }), LifeState::Joined);
    }
}
