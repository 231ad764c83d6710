//! The kubelet and its config file.

use std::collections::BTreeMap;

use mooring_redact::Secret;

use super::enums::KubeletDisk;
use crate::node_config::schema::message;

message! {
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
}

message! {
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
}

message! {
    pub struct KubeletAuthentication = "KubeletAuthentication" {
        1 x509 "x509": Option<KubeletX509Authentication>,
        2 webhook "webhook": Option<KubeletWebhookAuthentication>,
        3 anonymous "anonymous": Option<KubeletAnonymousAuthentication>,
    }
}

message! {
    pub struct KubeletX509Authentication = "KubeletX509Authentication" {
        1 client_ca_file "clientCAFile": String,
    }
}

message! {
    /// Bearer tokens, checked with the API server.
    pub struct KubeletWebhookAuthentication = "KubeletWebhookAuthentication" {
        1 enabled "enabled": bool,
        /// Cache time; note the emitted key is `cacheTtl`
        2 cache_ttl "cacheTtl": String,
    }
}

message! {
    pub struct KubeletAnonymousAuthentication = "KubeletAnonymousAuthentication" {
        1 enabled "enabled": bool,
    }
}

message! {
    pub struct KubeletAuthorization = "KubeletAuthorization" {
        /// `AlwaysAllow` or Webhook
        1 mode "mode": String,
        2 webhook "webhook": Option<KubeletWebhookAuthorization>,
    }
}

message! {
    pub struct KubeletWebhookAuthorization = "KubeletWebhookAuthorization" {
        /// Cache time of allows; emitted as `cacheAuthorizedTtl`
        1 cache_authorized_ttl "cacheAuthorizedTtl": String,
        /// Cache time of denies; emitted as `cacheUnauthorizedTtl`
        2 cache_unauthorized_ttl "cacheUnauthorizedTtl": String,
    }
}
