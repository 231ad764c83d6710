//! Pod network, proxy and search domain.

use mooring_contract::NodeConfig;
use mooring_contract::node_config::{HttpProxyConfig, NetworkPlugin, NetworkPolicy, OrUnset as _};

use super::{Environment, node};

/// A CNI list with placeholders that containerd, not the agent, fills in.
const KUBENET_TEMPLATE: &str = include_str!("kubenet_template.conf");

pub(super) fn variables(config: &NodeConfig, out: &mut Environment) {
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
        .text("HTTP_PROXY_TRUSTED_CA", node::without_line_ends(&proxy.proxy_trusted_ca));
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

#[cfg(test)]
mod tests {
    use mooring_contract::node_config::{CustomSearchDomainConfig, NetworkConfig};

    use super::*;

    fn environment(config: &NodeConfig) -> Environment {
        let mut out = Environment::default();
        variables(config, &mut out);
        out
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
    fn the_template_is_the_file_that_containerd_expects() {
        assert_eq!(KUBENET_TEMPLATE.len(), 581);
        assert!(KUBENET_TEMPLATE.starts_with("{\n\t\"cniVersion\": \"0.3.1\","));
        assert!(KUBENET_TEMPLATE.ends_with("}\n"));
    }

    #[test]
    fn numbers_without_a_name_have_none() {
        for (plugin, policy, plugin_name, policy_name, bridge) in [
            (0, 0, "", "", "false"),
            (1, 1, "none", "none", "false"),
            (2, 2, "azure", "azure", "false"),
            (3, 2, "kubenet", "azure", "true"),
            (3, 3, "kubenet", "calico", "false"),
            (3, 9, "kubenet", "", "true"),
            (-1, 4, "", "", "false"),
        ] {
            let out = environment(&NodeConfig {
                network_config: Some(NetworkConfig {
                    network_plugin: NetworkPlugin(plugin),
                    network_policy: NetworkPolicy(policy),
                    ..Default::default()
                }),
                ..Default::default()
            });
            assert_eq!(out.expose("NETWORK_PLUGIN"), Some(plugin_name));
            assert_eq!(out.expose("NETWORK_POLICY"), Some(policy_name));
            assert_eq!(out.expose("ENSURE_NO_DUPE_PROMISCUOUS_BRIDGE"), Some(bridge));
        }
    }

    #[test]
    fn proxies_are_exported_in_upstreams_order_and_spacing() {
        for (http, https, direct, expected, configured) in [
            ("", "", &[][..], "", "false"),
            ("", "", &["a", "b"][..], "export NO_PROXY=\"a,b\"; ", "false"),
            ("", "", &[""][..], "export NO_PROXY=\"\"; ", "false"),
            ("h", "", &[][..], "export http_proxy=\"h\";", "true"),
            ("", "s", &[][..], "export HTTPS_PROXY=\"s\"; ", "true"),
            (
                "h",
                "s",
                &["a"][..],
                "export NO_PROXY=\"a\"; export HTTPS_PROXY=\"s\"; export http_proxy=\"h\";",
                "true",
            ),
        ] {
            let out = with_proxy(http, https, direct, "");
            assert_eq!(out.expose("PROXY_VARS"), Some(expected));
            assert_eq!(out.expose("SHOULD_CONFIGURE_HTTP_PROXY"), Some(configured));
            assert_eq!(out.expose("SHOULD_CONFIGURE_HTTP_PROXY_CA"), Some("false"));
        }
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
    fn a_search_domain_needs_name_user_and_password() {
        for (name, user, password, expected) in
            [("", "", "", "false"), ("d", "", "p", "false"), ("d", "u", "p", "true")]
        {
            let out = environment(&NodeConfig {
                custom_search_domain_config: Some(CustomSearchDomainConfig {
                    domain_name: name.to_owned(),
                    realm_user: user.to_owned(),
                    realm_password: password.into(),
                }),
                ..Default::default()
            });
            assert_eq!(out.expose("HAS_CUSTOM_SEARCH_DOMAIN"), Some(expected));
        }
    }
}
