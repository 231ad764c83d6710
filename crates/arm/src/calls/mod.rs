//! The calls that Mooring makes, and what it reads in their answers.
//!
//! A type here is a view: it knows the members that we use, and lets all others pass. What will be written
//! back comes as [`Raw`](crate::Raw), with its text.

mod activity_log;
mod agent_pool;
mod authorization;
mod capacity;
mod cluster;
mod graph;
mod lenient;
mod machine;
mod network;
mod page;
mod run_command;
mod scale_set;
mod versions;
mod vm;

pub use activity_log::{ActivityEvent, ActivityQuery, Localized};
pub use agent_pool::{AgentPool, AgentPoolProperties, DeletePool};
pub use authorization::{
    DenyAssignment, DenyAssignmentProperties, Lock, LockProperties, Permission, Principal,
};
pub use cluster::{
    AksOperation, ApiServerAccessProfile, Cluster, ClusterProperties, Kubeconfig, KubeconfigFormat,
};
pub use lenient::{PoolMode, PowerState, ProvisioningState};
pub use machine::{Machine, MachineProperties, MachineStatus};
pub use network::{
    IpConfiguration, IpConfigurationProperties, NetworkInterface, NetworkInterfaceProperties,
    Reference, Subnet, SubnetProperties,
};
pub use run_command::{Script, ScriptOutput};
pub use scale_set::{
    OsProfile, ScaleSet, ScaleSetProperties, ScaleSetVm, ScaleSetVmProperties, Sku, VmProfile,
};
pub use versions::Versions;
pub use vm::{
    Extension, ExtensionProperties, ExtensionView, ImageReference, InstanceView, StorageProfile,
    Vm, VmAgent, VmProperties, VmStatus,
};
