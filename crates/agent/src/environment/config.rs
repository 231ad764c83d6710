//! The variables that one field of the config decides: identity, cluster, cloud, network, and the node itself.

use std::borrow::Cow;

use mooring_contract::NodeConfig;
use mooring_contract::json::MAX_DEPTH;
use mooring_contract::node_config::{
    BootstrappingAuthMethod, HttpProxyConfig, LoadBalancerSku, NetworkPlugin, NetworkPolicy,
    OrUnset as _, UlimitConfig, VmType,
};

use crate::environment::{Environment, go};
use crate::format;

pub(super) fn identity(config: &NodeConfig, out: &mut Environment) {
    azure(config, out);
    bootstrapping(config, out);
    image_pull(config, out);
    api_server(config, out);
}

fn azure(config: &NodeConfig, out: &mut Environment) {
    let auth = config.auth_config.or_unset();
    let metadata = config.imds_restriction_config.or_unset();
    out.text("TENANT_ID", &auth.tenant_id)
        .text("SUBSCRIPTION_ID", &auth.subscription_id)
        .text("SERVICE_PRINCIPAL_CLIENT_ID", &auth.service_principal_id)
        // Already base64 in the config; encoding it again would break the scripts.
        .secret("SERVICE_PRINCIPAL_FILE_CONTENT", &auth.service_principal_secret)
        .text("USER_ASSIGNED_IDENTITY_ID", &auth.assigned_identity_id)
        .flag("USE_MANAGED_IDENTITY_EXTENSION", auth.use_managed_identity_extension)
        .flag("ENABLE_IMDS_RESTRICTION", metadata.enable_imds_restriction)
        .flag(
            "INSERT_IMDS_RESTRICTION_RULE_TO_MANGLE_TABLE",
            metadata.insert_imds_restriction_rule_to_mangle_table,
        );
}

fn bootstrapping(config: &NodeConfig, out: &mut Environment) {
    let from = config.bootstrapping_config.or_unset();
    let secure =
        from.bootstrapping_auth_method == BootstrappingAuthMethod::SECURE_TLS_BOOTSTRAPPING;
    let token = from.tls_bootstrapping_token.clone().unwrap_or_default();
    out.flag("ENABLE_SECURE_TLS_BOOTSTRAPPING", secure).secret("TLS_BOOTSTRAP_TOKEN", &token);
    for (name, value) in [
        ("SECURE_TLS_BOOTSTRAPPING_AAD_RESOURCE", &from.secure_tls_bootstrapping_aad_resource),
        (
            "SECURE_TLS_BOOTSTRAPPING_USER_ASSIGNED_IDENTITY_ID",
            &from.secure_tls_bootstrapping_user_assigned_identity_id,
        ),
        (
            "CUSTOM_SECURE_TLS_BOOTSTRAPPING_CLIENT_DOWNLOAD_URL",
            &from.secure_tls_bootstrapping_custom_client_download_url,
        ),
        (
            "SECURE_TLS_BOOTSTRAPPING_VALIDATE_KUBECONFIG_TIMEOUT",
            &from.secure_tls_bootstrapping_validate_kubeconfig_timeout,
        ),
        (
            "SECURE_TLS_BOOTSTRAPPING_GET_ACCESS_TOKEN_TIMEOUT",
            &from.secure_tls_bootstrapping_get_access_token_timeout,
        ),
        (
            "SECURE_TLS_BOOTSTRAPPING_GET_INSTANCE_DATA_TIMEOUT",
            &from.secure_tls_bootstrapping_get_instance_data_timeout,
        ),
        (
            "SECURE_TLS_BOOTSTRAPPING_GET_NONCE_TIMEOUT",
            &from.secure_tls_bootstrapping_get_nonce_timeout,
        ),
        (
            "SECURE_TLS_BOOTSTRAPPING_GET_ATTESTED_DATA_TIMEOUT",
            &from.secure_tls_bootstrapping_get_attested_data_timeout,
        ),
        (
            "SECURE_TLS_BOOTSTRAPPING_GET_CREDENTIAL_TIMEOUT",
            &from.secure_tls_bootstrapping_get_credential_timeout,
        ),
    ] {
        out.text(name, value.as_deref().unwrap_or_default());
    }
}

fn image_pull(config: &NodeConfig, out: &mut Environment) {
    let profile = config.service_account_image_pull_profile.or_unset();
    out.flag("SERVICE_ACCOUNT_IMAGE_PULL_ENABLED", profile.enabled)
        .text("SERVICE_ACCOUNT_IMAGE_PULL_DEFAULT_CLIENT_ID", &profile.default_client_id)
        .text("SERVICE_ACCOUNT_IMAGE_PULL_DEFAULT_TENANT_ID", &profile.default_tenant_id)
        .text("IDENTITY_BINDINGS_LOCAL_AUTHORITY_SNI", &profile.local_authority_sni);
}

