//! The calls that Mooring makes, and the fields that it reads in responses.
//!
//! Types are views of the members that are used; unknown members are ignored. Resources that are written back are
//! returned as [`Raw`](crate::Raw), with their text.

mod activity_log;
mod agent_pool;
mod authorization;
mod boot_diagnostics;
mod capacity;
mod cluster;
mod graph;
mod network;
mod page;
mod resource_group;
mod run_command;
mod scale_set;
mod vm;

pub use activity_log::ActivityQuery;
pub use agent_pool::{DeletePool, Machine, MachineProperties, MachineState, ProvisioningError};
pub use authorization::{
    DenyAssignment, DenyAssignmentProperties, Lock, LockProperties, Permission, Principal,
};
pub use cluster::{
    ApiServerAccessProfile, Cluster, ClusterProperties, Kubeconfig, KubeconfigFormat, PowerState,
};
pub use network::{Reference, Subnet, SubnetProperties};
pub use run_command::{Script, ScriptOutput};
pub use scale_set::ScaleSet;
pub use vm::{
    ExtensionHandler, ExtensionView, ImageReference, InstanceView, OsProfile, StorageProfile, Vm,
    VmAgent, VmExtension, VmExtensionProperties, VmProperties, VmStatus,
};

pub use crate::versions::Versions;
