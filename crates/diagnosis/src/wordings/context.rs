//! What a text is about. Errors of other resources use the very same words.

use std::sync::LazyLock;

use super::Phrases;
use super::phrases::numbers;

/// What a text must be about for a wording to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// The wording is of nodes or VMs by itself.
    Anything,
    /// VMs, or anything of [`About::Nodes`].
    Machines,
    /// A cluster, its node pools or its nodes.
    Cluster,
    /// A cluster, its node pools or its nodes, or a node's own logs.
    Nodes,
    /// A node's own logs: kubelet, the container runtime, cloud-init, the bootstrap scripts.
    NodeLog,
}

const NODE_LOG: &[&str] = &[
    "kubelet",
    "kubelet[",
    "kubeletnotready",
    "containerd",
    "cloud-init",
    "aks-node-controller",
    "waagent",
    "cloud-node-manager",
    "/opt/azure/containers",
    "/var/log/azure/",
    "cse_cmd.sh",
    "provision_start.sh",
    "cluster-provision",
    "kubeadm",
    "windowsnodereset",
    "c:\\k\\",
    "csecmd",
    "vmsscse",
    "/opt/cni/",
    "retrycmd_",
];

const CLUSTER: &[&str] = &[
    "agentpool",
    "agentpools",
    "agent pool",
    "agentpoolprofile",
    "agentpoolprofiles",
    "node pool",
    "node pools",
    "nodepool",
    "nodepools",
    "node_pool",
    "managedcluster",
    "managedclusters",
    "managed cluster",
    "managed kubernetes cluster",
    "microsoft.containerservice",
    "containerservice",
    "container service",
    "azure_container_service",
    "kubernetes",
    "k8s-",
    "-k8s",
    " k8s ",
    "aks-",
    "-aks",
    "_aks",
    "az aks",
    "aks cluster",
    "aks nodes",
    "aks node p",
    "in aks",
    "(aks)",
    " aks ",
    "aks:",
    "'mc_",
    "\"mc_",
    "/mc_",
    " mc_",
    "_mc_",
    "karpenter",
    "nodeclaim",
    "nodeclaims",
    "aksnodeclass",
    "nodeclass",
    "azuremachine",
    "azuremachinepool",
    "azuremanagedmachinepool",
    "cluster-autoscaler",
    "cluster autoscaler",
    "autoscaler",
    "kubectl",
    "azmk8s.io",
    "azurerm_kubernetes_cluster",
    "azurerm_kubernetes_cluster_node_pool",
    "vmssagentpoolreconciler",
    "aks engine",
    "acs-engine",
    "kube-apiserver",
    "drain node",
    "draining node",
];

const MACHINES: &[&str] = &[
    "virtualmachine",
    "virtualmachines",
    "virtualmachinescaleset",
    "virtualmachinescalesets",
    "virtual machine",
    "virtual machines",
    "scale set",
    "scaleset",
    "vmss",
    "-vmss",
    "vm size",
    "vm sizes",
    "vm(s)",
    "microsoft.compute",
    "networkinterfaces",
];

/// Other services of Azure, which have subnets, SKUs and quota of their own.
pub(super) const OTHER_SERVICES: &[&str] = &[
    "applicationgateways",
    "application gateway",
    "privateendpoints",
    "private endpoint",
    "azurefirewalls",
    "bastionhosts",
    "virtualnetworkgateways",
    "serverfarms",
    "app service",
    "containergroups",
    "microsoft.apimanagement",
    "microsoft.app/",
    "microsoft.cache",
    "cache for redis",
    "redis cache",
    "redis_cache",
    "microsoft.cognitiveservices",
    "cognitive services",
    "microsoft.databricks",
    "microsoft.dbfor",
    "flexible server",
    "microsoft.documentdb",
    "microsoft.hdinsight",
    "microsoft.kusto",
    "microsoft.machinelearningservices",
    "microsoft.search",
    "microsoft.sql",
    "microsoft.synapse",
    "microsoft.web/",
];

/// The same by number.
static NUMBERS: LazyLock<[Vec<usize>; 3]> =
    LazyLock::new(|| [NODE_LOG, CLUSTER, MACHINES].map(numbers));

impl About {
    pub(crate) fn holds(self, found: &Phrases) -> bool {
        let [node_log, cluster, machines] = &*NUMBERS;
        let has = |numbers: &[usize]| found.has_any(numbers);
        match self {
            Self::Anything => true,
            Self::Machines => has(machines) || has(cluster) || has(node_log),
            Self::Cluster => has(cluster),
            Self::Nodes => has(cluster) || has(node_log),
            Self::NodeLog => has(node_log),
        }
    }
}

/// All phrases that tell what a text is about.
pub(super) fn groups() -> impl Iterator<Item = &'static [&'static str]> {
    [NODE_LOG, CLUSTER, MACHINES].into_iter()
}
