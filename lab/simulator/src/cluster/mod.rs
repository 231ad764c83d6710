//! Azure and the cluster's API, connected.
//!
//! VMs of Azure become Nodes, VMs of Karpenter have `NodeClaim`s, and the Nodes of a deleted pool are deleted.
//! [`SimulatedCluster`] is a plain value like the models in it; [`Shell`] adds one clock and one lock.

mod certificates;
mod claims;
mod model;
mod nodes;
mod service;
mod sync;
mod workloads;

pub use crate::clock::ClockTask;
pub use model::SimulatedCluster;
pub(crate) use service::KubernetesApi;
pub use service::Shell;

use std::time::Duration;

use mooring_contract::Secret;

use crate::{azure, karpenter, kubernetes};

/// The default is a healthy cluster without Karpenter.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    pub azure: azure::AzureOptions,
    /// Options of the cluster. Seed, start, controllers and authentication are overwritten.
    pub kubernetes: kubernetes::KubernetesOptions,
    pub karpenter: Option<karpenter::KarpenterOptions>,
    /// `NodeClaim`s as up to version 1.12: their conditions are one list, not a map.
    pub atomic_conditions: bool,
    /// Runs the cluster's own workloads: DNS, metrics and similar, with their PDBs.
    pub workloads: bool,
    /// Kubelets use AKS's secure TLS bootstrapping, which creates no certificate signing request.
    pub secure_tls_bootstrapping: bool,
    /// Token of the cluster's administrator.
    pub token: Secret,
    /// Time from a node's registration until it is Ready.
    pub node_start: Duration,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self {
            azure: azure::AzureOptions::default(),
            kubernetes: kubernetes::KubernetesOptions::default(),
            karpenter: None,
            atomic_conditions: false,
            workloads: true,
            secure_tls_bootstrapping: false,
            token: Secret::from("simulated-administrator"),
            node_start: Duration::from_secs(15),
        }
    }
}
