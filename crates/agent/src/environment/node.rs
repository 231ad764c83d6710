//! The node itself: its image, its login, its programs and limits.

use mooring_contract::NodeConfig;
use mooring_contract::node_config::{OrUnset as _, UlimitConfig};

use super::Environment;

/// Default timeout of the scripts, in seconds.
const DEFAULT_TIMEOUT: i32 = 900;

/// Maximum timeout: six hours.
const MAX_TIMEOUT: i32 = 21_600;

pub(super) fn variables(config: &NodeConfig, out: &mut Environment) {
    constants(out);
    image_and_login(config, out);
    programs(config, out);
    trust(config, out);
    operating_system(config, out);
}

fn constants(out: &mut Environment) {
    out.text("CLI_TOOL", "ctr")
        .text("MOBY_VERSION", "")
        .text("NETWORK_MODE", "")
        .flag("SKIP_WAAGENT_HOLD", true)
        .flag("NETWORK_ISOLATED_CLUSTER_TEST_MODE", false);
}

fn image_and_login(config: &NodeConfig, out: &mut Environment) {
    let admin = match config.linux_admin_username.as_str() {
        "" => "azureuser",
        name => name,
    };
    let timeout = config.cse_timeout.filter(|seconds| (1..=MAX_TIMEOUT).contains(seconds));
    out.text("ADMINUSER", admin)
        .flag("IS_VHD", config.is_vhd.unwrap_or(true))
        .flag("DISABLE_SSH", !config.enable_ssh.unwrap_or(true))
        .flag("DISABLE_PUBKEY_AUTH", config.disable_pubkey_auth.unwrap_or_default())
        // Exactly these two sizes, in exactly this case.
        .flag("SGX_NODE", matches!(config.vm_size.as_str(), "Standard_DC2s" | "Standard_DC4s"))
        .flag("ENABLE_UNATTENDED_UPGRADES", config.enable_unattended_upgrade)
        .flag("ENABLE_HOSTS_CONFIG_AGENT", config.enable_hosts_config_agent)
        .flag("PRE_PROVISION_ONLY", config.pre_provision_only)
        .text("MESSAGE_OF_THE_DAY", &config.message_of_the_day)
        .integer("CSE_TIMEOUT", timeout.unwrap_or(DEFAULT_TIMEOUT));
}

fn programs(config: &NodeConfig, out: &mut Environment) {
    let binaries = config.kube_binary_config.or_unset();
    let containerd = config.containerd_config.or_unset();
    let runc = config.runc_config.or_unset();
    out.text("KUBERNETES_VERSION", &config.kubernetes_version)
        .text("KUBEPROXY_URL", &config.kube_proxy_url)
        .text("KUBE_BINARY_URL", &binaries.kube_binary_url)
        .text("CUSTOM_KUBE_BINARY_URL", &binaries.custom_kube_binary_url)
        .text("PRIVATE_KUBE_BINARY_URL", &binaries.private_kube_binary_url)
        .text("CREDENTIAL_PROVIDER_DOWNLOAD_URL", &binaries.linux_credential_provider_url)
        .text("CONTAINERD_DOWNLOAD_URL_BASE", &containerd.containerd_download_url_base)
        .text("CONTAINERD_VERSION", &containerd.containerd_version)
        .text("CONTAINERD_PACKAGE_URL", &containerd.containerd_package_url)
        .text("RUNC_VERSION", &runc.runc_version)
        .text("RUNC_PACKAGE_URL", &runc.runc_package_url)
        .flag("IS_KATA", config.is_kata)
        .flag("ARTIFACT_STREAMING_ENABLED", config.enable_artifact_streaming)
        .flag("NEEDS_CGROUPV2", config.needs_cgroupv2.unwrap_or_default())
        .text("AZURE_PRIVATE_REGISTRY_SERVER", &config.azure_private_registry_server)
        .text(
            "BOOTSTRAP_PROFILE_CONTAINER_REGISTRY_SERVER",
            &config.bootstrap_profile_container_registry_server,
        );
}

fn trust(config: &NodeConfig, out: &mut Environment) {
    let certificates = &config.custom_ca_certs;
    out.text("KUBE_CA_CRT", &config.kubernetes_ca_cert)
        .flag("SHOULD_CONFIGURE_CUSTOM_CA_TRUST", !certificates.is_empty())
        .text("CUSTOM_CA_TRUST_COUNT", certificates.len().to_string());
    for (index, certificate) in certificates.iter().enumerate() {
        out.text(format!("CUSTOM_CA_CERT_{index}"), without_line_ends(certificate));
    }
}

