//! Every message and every enum.

use super::{
    ApiServerConfig, AuthConfig, BootstrappingConfig, CloudProviderConfig, ClusterConfig,
    ClusterNetworkConfig, ContainerdConfig, CustomCloudConfig, CustomLinuxOsConfig,
    CustomSearchDomainConfig, GpuConfig, HttpProxyConfig, ImdsRestrictionConfig, KubeBinaryConfig,
    KubeletAnonymousAuthentication, KubeletAuthentication, KubeletAuthorization, KubeletConfig,
    KubeletConfigFileConfig, KubeletWebhookAuthentication, KubeletWebhookAuthorization,
    KubeletX509Authentication, LoadBalancerConfig, LocalDnsHealthCheck, LocalDnsOverrides,
    LocalDnsProfile, NetworkConfig, NodeConfig, RuncConfig, ServiceAccountImagePullProfile,
    SysctlConfig, UlimitConfig, enums,
};
use crate::node_config::schema::{EnumFacts, Message, MessageFacts};

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
