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
        /// Contract revision tag; the node accepts only "v1" (and, with a logged complaint, "v0"),
        /// anything else aborts provisioning
        1 version "version": String,
        /// Sources of Kubernetes node binaries and the pause image
        2 kube_binary_config "kubeBinaryConfig": Option<KubeBinaryConfig>,
        /// Settings that matter only for air-gapped / Azure Stack style clouds
        3 custom_cloud_config "customCloudConfig": Option<CustomCloudConfig>,
        /// Address of the control plane
        4 api_server_config "apiServerConfig": Option<ApiServerConfig>,
        /// Cluster-wide Azure facts that end up in the cloud-provider file `azure.json`
        5 cluster_config "clusterConfig": Option<ClusterConfig>,
        /// The kubelet's first credential
        6 bootstrapping_config "bootstrappingConfig": Option<BootstrappingConfig>,
        /// Azure identity values for the cloud provider
        7 auth_config "authConfig": Option<AuthConfig>,
        /// Override for the runc package
        8 runc_config "runcConfig": Option<RuncConfig>,
        /// Override for the containerd package
        9 containerd_config "containerdConfig": Option<ContainerdConfig>,
        /// Everything handed to the kubelet
        11 kubelet_config "kubeletConfig": Option<KubeletConfig>,
        /// Join the node to a DNS search domain with a realm account
        12 custom_search_domain_config "customSearchDomainConfig": Option<CustomSearchDomainConfig>,
        /// Kernel, ulimit, swap and huge-page tuning
        13 custom_linux_os_config "customLinuxOsConfig": Option<CustomLinuxOsConfig>,
        /// Outbound proxy settings of the node
        14 http_proxy_config "httpProxyConfig": Option<HttpProxyConfig>,
        /// GPU driver and device-plugin switches
        15 gpu_config "gpuConfig": Option<GpuConfig>,
        /// CNI related settings
        16 network_config "networkConfig": Option<NetworkConfig>,
        /// Cluster CA as base64 of a PEM bundle; also the trust root for check-hotfix
        17 kubernetes_ca_cert "kubernetesCaCert": String,
        /// Kubernetes version string such as `1.30.4`; also gates containerd registry block
        /// (>=`1.22.0`) and removal of the streaming idle timeout (>=`1.34.0`)
        18 kubernetes_version "kubernetesVersion": String,
        /// Image reference of kube-proxy
        19 kube_proxy_url "kubeProxyUrl": String,
        /// Azure VM size name, used only for SKU table lookups
        20 vm_size "vmSize": String,
        /// Login name of the admin user, azureuser when empty
        21 linux_admin_username "linuxAdminUsername": String,
        /// The image is a prebuilt AKS VHD; unset counts as true
        22 is_vhd "isVhd": Option<bool>,
        /// sshd stays on; unset counts as enabled
        23 enable_ssh "enableSsh": Option<bool>,
        /// Keep automatic OS upgrades on
        24 enable_unattended_upgrade "enableUnattendedUpgrade": bool,
        /// Login banner, expected already base64 encoded by the producer, passed through
        25 message_of_the_day "messageOfTheDay": String,
        /// Turn on the private-DNS hosts reconcile agent
        26 enable_hosts_config_agent "enableHostsConfigAgent": bool,
        /// Extra CA certificates for the system store, one per element
        27 custom_ca_certs "customCaCerts": Vec<String>,
        /// Log path wish; ignored, a constant path is used
        28 provision_output "provisionOutput": String,
        /// Kind of workload runtime; parsed but has no effect
        29 workload_runtime "workloadRuntime": WorkloadRuntime,
        /// Cluster is dual stack
        30 ipv6_dual_stack_enabled "ipv6DualStackEnabled": bool,
        /// Shell command the scripts run to test outbound connectivity
        31 outbound_command "outboundCommand": String,
        /// Host of a private registry
        32 azure_private_registry_server "azurePrivateRegistryServer": String,
        /// Address of the private egress proxy
        33 private_egress_proxy_address "privateEgressProxyAddress": ProxyUrl,
        /// Use overlaybd artifact streaming for images
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
        /// Firewalling of the instance metadata endpoint for pods
        39 imds_restriction_config "imdsRestrictionConfig": Option<ImdsRestrictionConfig>,
        /// Bake an image: skip kubelet parts; the scripts then write `base_prep.complete` instead
        /// of `provision.complete`
        40 pre_provision_only "preProvisionOnly": bool,
        /// Node-local DNS cache settings
        41 local_dns_profile "localDnsProfile": Option<LocalDnsProfile>,
        /// Turn off ssh public key login; unset counts as false
        42 disable_pubkey_auth "disablePubkeyAuth": Option<bool>,
        /// Service-account based image pull (identity bindings)
        43 service_account_image_pull_profile "serviceAccountImagePullProfile": Option<ServiceAccountImagePullProfile>,
        /// Overall script timeout in seconds; outside 1..21600 or unset means 900
        44 cse_timeout "cseTimeout": Option<i32>,
        /// Feature toggles; rendered only by the custom-data builder into `enabled_features.sh`,
        /// never into the script environment by provision itself
        45 enabled_features "enabledFeatures": BTreeMap<String, String>,
    }
}
