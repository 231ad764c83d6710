//! Flags, labels and config file of the kubelet, and kernel parameters.

use std::collections::BTreeMap;

use mooring_contract::NodeConfig;
use mooring_contract::node_config::{KubeletConfig, KubeletDisk, OrUnset as _, SysctlConfig};
use mooring_redact::identifier;

use crate::environment::{Environment, go};

/// A flag that newer kubelets reject.
const STREAMING_TIMEOUT: &str = "--streaming-connection-idle-timeout";

pub(super) fn variables(config: &NodeConfig, out: &mut Environment) {
    let kubelet = config.kubelet_config.or_unset();
    let file = kubelet.kubelet_config_file_config.or_unset();
    let drops_streaming_timeout = go::is_at_least(&config.kubernetes_version, 1, 34, 0);
    let kept = |flag: &str| !(drops_streaming_timeout && flag == STREAMING_TIMEOUT);
    out.text("KUBELET_FLAGS", pairs(&kubelet.kubelet_flags, " ", kept))
        .text("KUBELET_NODE_LABELS", pairs(&kubelet.kubelet_node_labels, ",", |_| true))
        .flag("HAS_KUBELET_DISK_TYPE", kubelet.kubelet_disk_type == KubeletDisk::TEMP_DISK)
        .secret("KUBELET_CLIENT_CONTENT", &kubelet.kubelet_client_key)
        .text("KUBELET_CLIENT_CERT_CONTENT", &kubelet.kubelet_client_cert_content)
        .flag("KUBELET_CONFIG_FILE_ENABLED", kubelet.enable_kubelet_config_file)
        // The flag `--rotate-server-certificates` is ignored.
        .flag("ENABLE_KUBELET_SERVING_CERTIFICATE_ROTATION", file.server_tls_bootstrap)
        .file(
            "KUBELET_CONFIG_FILE_CONTENT",
            &config_file(config.kubelet_config.as_ref(), drops_streaming_timeout),
        );
}

/// `key=value` by key, without quoting.
fn pairs(
    map: &BTreeMap<String, String>,
    separator: &str,
    is_kept: impl Fn(&str) -> bool,
) -> String {
    let mut pairs = String::new();
    for (key, value) in map.iter().filter(|(key, _)| is_kept(key)) {
        let before = if pairs.is_empty() { "" } else { separator };
        pairs.extend([before, key, "=", value]);
    }
    pairs
}

/// Empty without a kubelet config; `{}` if that has no config file.
fn config_file(kubelet: Option<&KubeletConfig>, drops_streaming_timeout: bool) -> String {
    let Some(kubelet) = kubelet else { return String::new() };
    let mut file = kubelet.kubelet_config_file_config.or_unset().clone();
    if drops_streaming_timeout {
        file.streaming_connection_idle_timeout.clear();
    }
    file.to_kubelet_json()
}

/// A port that the node's own services listen on; the kernel must not give it to clients.
const RESERVED_PORT: i64 = 65_330;

const PORT_RANGE: &str = "net.ipv4.ip_local_port_range";

pub(super) fn sysctl(config: &NodeConfig, out: &mut Environment) -> Option<String> {
    let (content, note) = file(config.custom_linux_os_config.or_unset().sysctl_config.or_unset());
    out.file("SYSCTL_CONTENT", &content);
    note
}

/// The file: `key=value` by key, a line end after each.
fn file(sysctl: &SysctlConfig) -> (String, Option<String>) {
    let set =
        settings(sysctl).into_iter().filter_map(|(key, value)| Some((key, value?.to_string())));
    let mut lines: BTreeMap<&str, String> = set.collect();
    let mut note = None;
    if let Some(range) = sysctl.net_ipv4_ip_local_port_range.as_ref().filter(|r| !r.is_empty()) {
        lines.insert(PORT_RANGE, range.clone());
        match last_port(range) {
            Ok(Some(last)) if last > RESERVED_PORT => {
                lines.insert("net.ipv4.ip_local_reserved_ports", RESERVED_PORT.to_string());
            }
            Ok(_) => {}
            Err(fault) => {
                let range = identifier(range);
                note = Some(format!("{PORT_RANGE} `{range}` is passed on as it is, but {fault}"));
            }
        }
    }
    let lines: Vec<String> = lines.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
    (lines.concat(), note)
}

