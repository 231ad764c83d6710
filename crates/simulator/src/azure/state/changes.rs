//! What happened in Azure that a cluster's API would see.

use std::collections::BTreeMap;

use super::machine::Join;

/// A change that the Kubernetes side of the world follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The kubelet of a pool's machine, or a Karpenter VM's, registers, as far as it gets.
    NodeJoined(Node),
    /// A node's machine is gone.
    NodeGone { node: String, provider_id: String },
    /// A Karpenter-style VM exists.
    VmCreated(Vm),
    /// A Karpenter-style VM runs, and its extensions are to be created.
    VmRuns(Vm),
    /// A Karpenter-style VM is gone.
    VmGone(Vm),
    /// The bootstrap of a Karpenter-style VM ended.
    CseEnded {
        vm: Vm,
        /// What its extension reports; exit code 0 is success.
        exit_code: i32,
        message: String,
    },
}

/// A node as it registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub name: String,
    pub provider_id: String,
    /// The agent pool, if it is one's.
    pub pool: Option<String>,
    /// The scale set and the instance's id in it, if it is one's.
    pub instance: Option<(String, String)>,
    /// The NodeClaim, for a VM of Karpenter.
    pub claim: Option<String>,
    /// The machine's own id.
    pub vm_id: String,
    /// Labels that AKS gives it.
    pub labels: BTreeMap<String, String>,
    /// Taints as the pool has them: `key=value:Effect`.
    pub taints: Vec<String>,
    pub image_version: String,
    /// The version of its kubelet, without a `v`.
    pub kubernetes_version: String,
    pub address: String,
    pub join: Join,
}

/// A VM that Karpenter made, or would have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vm {
    /// The VM's name: `aks-` and the claim's.
    pub name: String,
    pub claim: String,
    pub node_pool: String,
    pub provider_id: String,
    /// The node image's version: `202601.13.0`.
    pub image_version: String,
    pub size: String,
    pub zone: String,
}
