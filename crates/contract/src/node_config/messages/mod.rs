//! The contract: 32 messages, 257 fields, 8 enums.
//!
//! Parser, serializer and description are generated from this directory.

mod binaries;
mod cluster;
mod credentials;
mod enums;
mod kubelet;
mod linux_os;
mod network;
mod root;
mod table;

pub use binaries::{ContainerdConfig, GpuConfig, KubeBinaryConfig, RuncConfig};
pub use cluster::{
    ApiServerConfig, CloudProviderConfig, ClusterConfig, ClusterNetworkConfig, CustomCloudConfig,
    LoadBalancerConfig,
};
pub use credentials::{
    AuthConfig, BootstrappingConfig, ImdsRestrictionConfig, ServiceAccountImagePullProfile,
};
pub use enums::{
    BootstrappingAuthMethod, ClusterJoinMethod, KubeletDisk, LoadBalancerSku, NetworkPlugin,
    NetworkPolicy, VmType, WorkloadRuntime,
};
pub use kubelet::{
    KubeletAnonymousAuthentication, KubeletAuthentication, KubeletAuthorization, KubeletConfig,
    KubeletConfigFileConfig, KubeletWebhookAuthentication, KubeletWebhookAuthorization,
    KubeletX509Authentication,
};
pub use linux_os::{CustomLinuxOsConfig, SysctlConfig, UlimitConfig};
pub use network::{
    CustomSearchDomainConfig, HttpProxyConfig, LocalDnsHealthCheck, LocalDnsOverrides,
    LocalDnsProfile, NetworkConfig,
};
pub use root::NodeConfig;
pub use table::{ENUMS, MESSAGES};
