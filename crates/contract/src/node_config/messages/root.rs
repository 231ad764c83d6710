//! The document itself.

use std::collections::BTreeMap;

use mooring_redact::ProxyUrl;

use super::binaries::{ContainerdConfig, GpuConfig, KubeBinaryConfig, RuncConfig};
use super::cluster::{ApiServerConfig, ClusterConfig, CustomCloudConfig};
use super::credentials::{
    AuthConfig, BootstrappingConfig, ImdsRestrictionConfig, ServiceAccountImagePullProfile,
};
use super::enums::WorkloadRuntime;
use super::kubelet::KubeletConfig;
use super::linux_os::CustomLinuxOsConfig;
use super::network::{CustomSearchDomainConfig, HttpProxyConfig, LocalDnsProfile, NetworkConfig};
use crate::node_config::schema::message;

message! {
    /// The `AKSNodeConfig` v1 document.
    pub struct NodeConfig = "Configuration" {
        /// Contract revision tag; the node accepts only "v1" (and, with a warning, "v0"),
        /// anything else aborts provisioning
        1 version "version": String,
        2 kube_binary_config "kubeBinaryConfig": Option<KubeBinaryConfig>,
        /// Settings for air-gapped clouds and Azure Stack only
        3 custom_cloud_config "customCloudConfig": Option<CustomCloudConfig>,
        4 api_server_config "apiServerConfig": Option<ApiServerConfig>,
        /// Cluster-wide settings for the cloud provider file `azure.json`
        5 cluster_config "clusterConfig": Option<ClusterConfig>,
        6 bootstrapping_config "bootstrappingConfig": Option<BootstrappingConfig>,
        7 auth_config "authConfig": Option<AuthConfig>,
        8 runc_config "runcConfig": Option<RuncConfig>,
        9 containerd_config "containerdConfig": Option<ContainerdConfig>,
        11 kubelet_config "kubeletConfig": Option<KubeletConfig>,
        /// Join the node to a DNS search domain with a realm account
        12 custom_search_domain_config "customSearchDomainConfig": Option<CustomSearchDomainConfig>,
        13 custom_linux_os_config "customLinuxOsConfig": Option<CustomLinuxOsConfig>,
        14 http_proxy_config "httpProxyConfig": Option<HttpProxyConfig>,
        15 gpu_config "gpuConfig": Option<GpuConfig>,
        16 network_config "networkConfig": Option<NetworkConfig>,
        /// Cluster CA as base64 of a PEM bundle; also the trust root for check-hotfix
        17 kubernetes_ca_cert "kubernetesCaCert": String,
        /// Kubernetes version string such as `1.30.4`; also gates containerd registry block
        /// (>=`1.22.0`) and removal of the streaming idle timeout (>=`1.34.0`)
        18 kubernetes_version "kubernetesVersion": String,
        19 kube_proxy_url "kubeProxyUrl": String,
        /// Azure VM size name, used only for SKU table lookups
        20 vm_size "vmSize": String,
        /// Login name of the admin user, azureuser when empty
        21 linux_admin_username "linuxAdminUsername": String,
        /// The image is a prebuilt AKS VHD; unset counts as true
        22 is_vhd "isVhd": Option<bool>,
        /// sshd stays on; unset counts as enabled
        23 enable_ssh "enableSsh": Option<bool>,
        24 enable_unattended_upgrade "enableUnattendedUpgrade": bool,
        /// Login banner, expected already base64 encoded by the producer, passed through
        25 message_of_the_day "messageOfTheDay": String,
        26 enable_hosts_config_agent "enableHostsConfigAgent": bool,
        /// Extra CA certificates for the system store, one per element
        27 custom_ca_certs "customCaCerts": Vec<String>,
        /// Ignored: the log path is constant
        28 provision_output "provisionOutput": String,
        /// Kind of workload runtime; parsed but has no effect
        29 workload_runtime "workloadRuntime": WorkloadRuntime,
        30 ipv6_dual_stack_enabled "ipv6DualStackEnabled": bool,
        /// Shell command the scripts run to test outbound connectivity
        31 outbound_command "outboundCommand": String,
        32 azure_private_registry_server "azurePrivateRegistryServer": String,
        33 private_egress_proxy_address "privateEgressProxyAddress": ProxyUrl,
        34 enable_artifact_streaming "enableArtifactStreaming": bool,
        /// Node hosts Kata (pod sandboxing) runtimes
        35 is_kata "isKata": bool,
        /// Node runs on the unified cgroup hierarchy; unset counts as false
        36 needs_cgroupv2 "needsCgroupv2": Option<bool>,
        /// Scripts are not delivered by custom data; no effect at HEAD, in `v0.20251120.0` it
        /// suppressed the cloud-init wait in the command line
        37 disable_custom_data "disableCustomData": bool,
        /// Registry used to pull bootstrap artifacts in network-isolated clusters
        38 bootstrap_profile_container_registry_server "bootstrapProfileContainerRegistryServer": String,
        39 imds_restriction_config "imdsRestrictionConfig": Option<ImdsRestrictionConfig>,
        /// Bake an image: skip kubelet parts; the scripts then write `base_prep.complete` instead
        /// of `provision.complete`
        40 pre_provision_only "preProvisionOnly": bool,
        41 local_dns_profile "localDnsProfile": Option<LocalDnsProfile>,
        /// Turn off ssh public key login; unset counts as false
        42 disable_pubkey_auth "disablePubkeyAuth": Option<bool>,
        43 service_account_image_pull_profile "serviceAccountImagePullProfile": Option<ServiceAccountImagePullProfile>,
        /// Overall script timeout in seconds; outside 1..21600 or unset means 900
        44 cse_timeout "cseTimeout": Option<i32>,
        /// Feature toggles; rendered only by the custom-data builder into `enabled_features.sh`,
        /// never into the script environment by provision itself
        45 enabled_features "enabledFeatures": BTreeMap<String, String>,
    }
}
