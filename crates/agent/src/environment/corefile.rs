//! The DNS cache on the node: its limits, and the Corefile that configures it.

use std::collections::BTreeMap;

use mooring_contract::NodeConfig;
use mooring_contract::node_config::{
    LocalDnsHealthCheck, LocalDnsOverrides, LocalDnsProfile, OrUnset as _,
};

use crate::environment::{Environment, go};

const NODE_LISTENER: &str = "169.254.10.10";
const CLUSTER_LISTENER: &str = "169.254.10.11";
const AZURE_DNS: &str = "168.63.129.16";
const DEFAULT_CORE_DNS: &str = "10.0.0.10";

pub(super) fn variables(config: &NodeConfig, out: &mut Environment) {
    let profile = config.local_dns_profile.or_unset();
    limits(profile, out);
    let network = config.cluster_config.or_unset().cluster_network_config.or_unset();
    let core_dns = match network.core_dns_service_ip.as_str() {
        "" => DEFAULT_CORE_DNS,
        address => address,
    };
    let render = |with_hosts| {
        if profile.enable_local_dns {
            Corefile { profile, core_dns, with_hosts }.render()
        } else {
            String::new()
        }
    };
    let base = render(false);
    out.file("LOCALDNS_COREFILE_BASE", &base)
        .file("LOCALDNS_GENERATED_COREFILE", &base)
        // Made even if the hosts plugin is off; the scripts choose.
        .file("LOCALDNS_COREFILE_WITH_HOSTS", &render(true));
}

fn limits(profile: &LocalDnsProfile, out: &mut Environment) {
    let is_on = profile.enable_local_dns;
    let given = |limit: Option<i32>| limit.filter(|&limit| is_on && limit != 0);
    let cpu = given(profile.cpu_limit_in_milli_cores).unwrap_or(2_000);
    let memory = given(profile.memory_limit_in_mb).unwrap_or(128);
    let names: Vec<&str> =
        profile.critical_fqdns.iter().map(|name| name.trim()).filter(|n| !n.is_empty()).collect();
    let refresh = profile.hosts_plugin_refresh_interval_in_seconds.filter(|&seconds| seconds > 0);
    out.flag("SHOULD_ENABLE_LOCALDNS", is_on)
        .flag("SHOULD_ENABLE_HOSTS_PLUGIN", is_on && profile.enable_hosts_plugin)
        .text("LOCALDNS_CPU_LIMIT", go::percent_of_cpu(cpu))
        .text("LOCALDNS_MEMORY_LIMIT", format!("{memory}M"))
        // These two are independent of the cache setting.
        .text("LOCALDNS_CRITICAL_FQDNS", names.join(","))
        .text(
            "LOCALDNS_HOSTS_PLUGIN_REFRESH_INTERVAL_IN_SECONDS",
            refresh.map(|seconds| seconds.to_string()).unwrap_or_default(),
        );
}

/// Source of queries: the node, or pods that use the cluster's DNS.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Traffic {
    Vnet,
    Kube,
}

/// The file to be made. Domains and values go into it unescaped and unchecked.
struct Corefile<'a> {
    profile: &'a LocalDnsProfile,
    core_dns: &'a str,
    with_hosts: bool,
}

impl Corefile<'_> {
    fn render(&self) -> String {
        let stars = "*".repeat(83);
        let vnet = self.blocks(&self.profile.vnet_dns_overrides, Traffic::Vnet);
        let kube = self.blocks(&self.profile.kube_dns_overrides, Traffic::Kube);
        format!(
            "# {stars}
# WARNING: Changes to this file will be overwritten and not persisted.
# {stars}
# whoami (used for health check of DNS)
health-check.localdns.local:53 {{
    bind {NODE_LISTENER} {CLUSTER_LISTENER}
    whoami
}}
# VnetDNS overrides apply to DNS traffic from pods with dnsPolicy:default or kubelet \
(referred to as VnetDNS traffic).
{vnet}\
# KubeDNS overrides apply to DNS traffic from pods with dnsPolicy:ClusterFirst \
(referred to as KubeDNS traffic).
{kube}"
        )
    }

    fn blocks(&self, by_domain: &BTreeMap<String, LocalDnsOverrides>, traffic: Traffic) -> String {
        by_domain.iter().map(|(domain, rules)| self.block(domain, rules, traffic)).collect()
    }

    fn block(&self, domain: &str, rules: &LocalDnsOverrides, traffic: Traffic) -> String {
        let is_root = domain == ".";
        let (listener, nsid) = match traffic {
            Traffic::Vnet => (NODE_LISTENER, "localdns"),
            Traffic::Kube => (CLUSTER_LISTENER, "localdns-pod"),
        };
        let logging = match rules.query_logging.as_str() {
            "Error" => "    errors\n",
            "Log" => "    log\n",
            _ => "",
        };
        let hosts = if is_root && self.with_hosts { HOSTS } else { "" };
        let forward = forward(self.upstream(domain, rules, traffic), rules);
        let cache = cache(rules);
        let templates = if is_root { TEMPLATES } else { "" };
        format!(
            "{domain}:53 {{
{logging}    bind {listener}
{hosts}{forward}    ready {listener}:8181
{cache}    loop
    nsid {nsid}
    prometheus :9253
{templates}}}
"
        )
    }

    fn upstream(&self, domain: &str, rules: &LocalDnsOverrides, traffic: Traffic) -> &str {
        let is_clusters =
            domain.ends_with("cluster.local") || rules.forward_destination == "ClusterCoreDNS";
        // The node's own root zone must not depend on the cluster.
        let is_nodes_root = domain == "." && traffic == Traffic::Vnet;
        if is_clusters && !is_nodes_root { self.core_dns } else { AZURE_DNS }
    }
}