fn operating_system(config: &NodeConfig, out: &mut Environment) {
    let linux = config.custom_linux_os_config.or_unset();
    let limits = linux.ulimit_config.as_ref();
    let huge_pages = [&linux.transparent_defrag, &linux.transparent_hugepage_support];
    out.flag("SHOULD_CONFIG_SWAP_FILE", linux.enable_swap_config && linux.swap_file_size > 0)
        .integer("SWAP_FILE_SIZE_MB", linux.swap_file_size)
        .flag("SHOULD_CONFIG_TRANSPARENT_HUGE_PAGE", huge_pages.iter().any(|mode| !mode.is_empty()))
        .text("THP_ENABLED", &linux.transparent_hugepage_support)
        .text("THP_DEFRAG", &linux.transparent_defrag)
        // The mere presence of the message counts, even if nothing is in it.
        .flag("SHOULD_CONFIG_CONTAINERD_ULIMITS", limits.is_some())
        .text("CONTAINERD_ULIMITS", limits.map(ulimits).unwrap_or_default());
}

/// The unit's `[Service]` section on one line. The blank at the end is upstream's.
fn ulimits(limits: &UlimitConfig) -> String {
    let memory = limits.max_locked_memory.iter().map(|limit| format!("LimitMEMLOCK={limit} "));
    let files = limits.no_file.iter().map(|limit| format!("LimitNOFILE={limit} "));
    format!("[Service] {}", memory.chain(files).collect::<String>())
}

pub(super) fn without_line_ends(text: &str) -> String {
    text.replace(['\n', '\r'], "")
}

#[cfg(test)]
mod tests {
    use mooring_contract::node_config::CustomLinuxOsConfig;

    use super::*;

    fn environment(config: &NodeConfig) -> Environment {
        let mut out = Environment::default();
        variables(config, &mut out);
        out
    }

    #[test]
    fn limits_are_one_line_with_a_trailing_blank() {
        let limits = |files: Option<&str>, memory: Option<&str>| {
            ulimits(&UlimitConfig {
                no_file: files.map(str::to_owned),
                max_locked_memory: memory.map(str::to_owned),
            })
        };
        assert_eq!(limits(None, None), "[Service] ");
        assert_eq!(
            limits(Some("9999"), Some("9999")),
            "[Service] LimitMEMLOCK=9999 LimitNOFILE=9999 "
        );
        assert_eq!(limits(Some(""), None), "[Service] LimitNOFILE= ");
    }

    #[test]
    fn empty_limit_message_counts_as_set() {
        let with = |ulimit_config| {
            environment(&NodeConfig {
                custom_linux_os_config: Some(CustomLinuxOsConfig {
                    ulimit_config,
                    ..Default::default()
                }),
                ..Default::default()
            })
        };
        let empty = with(Some(UlimitConfig::default()));
        assert_eq!(empty.expose("SHOULD_CONFIG_CONTAINERD_ULIMITS"), Some("true"));
        assert_eq!(empty.expose("CONTAINERD_ULIMITS"), Some("[Service] "));
        let absent = with(None);
        assert_eq!(absent.expose("SHOULD_CONFIG_CONTAINERD_ULIMITS"), Some("false"));
        assert_eq!(absent.expose("CONTAINERD_ULIMITS"), Some(""));
    }

    #[test]
    fn certificates_lose_their_line_ends_and_get_a_variable_each() {
        let out = environment(&NodeConfig {
            custom_ca_certs: vec!["a\r\nb\n".to_owned(), "\r".to_owned()],
            ..Default::default()
        });
        assert_eq!(out.expose("SHOULD_CONFIGURE_CUSTOM_CA_TRUST"), Some("true"));
        assert_eq!(out.expose("CUSTOM_CA_TRUST_COUNT"), Some("2"));
        assert_eq!(out.expose("CUSTOM_CA_CERT_0"), Some("ab"));
        assert_eq!(out.expose("CUSTOM_CA_CERT_1"), Some(""));
        assert_eq!(out.expose("CUSTOM_CA_CERT_2"), None);
    }

    #[test]
    fn a_time_out_outside_of_its_range_is_the_default() {
        for (seconds, expected) in [
            (None, "900"),
            (Some(0), "900"),
            (Some(-1), "900"),
            (Some(1), "1"),
            (Some(21_600), "21600"),
            (Some(21_601), "900"),
        ] {
            let out = environment(&NodeConfig { cse_timeout: seconds, ..Default::default() });
            assert_eq!(out.expose("CSE_TIMEOUT"), Some(expected), "{seconds:?}");
        }
    }

    #[test]
    fn two_sizes_have_enclaves() {
        for (size, expected) in [
            ("", "false"),
            ("Standard_D2s_v3", "false"),
            ("Standard_DC2s", "true"),
            ("Standard_DC4s", "true"),
            ("standard_dc2s", "false"),
        ] {
            let out = environment(&NodeConfig { vm_size: size.to_owned(), ..Default::default() });
            assert_eq!(out.expose("SGX_NODE"), Some(expected), "{size}");
        }
    }

    #[test]
    fn ssh_stays_on_unless_switched_off() {
        for (enable, disabled) in [(None, "false"), (Some(true), "false"), (Some(false), "true")] {
            let out = environment(&NodeConfig { enable_ssh: enable, ..Default::default() });
            assert_eq!(out.expose("DISABLE_SSH"), Some(disabled));
        }
    }
}
