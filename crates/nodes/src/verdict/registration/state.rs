//! Observed state of a VM, its Node and its certificate signing request.

use crate::unregistered::NodeState;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VmState {
    pub power: Power,
    pub agent: AgentState,
    pub lacks_extension: bool,
    pub runs_extension: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Power {
    #[default]
    Unknown,
    Running,
    Stopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AgentState {
    #[default]
    Unknown,
    Ready,
    Silent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AzureReading {
    /// The VM was deleted, or Azure did not respond.
    Unknown,
    Denied,
    Vm(VmState),
}

impl AzureReading {
    #[must_use]
    pub fn of(vm: Option<VmState>, denied: bool) -> Self {
        match vm {
            Some(vm) => Self::Vm(vm),
            None if denied => Self::Denied,
            None => Self::Unknown,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterState {
    pub node: NodeState,
    pub request: RequestState,
}

/// The kubelet's certificate signing request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestState {
    /// Requests could not be listed.
    #[default]
    Unknown,
    /// Always the case with secure TLS bootstrapping.
    Absent,
    Pending,
    Denied,
    Approved,
}
