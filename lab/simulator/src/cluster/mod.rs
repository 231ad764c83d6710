//! Azure and the cluster's API, connected.
//!
//! VMs of Azure become Nodes, VMs of Karpenter have `NodeClaim`s, and the Nodes of a deleted pool are deleted.
//! [`SimulatedCluster`] is a plain value like the models in it; [`Shell`] adds one clock and one lock.

mod access;
mod certificates;
mod claims;
mod model;
mod nodes;
mod options;
mod service;
mod sync;
mod workloads;

pub use crate::clock::ClockTask;
pub use model::SimulatedCluster;
pub use options::ClusterOptions;
pub(crate) use service::KubernetesApi;
pub use service::Shell;
