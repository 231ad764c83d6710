//! Invariants of every environment.

use mooring_agent::environment::{self, Built, ContainerdLayout, GpuImages, NulError};
use mooring_contract::node_config::{
    AuthConfig, BootstrappingConfig, ClusterConfig, CustomCloudConfig, CustomLinuxOsConfig,
    CustomSearchDomainConfig, HttpProxyConfig, KubeletConfig, LocalDnsOverrides, LocalDnsProfile,
    SysctlConfig,
};
use mooring_contract::{NodeConfig, node_config};
use proptest::prelude::*;

/// Number of variables without certificates.
const FIXED: usize = 164;

const RANDOM: &str = include_str!("../../../../fixtures/golden/random.jsonl");

fn build(config: &NodeConfig) -> Result<Built, NulError> {
    environment::build(config, &GpuImages::default(), ContainerdLayout::One, None)
}

#[test]
fn an_empty_config_has_every_variable_and_upstreams_defaults() {
    let built = build(&NodeConfig::default()).unwrap();
    assert_eq!(built.environment.len(), FIXED);
    assert!(built.note.is_none());
    for (name, value) in [
        ("ADMINUSER", "azureuser"),
        ("ARM_RESOURCE_ENDPOINT", "https://management.azure.com/"),
        ("CLOUDPROVIDER_BACKOFF", "true"),
        ("CLOUDPROVIDER_BACKOFF_DURATION", "5"),
        ("CLOUDPROVIDER_BACKOFF_MODE", "v2"),
        ("CLOUDPROVIDER_RATELIMIT_QPS", "10"),
        ("CSE_TIMEOUT", "900"),
        ("DISABLE_SSH", "false"),
        ("EXCLUDE_MASTER_FROM_STANDARD_LB", "true"),
        ("GPU_DRIVER_TYPE", "cuda-lts"),
        ("IS_VHD", "true"),
        ("KUBELET_CONFIG_FILE_CONTENT", ""),
        ("KUBELET_FLAGS", ""),
        ("LOCALDNS_CPU_LIMIT", "200.0%"),
        ("MAXIMUM_LOADBALANCER_RULE_COUNT", "148"),
        ("PROVISION_OUTPUT", "/var/log/azure/cluster-provision-cse-output.log"),
        ("SKIP_WAAGENT_HOLD", "true"),
        ("TARGET_ENVIRONMENT", "AzurePublicCloud"),
        ("VM_TYPE", ""),
    ] {
        assert_eq!(built.environment.expose(name), Some(value), "{name}");
    }
    assert_eq!(built.environment.secret_names().count(), 0);
}

fn config_full_of_secrets() -> NodeConfig {
    NodeConfig {
        auth_config: Some(AuthConfig {
            service_principal_secret: "hunter2-principal".into(),
            ..Default::default()
        }),
        bootstrapping_config: Some(BootstrappingConfig {
            tls_bootstrapping_token: Some("hunter2-token".into()),
            ..Default::default()
        }),
        kubelet_config: Some(KubeletConfig {
            kubelet_client_key: "hunter2-key".into(),
            ..Default::default()
        }),
        custom_search_domain_config: Some(CustomSearchDomainConfig {
            realm_password: "hunter2-realm".into(),
            ..Default::default()
        }),
        http_proxy_config: Some(HttpProxyConfig {
            http_proxy: "http://user:hunter2-http@proxy".into(),
            https_proxy: "https://user:hunter2-https@proxy".into(),
            ..Default::default()
        }),
        ..Default::default()
    }
}

#[test]
fn all_secrets_of_the_config_are_masked() {
    let config = config_full_of_secrets();
    let built = build(&config).unwrap();
    let shown: String = built.environment.masked().flat_map(|(_, value)| value.chars()).collect();
    let debug = format!("{built:?}");
    // A proxy has two: the user information and the password in it.
    assert_eq!(config.expose_secrets().len(), 8);
    for secret in config.expose_secrets() {
        assert!(!shown.contains(secret));
        assert!(!debug.contains(secret));
    }
    // Not encoded a second time.
    let principal = built.environment.expose("SERVICE_PRINCIPAL_FILE_CONTENT");
    assert_eq!(principal, Some("hunter2-principal"));
    let names: Vec<_> = built.environment.secret_names().collect();
    assert_eq!(
        names,
        [
            "CUSTOM_SEARCH_REALM_PASSWORD",
            "HTTPS_PROXY_URLS",
            "HTTP_PROXY_URLS",
            "KUBELET_CLIENT_CONTENT",
            "PROXY_VARS",
            "SERVICE_PRINCIPAL_FILE_CONTENT",
            "TLS_BOOTSTRAP_TOKEN",
        ]
    );
}