fn api_server(config: &NodeConfig, out: &mut Environment) {
    let server = config.api_server_config.or_unset();
    out.text("APISERVER_PUBLIC_KEY", &server.api_server_public_key)
        .text("API_SERVER_NAME", &server.api_server_name);
}

pub(super) fn cluster(config: &NodeConfig, out: &mut Environment) {
    place(config, out);
    load_balancer(config, out);
    cloud_provider(config, out);
}

fn place(config: &NodeConfig, out: &mut Environment) {
    let cluster = config.cluster_config.or_unset();
    let network = cluster.cluster_network_config.or_unset();
    let vm_type = match cluster.vm_type {
        VmType::STANDARD => "standard",
        VmType::VMSS => "vmss",
        _ => "",
    };
    out.text("RESOURCE_GROUP", &cluster.resource_group)
        .text("LOCATION", &cluster.location)
        .text("VM_TYPE", vm_type)
        .text("PRIMARY_AVAILABILITY_SET", &cluster.primary_availability_set)
        .text("PRIMARY_SCALE_SET", &cluster.primary_scale_set)
        .flag("USE_INSTANCE_METADATA", cluster.use_instance_metadata)
        .text("SUBNET", &network.subnet)
        .text("NETWORK_SECURITY_GROUP", &network.security_group_name)
        .text("VIRTUAL_NETWORK", &network.vnet_name)
        .text("VIRTUAL_NETWORK_RESOURCE_GROUP", &network.vnet_resource_group)
        .text("ROUTE_TABLE", &network.route_table);
}

fn load_balancer(config: &NodeConfig, out: &mut Environment) {
    let balancer = config.cluster_config.or_unset().load_balancer_config.or_unset();
    let sku = match balancer.load_balancer_sku {
        LoadBalancerSku::BASIC => "basic",
        LoadBalancerSku::STANDARD => "standard",
        _ => "",
    };
    out.text("LOAD_BALANCER_SKU", sku)
        .flag("LOAD_BALANCER_DISABLE_OUTBOUND_SNAT", balancer.disable_outbound_snat)
        .flag(
            "EXCLUDE_MASTER_FROM_STANDARD_LB",
            balancer.exclude_master_from_standard_load_balancer.unwrap_or(true),
        )
        .integer(
            "MAXIMUM_LOADBALANCER_RULE_COUNT",
            balancer.max_load_balancer_rule_count.unwrap_or(148),
        );
}

/// An explicit zero or `false` counts; only an unset field takes its default.
fn cloud_provider(config: &NodeConfig, out: &mut Environment) {
    let provider = config.cluster_config.or_unset().cloud_provider_config.or_unset();
    let mode = match provider.backoff_mode.as_str() {
        "" => "v2",
        mode => mode,
    };
    let double = |value: Option<f64>, default| go::double(value.unwrap_or(default));
    out.flag("CLOUDPROVIDER_BACKOFF", provider.backoff.unwrap_or(true))
        .text("CLOUDPROVIDER_BACKOFF_MODE", mode)
        .integer("CLOUDPROVIDER_BACKOFF_RETRIES", provider.backoff_retries.unwrap_or(6))
        .text("CLOUDPROVIDER_BACKOFF_EXPONENT", double(provider.backoff_exponent, 0.0))
        .integer("CLOUDPROVIDER_BACKOFF_DURATION", provider.backoff_duration.unwrap_or(5))
        .text("CLOUDPROVIDER_BACKOFF_JITTER", double(provider.backoff_jitter, 0.0))
        .flag("CLOUDPROVIDER_RATELIMIT", provider.rate_limit.unwrap_or(true))
        .text("CLOUDPROVIDER_RATELIMIT_QPS", double(provider.rate_limit_qps, 10.0))
        .text("CLOUDPROVIDER_RATELIMIT_QPS_WRITE", double(provider.rate_limit_qps_write, 10.0))
        .integer("CLOUDPROVIDER_RATELIMIT_BUCKET", provider.rate_limit_bucket.unwrap_or(100))
        .integer(
            "CLOUDPROVIDER_RATELIMIT_BUCKET_WRITE",
            provider.rate_limit_bucket_write.unwrap_or(100),
        );
}

/// Name of a custom cloud, such as Azure Stack, in any letter case.
const CUSTOM: &str = "akscustom";

