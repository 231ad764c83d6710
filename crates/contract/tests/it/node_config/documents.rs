//! Accepted documents: the Go parser's rules, including its quirks.

use mooring_contract::node_config::{
    BootstrappingAuthMethod, NetworkPlugin, OrUnset, UnknownName, VmType,
};

use super::{accepted, config};

#[test]
fn both_names_of_a_field_are_read() {
    let proto = config(r#"{"api_server_config": {"api_server_name": "a"}}"#);
    let json = config(r#"{"apiServerConfig": {"apiServerName": "a"}}"#);
    let escaped = config(r#"{"\u0061pi_server_config": {"apiServer\u004eame": "a"}}"#);
    assert_eq!(proto.api_server_config.or_unset().api_server_name, "a");
    assert_eq!(proto, json);
    assert_eq!(proto, escaped);
}

#[test]
fn names_are_compared_exactly() {
    let parsed = accepted(r#"{"Version": "v1", "VERSION": "v1"}"#);
    assert_eq!(parsed.config.version, "");
    assert_eq!(parsed.warnings.len(), 2);
}

#[test]
fn null_means_not_set() {
    let parsed = config(
        r#"{"version": null, "is_vhd": null, "auth_config": null, "custom_ca_certs": null,
        "cse_timeout": null, "kubelet_config": {"kubelet_flags": null, "kubelet_disk_type": null}}"#,
    );
    assert_eq!(parsed, config(r#"{"kubelet_config": {}}"#));
}

#[test]
fn an_empty_message_is_not_an_absent_one() {
    assert!(config(r#"{"auth_config": {}}"#).auth_config.is_some());
    assert!(config("{}").auth_config.is_none());
}

#[test]
fn zero_differs_from_absent_in_optional_fields() {
    let parsed = config(
        r#"{"is_vhd": false, "cse_timeout": 0, "bootstrapping_config": {"tls_bootstrapping_token": ""}}"#,
    );
    assert_eq!((parsed.is_vhd, parsed.cse_timeout), (Some(false), Some(0)));
    assert!(parsed.bootstrapping_config.or_unset().tls_bootstrapping_token.is_some());
}

#[test]
fn integers_may_be_floats_or_quoted() {
    for (written, value) in [
        ("5", 5),
        ("5.0", 5),
        ("50e-1", 5),
        ("1e3", 1000),
        ("-0", 0),
        ("0e999999999999", 0),
        ("1e ", 1),
        ("\"5\"", 5),
        ("\"5 6\"", 5),
        ("\"5%\"", 5),
        ("\"5,x\"", 5),
        ("\"1/2\"", 1),
        ("\"1e,\"", 1),
        ("\"-2147483648\"", i32::MIN),
        ("2147483647.000", i32::MAX),
        ("\"98951.00\"", 98951),
    ] {
        let parsed = config(&format!("{{\"cse_timeout\": {written}}}"));
        assert_eq!(parsed.cse_timeout, Some(value), "{written}");
    }
}

#[test]
fn doubles_may_be_quoted_or_not_numbers() {
    let double = |written: &str| {
        let document = format!(
            r#"{{"cluster_config": {{"cloud_provider_config": {{"rate_limit_qps": {written}}}}}}}"#
        );
        config(&document)
            .cluster_config
            .or_unset()
            .cloud_provider_config
            .or_unset()
            .rate_limit_qps
            .unwrap()
    };
    assert_eq!(double("1.5").to_bits(), 1.5_f64.to_bits());
    assert_eq!(double("\"2.5e1\"").to_bits(), 25_f64.to_bits());
    assert_eq!(double("\"2.5 and more\"").to_bits(), 2.5_f64.to_bits());
    assert_eq!(double("-0.0").to_bits(), (-0.0_f64).to_bits());
    assert_eq!(double("1e-400").to_bits(), 0_f64.to_bits());
    assert!(double("\"NaN\"").is_nan());
    assert_eq!(double("\"-Infinity\"").to_bits(), f64::NEG_INFINITY.to_bits());
}

#[test]
fn enums_are_names_or_numbers() {
    let vm_type = |written: &str| {
        config(&format!(r#"{{"cluster_config": {{"vm_type": {written}}}}}"#))
            .cluster_config
            .or_unset()
            .vm_type
    };
    assert_eq!(vm_type("\"VM_TYPE_VMSS\""), VmType::VMSS);
    assert_eq!(vm_type("2"), VmType::VMSS);
    assert_eq!(vm_type("2.0"), VmType::VMSS);
    assert_eq!(vm_type("77"), VmType(77));
    assert_eq!(vm_type("-1"), VmType(-1));
    assert_eq!(format!("{:?} {:?}", VmType::VMSS, VmType(77)), "VM_TYPE_VMSS VmType(77)");
}

#[test]
fn unknown_enum_name_is_a_warning_and_leaves_field_unset() {
    let parsed = accepted(
        "{\n  \"network_config\": {\"networkPlugin\": \"NETWORK_PLUGIN_CILIUM\"},\n  \"bootstrapping_config\": {\"bootstrapping_auth_method\": \"2\"}}",
    );
    assert_eq!(parsed.config.network_config.or_unset().network_plugin, NetworkPlugin::UNSPECIFIED);
    // A string of digits is a name like any other, and an unknown one.
    let method = parsed.config.bootstrapping_config.or_unset().bootstrapping_auth_method;
    assert_eq!(method, BootstrappingAuthMethod::UNSPECIFIED);
    let warnings: Vec<String> = parsed.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "network_config.networkPlugin: unknown enum name, the field counts as not set (line 2, column 39)",
            "bootstrapping_config.bootstrapping_auth_method: unknown enum name, the field counts as not set (line 3, column 57)",
        ]
    );
}

#[test]
fn unknown_fields_are_skipped_and_listed_with_their_path() {
    let parsed = accepted(
        "{\"version\":\"v1\",\"x\":{\"y\":[1,{\"z\":null}]},\n\"x\":1e+,\n \"local_dns_profile\":{\"vnet_dns_overrides\":{\"a.b\":{\"é\":true}}}}",
    );
    assert_eq!(parsed.config.version, "v1");
    let warnings: Vec<_> = parsed
        .warnings
        .iter()
        .map(|w| (w.what, w.path.as_str(), w.position.line, w.position.column))
        .collect();
    assert_eq!(
        warnings,
        [
            (UnknownName::Field, "x", 1, 17),
            (UnknownName::Field, "x", 2, 1),
            (UnknownName::Field, "local_dns_profile.vnet_dns_overrides[\"a.b\"].#1", 3, 52),
        ]
    );
}

#[test]
fn an_escaped_nul_is_a_character_like_any_other() {
    assert_eq!(config(r#"{"vm_size": "a\u0000b"}"#).vm_size, "a\0b");
}

#[test]
fn json_white_space_alone_is_accepted() {
    assert_eq!(config("\t\r\n {\r\n\"version\"\t:\n\"v1\" } \n").version, "v1");
}