const HOSTS: &str = "    \
# Check /etc/localdns/hosts first for critical AKS FQDNs \
(mcr.microsoft.com, packages.aks.azure.com, etc.)
    hosts /etc/localdns/hosts {
        ttl 5
        reload 5s
        fallthrough
    }
";

const TEMPLATES: &str = r#"    template ANY ANY internal.cloudapp.net {
        match "^(?:[^.]+\.){4,}internal\.cloudapp\.net\.$"
        rcode NXDOMAIN
        fallthrough
    }
    template ANY ANY reddog.microsoft.com {
        rcode NXDOMAIN
    }
"#;

fn forward(upstream: &str, rules: &LocalDnsOverrides) -> String {
    let protocol = match rules.protocol.as_str() {
        "ForceTCP" => "        force_tcp\n",
        "PreferUDP" => "        prefer_udp\n",
        _ => "",
    };
    let policy = match rules.forward_policy.as_str() {
        "RoundRobin" => "round_robin",
        "Random" => "random",
        _ => "sequential",
    };
    let max_concurrent = or_nil(rules.max_concurrent);
    let health_check = health_check(rules.health_check.or_unset());
    let fail_fast = if rules.failfast_all_unhealthy_upstreams.unwrap_or_default() {
        "        failfast_all_unhealthy_upstreams\n"
    } else {
        ""
    };
    format!(
        "    forward . {upstream} {{
{protocol}        policy {policy}
        max_concurrent {max_concurrent}
{health_check}{fail_fast}    }}
"
    )
}

/// Without a duration, the check is off regardless of other settings.
fn health_check(check: &LocalDnsHealthCheck) -> String {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let Some(duration) = given(&check.duration) else { return String::new() };
    let no_rec = if check.no_rec.unwrap_or_default() { " no_rec" } else { "" };
    let domain = given(&check.domain).map(|name| format!(" domain {name}")).unwrap_or_default();
    format!("        health_check {duration}{no_rec}{domain}\n")
}

fn cache(rules: &LocalDnsOverrides) -> String {
    let stale_for = or_nil(rules.serve_stale_duration_in_seconds);
    let stale = match rules.serve_stale.as_str() {
        "Verify" => format!("        serve_stale {stale_for}s verify\n"),
        "Immediate" => format!("        serve_stale {stale_for}s immediate\n"),
        _ => String::new(),
    };
    format!(
        "    cache {} {{
        success 9984
        denial 9984
{stale}        servfail 0
    }}
",
        or_nil(rules.cache_duration_in_seconds)
    )
}

/// Quirk kept: a number that is not set prints as Go prints a nil pointer.
fn or_nil(number: Option<i32>) -> String {
    number.map_or_else(|| "<nil>".to_owned(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core_dns_is_asked(domain: &str, destination: &str, traffic: Traffic) -> bool {
        let profile = LocalDnsProfile::default();
        let file = Corefile { profile: &profile, core_dns: "core", with_hosts: false };
        let rules =
            LocalDnsOverrides { forward_destination: destination.to_owned(), ..Default::default() };
        file.upstream(domain, &rules, traffic) == "core"
    }

    #[test]
    fn the_nodes_root_zone_never_depends_on_the_cluster() {
        for (domain, destination, vnet, kube) in [
            (".", "ClusterCoreDNS", false, true),
            (".", "VnetDNS", false, false),
            ("a.com", "ClusterCoreDNS", true, true),
            ("a.com", "clustercoredns", false, false),
            ("cluster.local", "VnetDNS", true, true),
            ("x.cluster.local", "", true, true),
            ("xcluster.local", "", true, true),
            ("cluster.local.", "", false, false),
            ("Cluster.local", "", false, false),
            ("", "", false, false),
        ] {
            assert_eq!(core_dns_is_asked(domain, destination, Traffic::Vnet), vnet, "{domain}");
            assert_eq!(core_dns_is_asked(domain, destination, Traffic::Kube), kube, "{domain}");
        }
    }

    fn environment(profile: LocalDnsProfile) -> Environment {
        let mut out = Environment::default();
        let config = NodeConfig { local_dns_profile: Some(profile), ..Default::default() };
        variables(&config, &mut out);
        out
    }

    #[test]
    fn corefile_is_empty_and_limits_default_without_local_dns() {
        let out = environment(LocalDnsProfile {
            cpu_limit_in_milli_cores: Some(500),
            memory_limit_in_mb: Some(64),
            enable_hosts_plugin: true,
            critical_fqdns: vec![" a.com\u{a0}".into(), "\t".into(), String::new(), "b".into()],
            hosts_plugin_refresh_interval_in_seconds: Some(45),
            ..Default::default()
        });
        for (name, value) in [
            ("SHOULD_ENABLE_LOCALDNS", "false"),
            ("SHOULD_ENABLE_HOSTS_PLUGIN", "false"),
            ("LOCALDNS_CPU_LIMIT", "200.0%"),
            ("LOCALDNS_MEMORY_LIMIT", "128M"),
            ("LOCALDNS_CRITICAL_FQDNS", "a.com,b"),
            ("LOCALDNS_HOSTS_PLUGIN_REFRESH_INTERVAL_IN_SECONDS", "45"),
            ("LOCALDNS_COREFILE_BASE", ""),
            ("LOCALDNS_GENERATED_COREFILE", ""),
            ("LOCALDNS_COREFILE_WITH_HOSTS", ""),
        ] {
            assert_eq!(out.expose(name), Some(value), "{name}");
        }
    }
}
