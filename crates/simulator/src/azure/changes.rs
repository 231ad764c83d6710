//! What happened in Azure that a cluster's API would see.

use std::collections::BTreeMap;

use super::cse::Join;

/// A change that the Kubernetes side of the world follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The kubelet of a pool's machine, or a Karpenter VM's, registers, as far as it gets.
    NodeJoined(Node),
    /// A node's machine is gone.
    NodeGone {
        /// The node's name.
        node: String,
        /// Its machine.
        provider_id: String,
    },
    /// A Karpenter-style VM exists.
    VmCreated(Vm),
    /// A Karpenter-style VM runs, and its extensions are to be created.
    VmRuns(Vm),
    /// A Karpenter-style VM is gone.
    VmGone(Vm),
    /// The bootstrap of a Karpenter-style VM ended.
    CseEnded {
        /// The VM.
        vm: Vm,
        /// What its extension reports; exit code 0 is success.
        exit_code: i32,
        /// The extension's message.
        message: String,
    },
}

/// A node as it registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The node's name.
    pub name: String,
    /// `azure:///subscriptions/…`.
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
    /// The node image.
    pub image_version: String,
    /// The version of its kubelet, without a `v`.
    pub kubernetes_version: String,
    /// Its address.
    pub address: String,
    /// How far its kubelet gets.
    pub join: Join,
}

/// A VM that Karpenter made, or would have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vm {
    /// The VM's name: `aks-` and the claim's.
    pub name: String,
    /// The NodeClaim.
    pub claim: String,
    /// The `NodePool`.
    pub node_pool: String,
    /// `azure:///subscriptions/…`.
    pub provider_id: String,
    /// The node image's version: `202601.13.0`.
    pub image_version: String,
    /// Its size: `Standard_D4s_v5`.
    pub size: String,
    /// Its zone: `westeurope-1`.
    pub zone: String,
}
