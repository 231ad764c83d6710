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

use super::schema::{EnumFacts, Message, MessageFacts};

const fn facts<M: Message>() -> MessageFacts {
    MessageFacts { name: M::NAME, fields: M::FIELDS }
}

/// Every message of the contract, the document first.
pub const MESSAGES: &[MessageFacts] = &[
    facts::<NodeConfig>(),
    facts::<KubeBinaryConfig>(),
    facts::<CustomCloudConfig>(),
    facts::<ApiServerConfig>(),
    facts::<ClusterConfig>(),
    facts::<ClusterNetworkConfig>(),
    facts::<LoadBalancerConfig>(),
    facts::<CloudProviderConfig>(),
    facts::<BootstrappingConfig>(),
    facts::<AuthConfig>(),
    facts::<RuncConfig>(),
    facts::<ContainerdConfig>(),
    facts::<KubeletConfig>(),
    facts::<KubeletConfigFileConfig>(),
    facts::<KubeletAuthentication>(),
    facts::<KubeletX509Authentication>(),
    facts::<KubeletWebhookAuthentication>(),
    facts::<KubeletAnonymousAuthentication>(),
    facts::<KubeletAuthorization>(),
    facts::<KubeletWebhookAuthorization>(),
    facts::<CustomSearchDomainConfig>(),
    facts::<CustomLinuxOsConfig>(),
    facts::<SysctlConfig>(),
    facts::<UlimitConfig>(),
    facts::<HttpProxyConfig>(),
    facts::<GpuConfig>(),
    facts::<NetworkConfig>(),
    facts::<ImdsRestrictionConfig>(),
    facts::<LocalDnsProfile>(),
    facts::<LocalDnsOverrides>(),
    facts::<LocalDnsHealthCheck>(),
    facts::<ServiceAccountImagePullProfile>(),
];

pub const ENUMS: &[EnumFacts] = enums::ALL;
