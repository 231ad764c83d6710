//! Typed state of Azure and Kubernetes resources.
//!
//! Raw JSON is read leniently: incomplete entries are skipped, and absent members stay absent instead of becoming zero. A
//! failed query is a [`mooring_workflow::Reading`] with its reason: a missing permission is *unknown*, never *healthy*.

mod azure;
mod error_codes;
mod json;
mod kubernetes;
mod pdbs;
mod pool;
mod view;

pub use azure::{
    ActivityEvent, Addresses, AksOperation, Instance, InstanceStatus, ManagedCluster, Nic, ScaleSet,
};
pub use error_codes::{ErrorTexts, carries, codes};
pub use kubernetes::{Node, Pod, PodController, Replicas, foreign_node};
pub use pdbs::{EvictionBlocker, Pdb, Selector};
pub(crate) use pool::is_windows;
pub use pool::{Pool, pool_name_of_id};
pub use view::ClusterView;
