//! The node's own network, proxy and DNS.

use std::collections::BTreeMap;

use mooring_redact::{ProxyUrl, Secret};

use super::enums::{NetworkPlugin, NetworkPolicy};
use crate::node_config::schema::message;

message! {
    pub struct NetworkConfig = "NetworkConfig" {
        1 network_plugin "networkPlugin": NetworkPlugin,
        2 network_policy "networkPolicy": NetworkPolicy,
        3 vnet_cni_plugins_url "vnetCniPluginsUrl": String,
        /// Generic CNI tarball; parsed, no effect
        4 cni_plugins_url "cniPluginsUrl": String,
        /// Number of standard secondary NICs to configure in the OS
        5 standard_secondary_nic_count "standardSecondaryNicCount": i32,
    }
}

message! {
    pub struct HttpProxyConfig = "HttpProxyConfig" {
        1 http_proxy "httpProxy": ProxyUrl,
        2 https_proxy "httpsProxy": ProxyUrl,
        3 no_proxy_entries "noProxyEntries": Vec<String>,
        4 proxy_trusted_ca "proxyTrustedCa": String,
    }
}

message! {
    pub struct CustomSearchDomainConfig = "CustomSearchDomainConfig" {
        1 domain_name "domainName": String,
        2 realm_user "realmUser": String,
        3 realm_password "realmPassword": Secret,
    }
}

message! {
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
}

message! {
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
}

message! {
    pub struct LocalDnsHealthCheck = "LocalDnsHealthCheck" {
        /// Probe interval; empty or unset disables the whole line
        1 duration "duration": Option<String>,
        /// Probe without recursion desired
        2 no_rec "noRec": Option<bool>,
        3 domain "domain": Option<String>,
    }
}
