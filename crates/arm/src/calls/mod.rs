//! The calls that Mooring makes, and the fields that it reads in responses.
//!
//! Types are views of the members that are used; unknown members are ignored. Resources that are written back are
//! returned as [`Value`](serde_json::Value), which keeps all members.

mod aks;
mod compute;
mod guest;
mod lists;
mod resources;

pub use aks::{
    ApiServerAccessProfile, Cluster, ClusterProperties, Kubeconfig, KubeconfigFormat, PowerState,
};
pub use aks::{DeletePool, Machine, MachineProperties, MachineState, ProvisioningError};
pub use compute::ScaleSet;
pub use compute::{
    ExtensionHandler, ExtensionView, ImageReference, InstanceView, OsProfile, StorageProfile, Vm,
    VmAgent, VmExtension, VmExtensionProperties, VmProperties, VmStatus,
};
pub use guest::{Script, ScriptOutput};
pub use lists::ActivityQuery;
pub use resources::{
    DenyAssignment, DenyAssignmentProperties, Lock, LockProperties, Permission, Principal,
};
pub use resources::{Reference, Subnet, SubnetProperties};

pub use crate::client::Versions;
