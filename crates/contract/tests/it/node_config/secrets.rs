//! Secrets do not print.

use super::config;

const DOCUMENT: &str = r#"{
    "bootstrapping_config": {"tls_bootstrapping_token": "canary-token"},
    "auth_config": {"service_principal_secret": "canary-principal"},
    "kubelet_config": {"kubelet_client_key": "canary-key"},
    "custom_search_domain_config": {"realm_password": "canary-realm"},
    "http_proxy_config": {"http_proxy": "http://user:canary-http@proxy:3128", "https_proxy": "https://canary-https@proxy"},
    "private_egress_proxy_address": "http://user:canary-egress@proxy"
}"#;

const CANARIES: [&str; 7] = [
    "canary-token",
    "canary-principal",
    "canary-key",
    "canary-realm",
    "canary-http",
    "canary-https",
    "canary-egress",
];

#[test]
fn a_config_prints_without_its_secrets() {
    let config = config(DOCUMENT);
    let printed = format!("{config:?}{config:#?}");
    for canary in CANARIES {
        assert!(!printed.contains(canary), "{canary}");
    }
    assert!(printed.contains("[secret]@proxy:3128"), "{printed}");
}

#[test]
fn all_secrets_are_listed_for_redaction() {
    let config = config(DOCUMENT);
    let secrets = config.expose_secrets();
    for canary in CANARIES {
        assert!(secrets.contains(&canary), "{canary}");
    }
    assert_eq!(super::config("{}").expose_secrets(), [""; 0]);
}
