//! Required fields.

use mooring_contract::node_config::{ConfigFault, validate};

use super::config;

const COMPLETE: &str = r#"{"version": "v1", "auth_config": {"subscription_id": "s"},
    "api_server_config": {"api_server_name": "n"},
    "cluster_config": {"resource_group": "g", "location": "l", "cluster_network_config": {"vnet_name": "v", "route_table": "t"}}}"#;

#[test]
fn a_complete_config_passes() {
    assert_eq!(validate(&config(COMPLETE)), Ok(()));
}

#[test]
fn all_faults_are_returned_with_their_paths() {
    let invalid = validate(&config("{}")).unwrap_err();
    let paths: Vec<_> = invalid.faults.iter().map(ConfigFault::path).collect();
    assert_eq!(
        paths,
        [
            "version",
            "api_server_config.api_server_name",
            "cluster_config.cluster_network_config.vnet_name",
            "cluster_config.cluster_network_config.route_table",
            "cluster_config.resource_group",
            "cluster_config.location",
            "auth_config.subscription_id",
        ]
    );
    assert!(invalid.to_string().starts_with("required field version is missing; required field "));
}

#[test]
fn single_missing_field_is_the_only_fault() {
    for (value, path) in [
        ("\"v1\"", "version"),
        ("\"s\"", "auth_config.subscription_id"),
        ("\"n\"", "api_server_config.api_server_name"),
        ("\"g\"", "cluster_config.resource_group"),
        ("\"l\"", "cluster_config.location"),
        ("\"v\"", "cluster_config.cluster_network_config.vnet_name"),
        ("\"t\"", "cluster_config.cluster_network_config.route_table"),
    ] {
        let invalid = validate(&config(&COMPLETE.replace(value, "\"\""))).unwrap_err();
        assert_eq!(invalid.faults, [ConfigFault::Missing { path }]);
    }
}

#[test]
fn unsupported_version_is_a_fault() {
    let invalid = validate(&config(&COMPLETE.replace("\"v1\"", "\"v2\""))).unwrap_err();
    assert_eq!(invalid.faults, [ConfigFault::UnsupportedVersion]);
    assert_eq!(validate(&config(&COMPLETE.replace("\"v1\"", "\"v0\""))), Ok(()));
}
