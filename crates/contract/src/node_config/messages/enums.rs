//! Enums of the contract.

use crate::node_config::schema::{EnumFacts, open_enum};

open_enum! {
    /// Runtime of workloads; no effect on the node.
    pub enum WorkloadRuntime {
        0 UNSPECIFIED = "WORKLOAD_RUNTIME_UNSPECIFIED",
        1 OCI_CONTAINER = "WORKLOAD_RUNTIME_OCI_CONTAINER",
    }
}

open_enum! {
    pub enum VmType {
        0 UNSPECIFIED = "VM_TYPE_UNSPECIFIED",
        1 STANDARD = "VM_TYPE_STANDARD",
        2 VMSS = "VM_TYPE_VMSS",
    }
}

open_enum! {
    pub enum LoadBalancerSku {
        0 UNSPECIFIED = "LOAD_BALANCER_SKU_UNSPECIFIED",
        1 BASIC = "LOAD_BALANCER_SKU_BASIC",
        2 STANDARD = "LOAD_BALANCER_SKU_STANDARD",
    }
}

open_enum! {
    pub enum BootstrappingAuthMethod {
        0 UNSPECIFIED = "BOOTSTRAPPING_AUTH_METHOD_UNSPECIFIED",
        1 BOOTSTRAP_TOKEN = "BOOTSTRAPPING_AUTH_METHOD_BOOTSTRAP_TOKEN",
        2 SECURE_TLS_BOOTSTRAPPING = "BOOTSTRAPPING_AUTH_METHOD_SECURE_TLS_BOOTSTRAPPING",
        3 ARC_MSI = "BOOTSTRAPPING_AUTH_METHOD_ARC_MSI",
        4 AZURE_MSI = "BOOTSTRAPPING_AUTH_METHOD_AZURE_MSI",
    }
}

open_enum! {
    /// No effect on the node.
    pub enum ClusterJoinMethod {
        0 UNSPECIFIED = "CLUSTER_JOIN_METHOD_UNSPECIFIED",
        1 GENERATE_CSR = "CLUSTER_JOIN_METHOD_GENERATE_CSR",
        2 USE_BOOTSTRAPPING_AUTH = "CLUSTER_JOIN_METHOD_USE_BOOTSTRAPPING_AUTH",
    }
}

open_enum! {
    pub enum KubeletDisk {
        0 UNSPECIFIED = "KUBELET_DISK_UNSPECIFIED",
        1 OS_DISK = "KUBELET_DISK_OS_DISK",
        2 TEMP_DISK = "KUBELET_DISK_TEMP_DISK",
    }
}

open_enum! {
    pub enum NetworkPlugin {
        0 UNSPECIFIED = "NETWORK_PLUGIN_UNSPECIFIED",
        1 NONE = "NETWORK_PLUGIN_NONE",
        2 AZURE = "NETWORK_PLUGIN_AZURE",
        3 KUBENET = "NETWORK_PLUGIN_KUBENET",
    }
}

open_enum! {
    pub enum NetworkPolicy {
        0 UNSPECIFIED = "NETWORK_POLICY_UNSPECIFIED",
        1 NONE = "NETWORK_POLICY_NONE",
        2 AZURE = "NETWORK_POLICY_AZURE",
        3 CALICO = "NETWORK_POLICY_CALICO",
    }
}

pub(super) const ALL: &[EnumFacts] = &[
    WorkloadRuntime::FACTS,
    VmType::FACTS,
    LoadBalancerSku::FACTS,
    BootstrappingAuthMethod::FACTS,
    ClusterJoinMethod::FACTS,
    KubeletDisk::FACTS,
    NetworkPlugin::FACTS,
    NetworkPolicy::FACTS,
];