#[test]
fn nul_error_names_the_variable_without_its_value() {
    let config = NodeConfig {
        bootstrapping_config: Some(BootstrappingConfig {
            tls_bootstrapping_token: Some("hunter2\0".into()),
            ..Default::default()
        }),
        ..Default::default()
    };
    let error = build(&config).unwrap_err();
    assert_eq!(error, NulError { variable: "TLS_BOOTSTRAP_TOKEN".to_owned() });
    assert!(!format!("{error} {error:?}").contains("hunter2"));

    let certificate = NodeConfig { custom_ca_certs: vec!["\0".into()], ..Default::default() };
    let error = build(&certificate).unwrap_err();
    assert_eq!(error, NulError { variable: "CUSTOM_CA_CERT_0".to_owned() });
}

#[test]
fn a_nul_inside_of_a_file_travels_in_base64() {
    let zone = ("\0".to_owned(), LocalDnsOverrides::default());
    let config = NodeConfig {
        local_dns_profile: Some(LocalDnsProfile {
            enable_local_dns: true,
            vnet_dns_overrides: [zone].into(),
            ..Default::default()
        }),
        ..Default::default()
    };
    assert!(build(&config).is_ok());
}

proptest! {
    /// Texts that the rules look into, filled with anything.
    #[test]
    fn any_text_anywhere_builds(
        texts in proptest::array::uniform8(any::<String>()),
        certificates in proptest::collection::vec(any::<String>(), 0..4),
    ) {
        let [version, size, location, cloud, description, range, zone, proxy] = texts;
        let config = NodeConfig {
            kubernetes_version: version,
            vm_size: size,
            custom_ca_certs: certificates.clone(),
            cluster_config: Some(ClusterConfig { location, ..Default::default() }),
            custom_cloud_config: Some(CustomCloudConfig {
                custom_cloud_env_name: if cloud.is_empty() { "akscustom".into() } else { cloud },
                custom_env_json_content: description,
                ..Default::default()
            }),
            custom_linux_os_config: Some(CustomLinuxOsConfig {
                sysctl_config: Some(SysctlConfig {
                    net_ipv4_ip_local_port_range: Some(range),
                    ..Default::default()
                }),
                ..Default::default()
            }),
            local_dns_profile: Some(LocalDnsProfile {
                enable_local_dns: true,
                kube_dns_overrides: [(zone, LocalDnsOverrides::default())].into(),
                ..Default::default()
            }),
            http_proxy_config: Some(HttpProxyConfig { http_proxy: proxy.into(), ..Default::default() }),
            ..Default::default()
        };
        match build(&config) {
            Ok(built) => prop_assert_eq!(built.environment.len(), FIXED + certificates.len()),
            Err(NulError { .. }) => {
                prop_assert!(config.to_json_with_secrets().contains("\\u0000"));
            }
        }
    }

    /// Truncated real configs build if they parse.
    #[test]
    fn any_config_that_parses_builds(which in 0usize..60, from in 0usize..9_999, to in 0usize..9_999) {
        let line = RANDOM.lines().nth(which).unwrap();
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let mut text = case["config"].as_str().unwrap().as_bytes().to_vec();
        // Cut from the end of one member to that of another: some results are still good.
        let ends: Vec<_> = (0..text.len()).filter(|&at| matches!(text[at], b',' | b'}')).collect();
        let (from, to) = (ends[from % ends.len()], ends[to % ends.len()]);
        text.drain(from.min(to)..from.max(to));
        if let Ok(parsed) = node_config::parse(&text) {
            let built = build(&parsed.config);
            prop_assert!(built.is_ok_and(|built| built.environment.len() >= FIXED));
        }
    }

    #[test]
    fn any_bytes_are_components_or_an_error(bytes in any::<Vec<u8>>()) {
        let _ = GpuImages::from_components(&bytes);
        let _ = ContainerdLayout::detect(Some(&bytes));
    }
}