/// Returns all numeric settings; `None` keeps the image's value.
fn settings(sysctl: &SysctlConfig) -> [(&'static str, Option<i32>); 30] {
    let or = |value: Option<i32>, default| Some(value.unwrap_or(default));
    [
        ("net.ipv4.tcp_retries2", Some(8)),
        ("net.core.message_burst", Some(80)),
        ("net.core.message_cost", Some(40)),
        ("net.core.somaxconn", or(sysctl.net_core_somaxconn, 16_384)),
        ("net.ipv4.tcp_max_syn_backlog", or(sysctl.net_ipv4_tcp_max_syn_backlog, 16_384)),
        ("net.ipv4.neigh.default.gc_thresh1", or(sysctl.net_ipv4_neigh_default_gc_thresh1, 4_096)),
        ("net.ipv4.neigh.default.gc_thresh2", or(sysctl.net_ipv4_neigh_default_gc_thresh2, 8_192)),
        ("net.ipv4.neigh.default.gc_thresh3", or(sysctl.net_ipv4_neigh_default_gc_thresh3, 16_384)),
        ("net.core.netdev_max_backlog", sysctl.net_core_netdev_max_backlog),
        ("net.core.rmem_default", sysctl.net_core_rmem_default),
        ("net.core.rmem_max", sysctl.net_core_rmem_max),
        ("net.core.wmem_default", sysctl.net_core_wmem_default),
        ("net.core.wmem_max", sysctl.net_core_wmem_max),
        ("net.core.optmem_max", sysctl.net_core_optmem_max),
        ("net.ipv4.tcp_max_tw_buckets", sysctl.net_ipv4_tcp_max_tw_buckets),
        ("net.ipv4.tcp_fin_timeout", sysctl.net_ipv4_tcp_fin_timeout),
        ("net.ipv4.tcp_keepalive_time", sysctl.net_ipv4_tcp_keepalive_time),
        ("net.ipv4.tcp_keepalive_probes", sysctl.net_ipv4_tcp_keepalive_probes),
        ("net.ipv4.tcp_keepalive_intvl", sysctl.net_ipv4_tcpkeepalive_intvl),
        ("net.ipv4.tcp_tw_reuse", sysctl.net_ipv4_tcp_tw_reuse.map(i32::from)),
        ("net.netfilter.nf_conntrack_max", sysctl.net_netfilter_nf_conntrack_max),
        ("net.netfilter.nf_conntrack_buckets", sysctl.net_netfilter_nf_conntrack_buckets),
        ("fs.inotify.max_user_watches", sysctl.fs_inotify_max_user_watches),
        ("fs.file-max", sysctl.fs_file_max),
        ("fs.aio-max-nr", sysctl.fs_aio_max_nr),
        ("fs.nr_open", sysctl.fs_nr_open),
        ("kernel.threads-max", sysctl.kernel_threads_max),
        ("vm.max_map_count", sysctl.vm_max_map_count),
        ("vm.swappiness", sysctl.vm_swappiness),
        ("vm.vfs_cache_pressure", sysctl.vm_vfs_cache_pressure),
    ]
}

/// Returns the last port of a range; `None` if the text is not a pair, which upstream ignores.
fn last_port(range: &str) -> Result<Option<i64>, &'static str> {
    let mut words = range.split(' ');
    let (Some(first), Some(last), None) = (words.next(), words.next(), words.next()) else {
        return Ok(None);
    };
    // Like Go, `parse` takes a sign, leading zeros and 64 bits, and nothing else.
    let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) else {
        return Err("a port in it is not a number");
    };
    if first <= 0 || last <= 0 {
        Err("a port in it is not positive")
    } else if first >= last {
        Err("its second port is not above its first")
    } else {
        Ok(Some(last))
    }
}