const PUBLIC: &str = "AzurePublicCloud";
const CHINA: &str = "AzureChinaCloud";
const GERMANY: &str = "AzureGermanCloud";
const US_GOVERNMENT: &str = "AzureUSGovernmentCloud";

pub(super) fn cloud(config: &NodeConfig, out: &mut Environment) {
    let custom = config.custom_cloud_config.or_unset();
    let is_custom = go::is_ignoring_case(&custom.custom_cloud_env_name, CUSTOM);
    let by_location = cloud_of(&config.cluster_config.or_unset().location);
    let only_if_custom = |text| if is_custom { text } else { "" };
    let arm = if is_custom {
        custom_arm_endpoint(&custom.custom_env_json_content).into()
    } else {
        Cow::Borrowed(arm_endpoint(by_location))
    };
    out.flag("IS_CUSTOM_CLOUD", is_custom)
        .text("TARGET_ENVIRONMENT", if is_custom { CUSTOM } else { by_location })
        .text("TARGET_CLOUD", if is_custom { "AzureStackCloud" } else { by_location })
        .text("AZURE_ENVIRONMENT_FILEPATH", only_if_custom("/etc/kubernetes/akscustom.json"))
        .text("ARM_RESOURCE_ENDPOINT", arm)
        .text("REPO_DEPOT_ENDPOINT", only_if_custom(&custom.repo_depot_endpoint))
        // These two go out in every cloud.
        .text("CUSTOM_ENV_JSON", &custom.custom_env_json_content)
        .text(
            "AKS_CUSTOM_CLOUD_CONTAINER_REGISTRY_DNS_SUFFIX",
            &custom.container_registry_dns_suffix,
        );
}

fn cloud_of(location: &str) -> &'static str {
    let location = go::lower(&location.split_whitespace().collect::<String>());
    if location.starts_with("china") {
        CHINA
    } else if matches!(location.as_str(), "germanynortheast" | "germanycentral") {
        // Germany's other regions are public.
        GERMANY
    } else if location.starts_with("usgov") || location.starts_with("usdod") {
        US_GOVERNMENT
    } else {
        PUBLIC
    }
}

/// Azure Resource Manager's address. Germany's own is not known to upstream.
fn arm_endpoint(cloud: &str) -> &'static str {
    match cloud {
        US_GOVERNMENT => "https://management.usgovcloudapi.net/",
        CHINA => "https://management.chinacloudapi.cn/",
        _ => "https://management.azure.com/",
    }
}

/// Returns the address of Azure Resource Manager in the cloud's description, or an empty text.
fn custom_arm_endpoint(description: &str) -> String {
    let mut endpoint = String::new();
    let read = format::checked(description.as_bytes()).and_then(|mut reader| {
        format::members_or_null(&mut reader, &mut |reader, name| {
            if go::is_ignoring_case(name, "resourceManagerEndpoint") {
                // A later null does not remove an earlier value.
                format::set_string(reader, &mut endpoint)
            } else {
                reader.skip(MAX_DEPTH)
            }
        })
    });
    if read.is_ok() { endpoint } else { String::new() }
}

/// A CNI list with placeholders that containerd, not the agent, fills in.
const KUBENET_TEMPLATE: &str = include_str!("kubenet_template.conf");

pub(super) fn network(config: &NodeConfig, out: &mut Environment) {
    pods(config, out);
    proxy(config.http_proxy_config.or_unset(), out);
    search_domain(config, out);
    let egress = &config.private_egress_proxy_address;
    out.text("OUTBOUND_COMMAND", &config.outbound_command).proxies(
        "PRIVATE_EGRESS_PROXY_ADDRESS",
        egress.expose(),
        &[egress],
    );
}

fn pods(config: &NodeConfig, out: &mut Environment) {
    let network = config.network_config.or_unset();
    let plugin = match network.network_plugin {
        NetworkPlugin::NONE => "none",
        NetworkPlugin::AZURE => "azure",
        NetworkPlugin::KUBENET => "kubenet",
        _ => "",
    };
    let policy = match network.network_policy {
        NetworkPolicy::NONE => "none",
        NetworkPolicy::AZURE => "azure",
        NetworkPolicy::CALICO => "calico",
        _ => "",
    };
    out.text("NETWORK_PLUGIN", plugin)
        .text("NETWORK_POLICY", policy)
        .flag("ENSURE_NO_DUPE_PROMISCUOUS_BRIDGE", has_promiscuous_bridge(config))
        .text("VNET_CNI_PLUGINS_URL", &network.vnet_cni_plugins_url)
        .integer("STANDARD_SECONDARY_NIC_COUNT", network.standard_secondary_nic_count)
        .flag("IPV6_DUAL_STACK_ENABLED", config.ipv6_dual_stack_enabled)
        .file("KUBENET_TEMPLATE", KUBENET_TEMPLATE);
}

