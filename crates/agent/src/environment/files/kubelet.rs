//! Flags, labels and config file of the kubelet.

use std::collections::BTreeMap;

use mooring_contract::NodeConfig;
use mooring_contract::node_config::{KubeletConfig, KubeletDisk, OrUnset as _};

use crate::environment::Environment;
use crate::environment::go::version;

/// A flag that newer kubelets reject.
const STREAMING_TIMEOUT: &str = "--streaming-connection-idle-timeout";

pub(in crate::environment) fn variables(config: &NodeConfig, out: &mut Environment) {
    let kubelet = config.kubelet_config.or_unset();
    let file = kubelet.kubelet_config_file_config.or_unset();
    let drops_streaming_timeout = version::is_at_least(&config.kubernetes_version, 1, 34, 0);
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

#[cfg(test)]
mod tests {
    use mooring_contract::node_config::KubeletConfigFileConfig;

    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn pairs_are_sorted_by_key_and_joined_without_quoting() {
        let sorted =
            |entries: &[(&str, &str)], separator| pairs(&map(entries), separator, |_| true);
        assert_eq!(sorted(&[], ","), "");
        assert_eq!(sorted(&[("a", "")], ","), "a=");
        assert_eq!(sorted(&[("b", "2 3"), ("", "x"), ("a-b", "1"), ("a", "0")], " "), {
            "=x a=0 a-b=1 b=2 3"
        });
        assert_eq!(sorted(&[("\u{e9}", "3"), ("z", "2"), ("Z", "1")], ","), "Z=1,z=2,\u{e9}=3");
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
    fn missing_kubelet_config_is_empty_and_empty_one_an_object() {
        assert_eq!(config_file(None, false), "");
        assert_eq!(config_file(Some(&KubeletConfig::default()), false), "{}");
        let empty = KubeletConfig {
            kubelet_config_file_config: Some(KubeletConfigFileConfig::default()),
            ..Default::default()
        };
        assert_eq!(config_file(Some(&empty), true), "{}");
    }
}