#[cfg(test)]
mod tests {
    use mooring_contract::node_config::KubeletConfigFileConfig;

    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn the_streaming_timeout_goes_with_1_34() {
        for (version, is_kept) in [
            ("1.33.9", true),
            ("1.34.0-alpha.1", true),
            ("nonsense", true),
            ("", true),
            ("1.34.0", false),
            ("v1.34", false),
            ("1.35.1-rc.0", false),
        ] {
            let mut out = Environment::default();
            let config = NodeConfig {
                kubernetes_version: version.to_owned(),
                kubelet_config: Some(KubeletConfig {
                    kubelet_flags: map(&[("--v", "2"), (STREAMING_TIMEOUT, "4h")]),
                    kubelet_config_file_config: Some(KubeletConfigFileConfig {
                        streaming_connection_idle_timeout: "4h".to_owned(),
                        ..Default::default()
                    }),
                    ..Default::default()
                }),
                ..Default::default()
            };
            variables(&config, &mut out);
            let flags = out.expose("KUBELET_FLAGS").unwrap();
            assert_eq!(flags.contains(STREAMING_TIMEOUT), is_kept, "{version}");
            let file = config_file(config.kubelet_config.as_ref(), !is_kept);
            assert_eq!(file == "{}", !is_kept, "{version}: {file}");
            // In base64, `{}` is `e30=`.
            let content = out.expose("KUBELET_CONFIG_FILE_CONTENT").unwrap();
            assert_eq!(content == "e30=", !is_kept, "{version}");
        }
    }

    #[test]
    fn a_range_is_two_ascending_positive_numbers() {
        for (range, expected) in [
            ("80 90", Ok(Some(90))),
            ("+080 0090", Ok(Some(90))),
            ("1 9223372036854775807", Ok(Some(i64::MAX))),
            ("", Ok(None)),
            ("80", Ok(None)),
            ("80-90", Ok(None)),
            ("80  90", Ok(None)),
            ("80 90 ", Ok(None)),
            ("80 90 100", Ok(None)),
            ("80\t90", Ok(None)),
            ("80 ", Err("number")),
            ("abc def", Err("number")),
            ("80 90\n", Err("number")),
            ("1_0 90", Err("number")),
            ("0x10 90", Err("number")),
            ("1 99999999999999999999", Err("number")),
            ("+ 5", Err("number")),
            ("-1 80", Err("positive")),
            ("0 80", Err("positive")),
            ("80 -5", Err("positive")),
            ("110 90", Err("above")),
            ("80 80", Err("above")),
        ] {
            match (last_port(range), expected) {
                (Err(fault), Err(word)) => assert!(fault.contains(word), "{range:?}: {fault}"),
                (found, expected) => assert_eq!(found, expected, "{range:?}"),
            }
        }
    }

    #[test]
    fn the_reserved_port_is_named_only_if_the_range_goes_beyond_it() {
        for (range, is_reserved, is_noted) in [
            ("1024 65330", false, false),
            ("1024 65331", true, false),
            ("65400 65330", false, true),
            ("65400-65500", false, false),
        ] {
            let (content, note) = file(&SysctlConfig {
                net_ipv4_ip_local_port_range: Some(range.to_owned()),
                ..Default::default()
            });
            assert!(content.contains(&format!("ip_local_port_range={range}\n")));
            assert_eq!(content.contains("ip_local_reserved_ports"), is_reserved, "{range}");
            assert_eq!(note.is_some(), is_noted, "{range}");
        }
    }

    #[test]
    fn note_contains_the_fault_and_the_result() {
        let range = Some("80 80".to_owned());
        let sysctl = SysctlConfig { net_ipv4_ip_local_port_range: range, ..Default::default() };
        assert_eq!(
            file(&sysctl).1.as_deref(),
            Some(
                "net.ipv4.ip_local_port_range `80 80` is passed on as it is, but its second port is \
                 not above its first"
            )
        );
    }
}
