//! Changes in Azure that a cluster's API would see.

use std::collections::BTreeMap;

use super::machine::Join;

/// A change that the Kubernetes model applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AzureChange {
    /// The kubelet of a pool's VM or of a Karpenter VM registers, as far as it gets.
    NodeJoined(AzureNode),
    NodeGone {
        node: String,
        provider_id: String,
    },
    VmCreated(Vm),
    /// A Karpenter-style VM runs, and its extensions can be created.
    VmRuns(Vm),
    VmGone(Vm),
    CseEnded {
        vm: Vm,
        /// Exit code in the extension's report; 0 is success.
        exit_code: i32,
        message: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureNode {
    pub name: String,
    pub provider_id: String,
    /// Agent pool, if it belongs to one.
    pub pool: Option<String>,
    /// Scale set and instance id, if it belongs to one.
    pub instance: Option<(String, String)>,
    /// NodeClaim, for a VM of Karpenter.
    pub claim: Option<String>,
    pub vm_id: String,
    pub labels: BTreeMap<String, String>,
    /// Taints in the form of the pool: `key=value:Effect`.
    pub taints: Vec<String>,
    pub image_version: String,
    /// Version of its kubelet, without a `v`.
    pub kubernetes_version: String,
    pub address: String,
    pub join: Join,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vm {
    /// `aks-` and the name of the NodeClaim.
    pub name: String,
    pub claim: String,
    pub node_pool: String,
    pub provider_id: String,
    /// For example `202601.13.0`.
    pub image_version: String,
    pub size: String,
    pub zone: String,
}
