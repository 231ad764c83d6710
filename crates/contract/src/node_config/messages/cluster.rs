//! The cluster, its network and the cloud around it.

use super::enums::{LoadBalancerSku, VmType};
use crate::node_config::schema::message;

message! {
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
}

message! {
    pub struct ClusterNetworkConfig = "ClusterNetworkConfig" {
        1 vnet_name "vnetName": String,
        2 vnet_resource_group "vnetResourceGroup": String,
        3 subnet "subnet": String,
        4 security_group_name "securityGroupName": String,
        5 route_table "routeTable": String,
        /// Service IP of CoreDNS, used in the local DNS file, `10.0.0.10` when empty
        6 core_dns_service_ip "coreDnsServiceIp": String,
    }
}

message! {
    pub struct LoadBalancerConfig = "LoadBalancerConfig" {
        1 load_balancer_sku "loadBalancerSku": LoadBalancerSku,
        /// Keep control plane VMs out of the standard LB; unset means true
        2 exclude_master_from_standard_load_balancer "excludeMasterFromStandardLoadBalancer": Option<bool>,
        /// Upper bound of LB rules; unset means 148, explicit 0 stays 0
        3 max_load_balancer_rule_count "maxLoadBalancerRuleCount": Option<i32>,
        4 disable_outbound_snat "disableOutboundSnat": bool,
    }
}

message! {
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
}

message! {
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
}

message! {
    pub struct ApiServerConfig = "ApiServerConfig" {
        /// API server certificate, passed through
        1 api_server_public_key "apiServerPublicKey": String,
        /// FQDN (optionally host:port) of the API server; also the dial target of check-hotfix
        2 api_server_name "apiServerName": String,
    }
}