/// Kubenet's bridge is promiscuous, and Calico brings its own arrangement.
pub(super) fn has_promiscuous_bridge(config: &NodeConfig) -> bool {
    let network = config.network_config.or_unset();
    network.network_plugin == NetworkPlugin::KUBENET
        && network.network_policy != NetworkPolicy::CALICO
}

fn proxy(proxy: &HttpProxyConfig, out: &mut Environment) {
    let (http, https) = (&proxy.http_proxy, &proxy.https_proxy);
    out.flag("SHOULD_CONFIGURE_HTTP_PROXY", !http.is_empty() || !https.is_empty())
        .proxies("HTTP_PROXY_URLS", http.expose(), &[http])
        .proxies("HTTPS_PROXY_URLS", https.expose(), &[https])
        .text("NO_PROXY_URLS", proxy.no_proxy_entries.join(","))
        .proxies("PROXY_VARS", exports(proxy), &[http, https])
        .flag("SHOULD_CONFIGURE_HTTP_PROXY_CA", !proxy.proxy_trusted_ca.is_empty())
        .text("HTTP_PROXY_TRUSTED_CA", without_line_ends(&proxy.proxy_trusted_ca));
}

/// Returns shell text that exports the proxies. Quirks kept: nothing is escaped, and the text ends with a
/// blank unless an http proxy is set.
fn exports(proxy: &HttpProxyConfig) -> String {
    let export = |name: &str, value: &str, is_set: bool, end: &str| {
        if is_set { format!("export {name}=\"{value}\";{end}") } else { String::new() }
    };
    let (http, https, direct) = (&proxy.http_proxy, &proxy.https_proxy, &proxy.no_proxy_entries);
    [
        export("NO_PROXY", &direct.join(","), !direct.is_empty(), " "),
        export("HTTPS_PROXY", https.expose(), !https.is_empty(), " "),
        export("http_proxy", http.expose(), !http.is_empty(), ""),
    ]
    .concat()
}

fn search_domain(config: &NodeConfig, out: &mut Environment) {
    let domain = config.custom_search_domain_config.or_unset();
    let is_complete = !domain.domain_name.is_empty()
        && !domain.realm_user.is_empty()
        && !domain.realm_password.is_empty();
    out.flag("HAS_CUSTOM_SEARCH_DOMAIN", is_complete)
        .text("CUSTOM_SEARCH_DOMAIN_NAME", &domain.domain_name)
        .text("CUSTOM_SEARCH_REALM_USER", &domain.realm_user)
        .secret("CUSTOM_SEARCH_REALM_PASSWORD", &domain.realm_password);
}

/// Default timeout of the scripts, in seconds.
const DEFAULT_TIMEOUT: i32 = 900;

/// Maximum timeout: six hours.
const MAX_TIMEOUT: i32 = 21_600;

