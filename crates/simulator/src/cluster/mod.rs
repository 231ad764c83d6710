//! Azure, the cluster's API, and what connects them.
//!
//! Machines of Azure become Nodes, machines of Karpenter have `NodeClaim`s, a pool that is deleted takes its Nodes
//! with it. [`Cluster`] is a plain value like the models in it; [`Shell`] adds one clock and one lock.

mod access;
mod certificates;
mod claims;
mod follow;
mod model;
mod nodes;
mod options;
mod service;
mod workloads;

pub use crate::clock::Running;
pub use model::Cluster;
pub use options::Options;
pub(crate) use service::KubernetesApi;
pub use service::Shell;
