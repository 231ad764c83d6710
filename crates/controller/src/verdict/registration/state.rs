//! Observed state of a VM, its Node and its certificate signing request.

use crate::observation::node::NodeState;
use crate::observation::{Agent, Cse, Power, VmStatus};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VmState {
    pub power: Power,
    pub agent: Agent,
    pub lacks_extension: bool,
    pub runs_extension: bool,
}

impl VmState {
    #[must_use]
    pub fn of(vm: &VmStatus) -> Self {
        let cse = vm.cse();
        Self {
            power: vm.power,
            agent: vm.agent,
            lacks_extension: cse == Cse::Absent,
            runs_extension: cse == Cse::Running,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AzureState {
    /// The VM was deleted, or Azure did not respond.
    Unknown,
    Denied,
    Vm(VmState),
}

impl AzureState {
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