pub(super) fn node(config: &NodeConfig, out: &mut Environment) {
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
    use mooring_contract::node_config::ClusterConfig;

    use super::*;

    fn environment(config: &NodeConfig) -> Environment {
        let mut out = Environment::default();
        for variables in [identity, cluster, cloud, network, node] {
            variables(config, &mut out);
        }
        out
    }

    fn in_region(location: &str) -> Environment {
        let cluster = ClusterConfig { location: location.to_owned(), ..Default::default() };
        environment(&NodeConfig { cluster_config: Some(cluster), ..Default::default() })
    }

    #[test]
    fn the_cloud_follows_from_the_region() {
        for (location, cloud, arm) in [
            ("", PUBLIC, "https://management.azure.com/"),
            ("eastus", PUBLIC, "https://management.azure.com/"),
            ("China East 2", CHINA, "https://management.chinacloudapi.cn/"),
            ("ch\u{130}na\u{3000}north", CHINA, "https://management.chinacloudapi.cn/"),
            ("germanynortheast", GERMANY, "https://management.azure.com/"),
            ("Germany\u{2003}Central", GERMANY, "https://management.azure.com/"),
            ("germanywestcentral", PUBLIC, "https://management.azure.com/"),
            ("germanycentral2", PUBLIC, "https://management.azure.com/"),
            ("usgovvirginia", US_GOVERNMENT, "https://management.usgovcloudapi.net/"),
            ("\u{a0}USDoD\tCentral\u{85}", US_GOVERNMENT, "https://management.usgovcloudapi.net/"),
            ("u\u{17F}gov", PUBLIC, "https://management.azure.com/"),
            ("us\u{200B}gov", PUBLIC, "https://management.azure.com/"),
        ] {
            let out = in_region(location);
            assert_eq!(out.expose("TARGET_ENVIRONMENT"), Some(cloud), "{location:?}");
            assert_eq!(out.expose("TARGET_CLOUD"), Some(cloud), "{location:?}");
            assert_eq!(out.expose("ARM_RESOURCE_ENDPOINT"), Some(arm), "{location:?}");
            assert_eq!(out.expose("AZURE_ENVIRONMENT_FILEPATH"), Some(""));
            assert_eq!(out.expose("REPO_DEPOT_ENDPOINT"), Some(""));
        }
    }

    #[test]
    fn arm_endpoint_of_custom_cloud_is_read_from_description() {
        let nested = |levels: usize| {
            let (open, close) = ("[".repeat(levels), "]".repeat(levels));
            format!(r#"{{"resourceManagerEndpoint":"a","x":{open}{close}}}"#)
        };
        for (description, endpoint) in [
            (r#"{"resourceManagerEndpoint":"https://a/"}"#, "https://a/"),
            ("\t{\"RESOURCEMANAGERENDPOINT\"\r\n:\"a\"} ", "a"),
            (r#"{"\u0072e\u017fourceManagerEndpoint":"a"}"#, "a"),
            (r#"{"resourceManagerEndpoint":"a","ResourceManagerEndpoint":"b"}"#, "b"),
            (r#"{"ResourceManagerEndpoint":"b","resourceManagerEndpoint":"a"}"#, "a"),
            (r#"{"resourceManagerEndpoint":"a","resourceManagerEndpoint":null}"#, "a"),
            (r#"{"resourceManagerEndpoint":5,"resourceManagerEndpoint":"a"}"#, ""),
            (r#"{"resourceManagerEndpoint":"a","resourceManagerEndpoint":[]}"#, ""),
            (r#"{"resourceManagerEndpoint":null}"#, ""),
            (r#"{"x":{"resourceManagerEndpoint":"a"}}"#, ""),
            (r#"{"resourceManagerEndpoint ":"a"}"#, ""),
            (r#"{"resourceManagerEndpoint":"\ud800"}"#, "\u{FFFD}"),
            (r#"{"resourceManagerEndpoint":"\ud800\ud800\u0041"}"#, "\u{FFFD}\u{FFFD}A"),
            (r#"{"resourceManagerEndpoint":"a\n\u0000"}"#, "a\n\0"),
            ("{\"resourceManagerEndpoint\":\"a\nb\"}", ""),
            (r#"{"resourceManagerEndpoint":"a"} x"#, ""),
            (r#"{"resourceManagerEndpoint":"a","x":01}"#, ""),
            (r#"{"resourceManagerEndpoint":"a","x":NaN}"#, ""),
            (r#"{"resourceManagerEndpoint":"a","x":1e}"#, ""),
            (r#"{"resourceManagerEndpoint":"a",}"#, ""),
            ("\u{feff}{\"resourceManagerEndpoint\":\"a\"}", ""),
            ("", ""),
            ("null", ""),
            ("[]", ""),
            ("\"resourceManagerEndpoint\"", ""),
            ("not json", ""),
            (&nested(9_999), "a"),
            (&nested(10_000), ""),
        ] {
            let shown = &description[..description.len().min(80)];
            assert_eq!(custom_arm_endpoint(description), endpoint, "{shown}");
        }
    }

    fn with_proxy(http: &str, https: &str, direct: &[&str], ca: &str) -> Environment {
        environment(&NodeConfig {
            http_proxy_config: Some(HttpProxyConfig {
                http_proxy: http.into(),
                https_proxy: https.into(),
                no_proxy_entries: direct.iter().map(|&entry| entry.to_owned()).collect(),
                proxy_trusted_ca: ca.to_owned(),
            }),
            ..Default::default()
        })
    }

    #[test]
    fn texts_with_a_proxy_password_are_secrets() {
        let out = with_proxy("http://u:p@proxy", "https://proxy", &["a"], "a\r\nb");
        let secret: Vec<_> = out.secret_names().collect();
        assert_eq!(secret, ["HTTP_PROXY_URLS", "PROXY_VARS"]);
        assert_eq!(out.expose("HTTP_PROXY_TRUSTED_CA"), Some("ab"));
        assert_eq!(out.expose("SHOULD_CONFIGURE_HTTP_PROXY_CA"), Some("true"));
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
}
