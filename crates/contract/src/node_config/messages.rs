//! The contract: 32 messages, 257 fields, 8 enums.
//!
//! Parser, serializer and description are generated from this file.

use std::collections::BTreeMap;

use mooring_redact::{ProxyUrl, Secret};

use crate::node_config::schema::{messages, open_enums};

open_enums! {
    /// Runtime of workloads; no effect on the node.
    pub enum WorkloadRuntime {
        0 UNSPECIFIED = "WORKLOAD_RUNTIME_UNSPECIFIED",
        1 OCI_CONTAINER = "WORKLOAD_RUNTIME_OCI_CONTAINER",
    }

    pub enum VmType {
        0 UNSPECIFIED = "VM_TYPE_UNSPECIFIED",
        1 STANDARD = "VM_TYPE_STANDARD",
        2 VMSS = "VM_TYPE_VMSS",
    }

    pub enum LoadBalancerSku {
        0 UNSPECIFIED = "LOAD_BALANCER_SKU_UNSPECIFIED",
        1 BASIC = "LOAD_BALANCER_SKU_BASIC",
        2 STANDARD = "LOAD_BALANCER_SKU_STANDARD",
    }

    pub enum BootstrappingAuthMethod {
        0 UNSPECIFIED = "BOOTSTRAPPING_AUTH_METHOD_UNSPECIFIED",
        1 BOOTSTRAP_TOKEN = "BOOTSTRAPPING_AUTH_METHOD_BOOTSTRAP_TOKEN",
        2 SECURE_TLS_BOOTSTRAPPING = "BOOTSTRAPPING_AUTH_METHOD_SECURE_TLS_BOOTSTRAPPING",
        3 ARC_MSI = "BOOTSTRAPPING_AUTH_METHOD_ARC_MSI",
        4 AZURE_MSI = "BOOTSTRAPPING_AUTH_METHOD_AZURE_MSI",
    }

    /// No effect on the node.
    pub enum ClusterJoinMethod {
        0 UNSPECIFIED = "CLUSTER_JOIN_METHOD_UNSPECIFIED",
        1 GENERATE_CSR = "CLUSTER_JOIN_METHOD_GENERATE_CSR",
        2 USE_BOOTSTRAPPING_AUTH = "CLUSTER_JOIN_METHOD_USE_BOOTSTRAPPING_AUTH",
    }

    pub enum KubeletDisk {
        0 UNSPECIFIED = "KUBELET_DISK_UNSPECIFIED",
        1 OS_DISK = "KUBELET_DISK_OS_DISK",
        2 TEMP_DISK = "KUBELET_DISK_TEMP_DISK",
    }

    pub enum NetworkPlugin {
        0 UNSPECIFIED = "NETWORK_PLUGIN_UNSPECIFIED",
        1 NONE = "NETWORK_PLUGIN_NONE",
        2 AZURE = "NETWORK_PLUGIN_AZURE",
        3 KUBENET = "NETWORK_PLUGIN_KUBENET",
    }

    pub enum NetworkPolicy {
        0 UNSPECIFIED = "NETWORK_POLICY_UNSPECIFIED",
        1 NONE = "NETWORK_POLICY_NONE",
        2 AZURE = "NETWORK_POLICY_AZURE",
        3 CALICO = "NETWORK_POLICY_CALICO",
    }
}

messages! {
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

    pub struct KubeBinaryConfig = "KubeBinaryConfig" {
        1 kube_binary_url "kubeBinaryUrl": String,
        /// Tarball URL chosen by the customer
        2 custom_kube_binary_url "customKubeBinaryUrl": String,
        /// Tarball URL of a privately cached build
        3 private_kube_binary_url "privateKubeBinaryUrl": String,
        /// Full reference of the pause image, used only in the containerd config
        4 pod_infra_container_image_url "podInfraContainerImageUrl": String,
        /// Tarball URL of the ACR credential provider
        5 linux_credential_provider_url "linuxCredentialProviderUrl": String,
    }

    /// Settings for custom clouds only, such as Azure Stack.
    pub struct CustomCloudConfig = "CustomCloudConfig" {
        /// Cloud name; equals akscustom (any letter case) to activate custom-cloud handling
        1 custom_cloud_env_name "customCloudEnvName": String,
        /// Package repository endpoint, exported only in custom clouds
        2 repo_depot_endpoint "repoDepotEndpoint": String,
        /// Cloud environment description; exported verbatim and, in custom clouds, parsed as plain
        /// JSON for `resourceManagerEndpoint` (not base64, unlike the upstream comment)
        3 custom_env_json_content "customEnvJsonContent": String,
        4 container_registry_dns_suffix "containerRegistryDnsSuffix": String,
    }

    pub struct ApiServerConfig = "ApiServerConfig" {
        /// API server certificate, passed through
        1 api_server_public_key "apiServerPublicKey": String,
        /// FQDN (optionally host:port) of the API server; also the dial target of check-hotfix
        2 api_server_name "apiServerName": String,
    }

    /// Facts about the cluster that hold for all of its nodes.
    pub struct ClusterConfig = "ClusterConfig" {
        1 cluster_network_config "clusterNetworkConfig": Option<ClusterNetworkConfig>,
        2 load_balancer_config "loadBalancerConfig": Option<LoadBalancerConfig>,
        3 resource_group "resourceGroup": String,
        /// Azure region; passed raw, and normalized for sovereign cloud detection
        4 location "location": String,
        /// Standard or vmss for the cloud provider
        5 vm_type "vmType": VmType,
        6 primary_availability_set "primaryAvailabilitySet": String,
        7 primary_scale_set "primaryScaleSet": String,
        8 use_instance_metadata "useInstanceMetadata": bool,
        9 cloud_provider_config "cloudProviderConfig": Option<CloudProviderConfig>,
    }

    pub struct ClusterNetworkConfig = "ClusterNetworkConfig" {
        1 vnet_name "vnetName": String,
        2 vnet_resource_group "vnetResourceGroup": String,
        3 subnet "subnet": String,
        4 security_group_name "securityGroupName": String,
        5 route_table "routeTable": String,
        /// Service IP of CoreDNS, used in the local DNS file, `10.0.0.10` when empty
        6 core_dns_service_ip "coreDnsServiceIp": String,
    }

    pub struct LoadBalancerConfig = "LoadBalancerConfig" {
        1 load_balancer_sku "loadBalancerSku": LoadBalancerSku,
        /// Keep control plane VMs out of the standard LB; unset means true
        2 exclude_master_from_standard_load_balancer "excludeMasterFromStandardLoadBalancer": Option<bool>,
        /// Upper bound of LB rules; unset means 148, explicit 0 stays 0
        3 max_load_balancer_rule_count "maxLoadBalancerRuleCount": Option<i32>,
        4 disable_outbound_snat "disableOutboundSnat": bool,
    }

    pub struct CloudProviderConfig = "CloudProviderConfig" {
        /// Retry with backoff; unset means true
        1 backoff "backoff": Option<bool>,
        /// Backoff mode; empty means v2
        2 backoff_mode "backoffMode": String,
        /// Retry count; unset 6
        3 backoff_retries "backoffRetries": Option<i32>,
        /// Exponent; unset 0
        4 backoff_exponent "backoffExponent": Option<f64>,
        /// Seconds; unset 5
        5 backoff_duration "backoffDuration": Option<i32>,
        /// Jitter; unset 0
        6 backoff_jitter "backoffJitter": Option<f64>,
        /// Client side rate limit; unset true
        7 rate_limit "rateLimit": Option<bool>,
        /// Read QPS; unset 10
        8 rate_limit_qps "rateLimitQps": Option<f64>,
        /// Write QPS; unset 10
        9 rate_limit_qps_write "rateLimitQpsWrite": Option<f64>,
        /// Read bucket; unset 100
        10 rate_limit_bucket "rateLimitBucket": Option<i32>,
        /// Write bucket; unset 100
        11 rate_limit_bucket_write "rateLimitBucketWrite": Option<i32>,
    }

    /// The kubelet's first credential.
    pub struct BootstrappingConfig = "BootstrappingConfig" {
        /// First-credential method; only `SECURE_TLS_BOOTSTRAPPING` changes the output
        1 bootstrapping_auth_method "bootstrappingAuthMethod": BootstrappingAuthMethod,
        /// Join method after authentication; parsed, no effect
        2 cluster_join_method "clusterJoinMethod": ClusterJoinMethod,
        3 tls_bootstrapping_token "tlsBootstrappingToken": Option<Secret>,
        /// Entra resource for the token of the secure bootstrap client
        6 secure_tls_bootstrapping_aad_resource "secureTlsBootstrappingAadResource": Option<String>,
        /// Client id of the identity used by the secure bootstrap client
        7 secure_tls_bootstrapping_user_assigned_identity_id "secureTlsBootstrappingUserAssignedIdentityId": Option<String>,
        8 secure_tls_bootstrapping_custom_client_download_url "secureTlsBootstrappingCustomClientDownloadUrl": Option<String>,
        10 secure_tls_bootstrapping_validate_kubeconfig_timeout "secureTlsBootstrappingValidateKubeconfigTimeout": Option<String>,
        11 secure_tls_bootstrapping_get_access_token_timeout "secureTlsBootstrappingGetAccessTokenTimeout": Option<String>,
        12 secure_tls_bootstrapping_get_instance_data_timeout "secureTlsBootstrappingGetInstanceDataTimeout": Option<String>,
        13 secure_tls_bootstrapping_get_nonce_timeout "secureTlsBootstrappingGetNonceTimeout": Option<String>,
        14 secure_tls_bootstrapping_get_attested_data_timeout "secureTlsBootstrappingGetAttestedDataTimeout": Option<String>,
        15 secure_tls_bootstrapping_get_credential_timeout "secureTlsBootstrappingGetCredentialTimeout": Option<String>,
    }

    /// The identity that the node uses towards Azure.
    pub struct AuthConfig = "AuthConfig" {
        1 tenant_id "tenantId": String,
        2 subscription_id "subscriptionId": String,
        3 service_principal_id "servicePrincipalId": String,
        /// Secret; HEAD passes it as is (producer must already have base64 encoded it),
        /// `v0.20251120.0` base64 encoded it
        4 service_principal_secret "servicePrincipalSecret": Secret,
        5 assigned_identity_id "assignedIdentityId": String,
        6 use_managed_identity_extension "useManagedIdentityExtension": bool,
    }

    pub struct RuncConfig = "RuncConfig" {
        1 runc_version "runcVersion": String,
        2 runc_package_url "runcPackageUrl": String,
    }

    pub struct ContainerdConfig = "ContainerdConfig" {
        1 containerd_download_url_base "containerdDownloadUrlBase": String,
        /// Version to install; does NOT choose the config template, the installed binary does
        2 containerd_version "containerdVersion": String,
        3 containerd_package_url "containerdPackageUrl": String,
    }

    pub struct KubeletConfig = "KubeletConfig" {
        /// Command line flags, key includes the leading dashes
        1 kubelet_flags "kubeletFlags": BTreeMap<String, String>,
        2 kubelet_node_labels "kubeletNodeLabels": BTreeMap<String, String>,
        /// Disk for kubelet data; only `TEMP_DISK` has an effect
        3 kubelet_disk_type "kubeletDiskType": KubeletDisk,
        4 enable_kubelet_config_file "enableKubeletConfigFile": bool,
        5 kubelet_config_file_config "kubeletConfigFileConfig": Option<KubeletConfigFileConfig>,
        /// Kubelet client private key, pass-through (base64 expected)
        6 kubelet_client_key "kubeletClientKey": Secret,
        /// Kubelet client certificate, pass-through
        7 kubelet_client_cert_content "kubeletClientCertContent": String,
        8 container_data_dir "containerDataDir": String,
    }

    /// The kubelet's config file, field by field.
    pub struct KubeletConfigFileConfig = "KubeletConfigFileConfig" {
        1 kind "kind": String,
        2 api_version "apiVersion": String,
        3 static_pod_path "staticPodPath": String,
        4 address "address": String,
        5 read_only_port "readOnlyPort": i32,
        6 tls_cert_file "tlsCertFile": String,
        7 tls_private_key_file "tlsPrivateKeyFile": String,
        8 tls_cipher_suites "tlsCipherSuites": Vec<String>,
        9 rotate_certificates "rotateCertificates": bool,
        10 server_tls_bootstrap "serverTLSBootstrap": bool,
        11 authentication "authentication": Option<KubeletAuthentication>,
        12 authorization "authorization": Option<KubeletAuthorization>,
        /// Event creation rate, 0 = unlimited
        13 event_record_qps "eventRecordQPS": Option<i32>,
        14 cluster_domain "clusterDomain": String,
        15 cluster_dns "clusterDNS": Vec<String>,
        /// Idle limit of streaming connections; cleared when Kubernetes >= `1.34.0`
        16 streaming_connection_idle_timeout "streamingConnectionIdleTimeout": String,
        17 node_status_update_frequency "nodeStatusUpdateFrequency": String,
        18 node_status_report_frequency "nodeStatusReportFrequency": String,
        19 image_gc_high_threshold_percent "imageGCHighThresholdPercent": Option<i32>,
        20 image_gc_low_threshold_percent "imageGCLowThresholdPercent": Option<i32>,
        21 cgroups_per_qos "cgroupsPerQOS": Option<bool>,
        22 cpu_manager_policy "cpuManagerPolicy": String,
        23 topology_manager_policy "topologyManagerPolicy": String,
        24 max_pods "maxPods": Option<i32>,
        25 pod_pids_limit "podPidsLimit": Option<i32>,
        26 resolv_conf "resolvConf": String,
        27 cpu_cfs_quota "cpuCFSQuota": Option<bool>,
        28 cpu_cfs_quota_period "cpuCFSQuotaPeriod": String,
        29 eviction_hard "evictionHard": BTreeMap<String, String>,
        30 protect_kernel_defaults "protectKernelDefaults": bool,
        31 feature_gates "featureGates": BTreeMap<String, bool>,
        32 fail_swap_on "failSwapOn": Option<bool>,
        33 container_log_max_size "containerLogMaxSize": String,
        34 container_log_max_files "containerLogMaxFiles": Option<i32>,
        35 system_reserved "systemReserved": BTreeMap<String, String>,
        36 kube_reserved "kubeReserved": BTreeMap<String, String>,
        37 enforce_node_allocatable "enforceNodeAllocatable": Vec<String>,
        41 eviction_soft "evictionSoft": BTreeMap<String, String>,
        42 eviction_soft_grace_period "evictionSoftGracePeriod": BTreeMap<String, String>,
        /// Cap in seconds on pod grace period in soft eviction
        43 eviction_max_pod_grace_period "evictionMaxPodGracePeriod": i32,
        44 kube_reserved_cgroup "kubeReservedCgroup": String,
        45 system_reserved_cgroup "systemReservedCgroup": String,
        38 allowed_unsafe_sysctls "allowedUnsafeSysctls": Vec<String>,
        39 serialize_image_pulls "serializeImagePulls": Option<bool>,
        /// `RuntimeDefault` seccomp for all workloads
        40 seccomp_default "seccompDefault": bool,
    }

    pub struct KubeletAuthentication = "KubeletAuthentication" {
        1 x509 "x509": Option<KubeletX509Authentication>,
        2 webhook "webhook": Option<KubeletWebhookAuthentication>,
        3 anonymous "anonymous": Option<KubeletAnonymousAuthentication>,
    }

    pub struct KubeletX509Authentication = "KubeletX509Authentication" {
        1 client_ca_file "clientCAFile": String,
    }

    /// Bearer tokens, checked with the API server.
    pub struct KubeletWebhookAuthentication = "KubeletWebhookAuthentication" {
        1 enabled "enabled": bool,
        /// Cache time; note the emitted key is `cacheTtl`
        2 cache_ttl "cacheTtl": String,
    }

    pub struct KubeletAnonymousAuthentication = "KubeletAnonymousAuthentication" {
        1 enabled "enabled": bool,
    }

    pub struct KubeletAuthorization = "KubeletAuthorization" {
        /// `AlwaysAllow` or Webhook
        1 mode "mode": String,
        2 webhook "webhook": Option<KubeletWebhookAuthorization>,
    }

    pub struct KubeletWebhookAuthorization = "KubeletWebhookAuthorization" {
        /// Cache time of allows; emitted as `cacheAuthorizedTtl`
        1 cache_authorized_ttl "cacheAuthorizedTtl": String,
        /// Cache time of denies; emitted as `cacheUnauthorizedTtl`
        2 cache_unauthorized_ttl "cacheUnauthorizedTtl": String,
    }

    pub struct CustomSearchDomainConfig = "CustomSearchDomainConfig" {
        1 domain_name "domainName": String,
        2 realm_user "realmUser": String,
        3 realm_password "realmPassword": Secret,
    }

    pub struct CustomLinuxOsConfig = "CustomLinuxOsConfig" {
        1 sysctl_config "sysctlConfig": Option<SysctlConfig>,
        /// Containerd unit limits; mere presence switches the feature on
        2 ulimit_config "ulimitConfig": Option<UlimitConfig>,
        3 enable_swap_config "enableSwapConfig": bool,
        4 swap_file_size "swapFileSize": i32,
        5 transparent_hugepage_support "transparentHugepageSupport": String,
        6 transparent_defrag "transparentDefrag": String,
    }

    /// Kernel parameters; those not set keep the image's value unless a default is given.
    pub struct SysctlConfig = "SysctlConfig" {
        /// Sets `net.core.somaxconn` (default 16384)
        1 net_core_somaxconn "netCoreSomaxconn": Option<i32>,
        2 net_core_netdev_max_backlog "netCoreNetdevMaxBacklog": Option<i32>,
        3 net_core_rmem_default "netCoreRmemDefault": Option<i32>,
        4 net_core_rmem_max "netCoreRmemMax": Option<i32>,
        5 net_core_wmem_default "netCoreWmemDefault": Option<i32>,
        6 net_core_wmem_max "netCoreWmemMax": Option<i32>,
        7 net_core_optmem_max "netCoreOptmemMax": Option<i32>,
        /// Sets `net.ipv4.tcp_max_syn_backlog` (default 16384)
        8 net_ipv4_tcp_max_syn_backlog "netIpv4TcpMaxSynBacklog": Option<i32>,
        9 net_ipv4_tcp_max_tw_buckets "netIpv4TcpMaxTwBuckets": Option<i32>,
        10 net_ipv4_tcp_fin_timeout "netIpv4TcpFinTimeout": Option<i32>,
        11 net_ipv4_tcp_keepalive_time "netIpv4TcpKeepaliveTime": Option<i32>,
        12 net_ipv4_tcp_keepalive_probes "netIpv4TcpKeepaliveProbes": Option<i32>,
        /// Sets `net.ipv4.tcp_keepalive_intvl` (note the irregular field name)
        13 net_ipv4_tcpkeepalive_intvl "netIpv4TcpkeepaliveIntvl": Option<i32>,
        /// Sets `net.ipv4.tcp_tw_reuse`, true=1 false=0
        14 net_ipv4_tcp_tw_reuse "netIpv4TcpTwReuse": Option<bool>,
        /// Sets `net.ipv4.ip_local_port_range`, may add `ip_local_reserved_ports`
        15 net_ipv4_ip_local_port_range "netIpv4IpLocalPortRange": Option<String>,
        /// Sets `net.ipv4.neigh.default.gc_thresh1` (default 4096)
        16 net_ipv4_neigh_default_gc_thresh1 "netIpv4NeighDefaultGcThresh1": Option<i32>,
        /// Sets `net.ipv4.neigh.default.gc_thresh2` (default 8192)
        17 net_ipv4_neigh_default_gc_thresh2 "netIpv4NeighDefaultGcThresh2": Option<i32>,
        /// Sets `net.ipv4.neigh.default.gc_thresh3` (default 16384)
        18 net_ipv4_neigh_default_gc_thresh3 "netIpv4NeighDefaultGcThresh3": Option<i32>,
        19 net_netfilter_nf_conntrack_max "netNetfilterNfConntrackMax": Option<i32>,
        20 net_netfilter_nf_conntrack_buckets "netNetfilterNfConntrackBuckets": Option<i32>,
        21 fs_inotify_max_user_watches "fsInotifyMaxUserWatches": Option<i32>,
        22 fs_file_max "fsFileMax": Option<i32>,
        23 fs_aio_max_nr "fsAioMaxNr": Option<i32>,
        24 fs_nr_open "fsNrOpen": Option<i32>,
        25 kernel_threads_max "kernelThreadsMax": Option<i32>,
        26 vm_max_map_count "vmMaxMapCount": Option<i32>,
        27 vm_swappiness "vmSwappiness": Option<i32>,
        28 vm_vfs_cache_pressure "vmVfsCachePressure": Option<i32>,
    }

    pub struct UlimitConfig = "UlimitConfig" {
        /// `LimitNOFILE` of the containerd unit
        1 no_file "noFile": Option<String>,
        /// `LimitMEMLOCK` of the containerd unit
        2 max_locked_memory "maxLockedMemory": Option<String>,
    }

    pub struct HttpProxyConfig = "HttpProxyConfig" {
        1 http_proxy "httpProxy": ProxyUrl,
        2 https_proxy "httpsProxy": ProxyUrl,
        3 no_proxy_entries "noProxyEntries": Vec<String>,
        4 proxy_trusted_ca "proxyTrustedCa": String,
    }

    pub struct GpuConfig = "GpuConfig" {
        /// Treat as NVIDIA node; unset counts as false (upstream comment about a SKU default is not implemented)
        1 enable_nvidia "enableNvidia": Option<bool>,
        2 config_gpu_driver "configGpuDriver": bool,
        /// Enable the device plugin on GPU images
        3 gpu_device_plugin "gpuDevicePlugin": bool,
        /// MIG profile; non-empty marks a MIG node
        4 gpu_instance_profile "gpuInstanceProfile": String,
        /// AMD counterpart; parsed, no effect
        5 enable_amd_gpu "enableAmdGpu": Option<bool>,
        6 managed_gpu_experience_afec_enabled "managedGpuExperienceAfecEnabled": bool,
        7 enable_managed_gpu "enableManagedGpu": bool,
        8 mig_strategy "migStrategy": String,
        9 mig_profile_layout "migProfileLayout": Vec<String>,
        10 enable_managed_gpu_dra "enableManagedGpuDra": bool,
    }

    pub struct NetworkConfig = "NetworkConfig" {
        1 network_plugin "networkPlugin": NetworkPlugin,
        2 network_policy "networkPolicy": NetworkPolicy,
        3 vnet_cni_plugins_url "vnetCniPluginsUrl": String,
        /// Generic CNI tarball; parsed, no effect
        4 cni_plugins_url "cniPluginsUrl": String,
        /// Number of standard secondary NICs to configure in the OS
        5 standard_secondary_nic_count "standardSecondaryNicCount": i32,
    }

    /// Keeping pods away from the instance metadata service.
    pub struct ImdsRestrictionConfig = "ImdsRestrictionConfig" {
        1 enable_imds_restriction "enableImdsRestriction": bool,
        2 insert_imds_restriction_rule_to_mangle_table "insertImdsRestrictionRuleToMangleTable": bool,
    }

    pub struct LocalDnsProfile = "LocalDnsProfile" {
        1 enable_local_dns "enableLocalDns": bool,
        2 cpu_limit_in_milli_cores "cpuLimitInMilliCores": Option<i32>,
        3 memory_limit_in_mb "memoryLimitInMb": Option<i32>,
        /// Per-domain settings for traffic from the node and `dnsPolicy` default pods; key is the DNS zone
        4 vnet_dns_overrides "vnetDnsOverrides": BTreeMap<String, LocalDnsOverrides>,
        /// Per-domain settings for `ClusterFirst` pods; key is the DNS zone
        5 kube_dns_overrides "kubeDnsOverrides": BTreeMap<String, LocalDnsOverrides>,
        /// Use the hosts plugin (only with local DNS on)
        6 enable_hosts_plugin "enableHostsPlugin": bool,
        7 critical_fqdns "criticalFqdns": Vec<String>,
        /// Timer override, positive only
        8 hosts_plugin_refresh_interval_in_seconds "hostsPluginRefreshIntervalInSeconds": Option<i32>,
    }

    pub struct LocalDnsOverrides = "LocalDnsOverrides" {
        /// Log, Error or anything else for none
        1 query_logging "queryLogging": String,
        /// `ForceTCP`, `PreferUDP` or anything else for neither
        2 protocol "protocol": String,
        /// `ClusterCoreDNS` sends to CoreDNS, anything else to Azure DNS
        3 forward_destination "forwardDestination": String,
        /// `RoundRobin`, Random, anything else = sequential
        4 forward_policy "forwardPolicy": String,
        5 max_concurrent "maxConcurrent": Option<i32>,
        6 cache_duration_in_seconds "cacheDurationInSeconds": Option<i32>,
        7 serve_stale_duration_in_seconds "serveStaleDurationInSeconds": Option<i32>,
        /// Verify, Immediate, anything else = no stale line
        8 serve_stale "serveStale": String,
        9 failfast_all_unhealthy_upstreams "failfastAllUnhealthyUpstreams": Option<bool>,
        10 health_check "healthCheck": Option<LocalDnsHealthCheck>,
    }

    pub struct LocalDnsHealthCheck = "LocalDnsHealthCheck" {
        /// Probe interval; empty or unset disables the whole line
        1 duration "duration": Option<String>,
        /// Probe without recursion desired
        2 no_rec "noRec": Option<bool>,
        3 domain "domain": Option<String>,
    }

    /// Pulling images with a service account's identity.
    pub struct ServiceAccountImagePullProfile = "ServiceAccountImagePullProfile" {
        1 enabled "enabled": bool,
        2 default_client_id "defaultClientId": String,
        3 default_tenant_id "defaultTenantId": String,
        4 local_authority_sni "localAuthoritySni": String,
    }
}
