//! Rejected documents and their errors.

use mooring_contract::json::Problem;
use mooring_contract::node_config::{MAX_BYTES, parse};

use super::{accepted, refused};

#[test]
fn an_error_names_the_field_the_line_and_the_column() {
    for (document, expected) in [
        (
            "{\"cluster_config\":\n {\"location\": 5}}",
            "cluster_config.location: expected a string, found a number (line 2, column 15)",
        ),
        ("{\"version\":\"v1\",\"version\":\"v1\"}", "version: duplicate field (line 1, column 17)"),
        (
            "{\"kubelet_config\":{\"kubelet_flags\":{\"--v\":\"1\",\"--v\":\"2\"}}}",
            "kubelet_config.kubelet_flags[\"--v\"]: duplicate field (line 1, column 47)",
        ),
        (
            "{\"custom_ca_certs\":[\"a\", null]}",
            "custom_ca_certs[1]: expected a string, found null (line 1, column 26)",
        ),
        (
            "{\"cse_timeout\": 1.5}",
            "cse_timeout: expected a 32-bit integer; this value is not one (line 1, column 17)",
        ),
        (
            "{\"is_vhd\": \"true\"}",
            "is_vhd: expected a boolean, found a string (line 1, column 12)",
        ),
        ("{\"version\": \"v1\"", "malformed JSON: unexpected end of text (line 1, column 17)"),
        (
            "{\"version\": \"v1\", invalid}",
            "malformed JSON: expected a member's name in quotes (line 1, column 19)",
        ),
        ("{} x", "malformed JSON: expected the end of the text (line 1, column 4)"),
        ("[]", "expected an object, found an array (line 1, column 1)"),
        ("", "malformed JSON: unexpected end of text (line 1, column 1)"),
    ] {
        assert_eq!(refused(document).to_string(), expected, "{document}");
    }
}

#[test]
fn errors_and_warnings_never_quote_values() {
    let canary = "canary password";
    for (document, path) in [
        (
            format!(r#"{{"kubelet_config":{{"kubelet_flags":{{"a":"","{canary}":5}}}}}}"#),
            "kubelet_config.kubelet_flags[#2]",
        ),
        (
            format!(r#"{{"kubelet_config":{{"kubelet_flags":{{"{canary}":"","{canary}":""}}}}}}"#),
            "kubelet_config.kubelet_flags[#2]",
        ),
        (format!(r#"{{"{canary}":{{]}}"#), "#1"),
    ] {
        let error = refused(&document);
        let shown = format!("{error} {error:?}");
        assert!(error.path == path && !shown.contains("canary"), "{shown}");
    }
    let parsed = accepted(&format!(r#"{{"version":"v1","{canary}":1}}"#));
    let shown = format!("{0} {0:?}", parsed.warnings[0]);
    assert!(
        shown.starts_with("#2: unknown field, ignored") && !shown.contains("canary"),
        "{shown}"
    );
}

#[test]
fn the_first_duplicate_key_counts_before_whatever_follows_it() {
    for rest in [r#""b":"3"}}}"#, r#""a":5}}}"#, r#""a":"4","b":"5"}}}"#, r#""b":5}}"#, "!", ""] {
        let text = format!(
            r#"{{"kubelet_config":{{"kubelet_flags":{{"z":"0","b":"1","a":"2","b":5,{rest}"#
        );
        let error = refused(&text);
        assert_eq!(error.problem, Problem::Duplicate, "{text}");
        assert!(error.to_string().starts_with(r#"kubelet_config.kubelet_flags["b"]: "#), "{error}");
    }
    let text = r#"{"kubelet_config":{"kubelet_flags":{"z":"0","a!":"1","b":"2","a!":"3"}}}"#;
    assert!(refused(text).to_string().starts_with("kubelet_config.kubelet_flags[#4]: "));
}

#[test]
fn the_same_field_by_its_two_names_is_a_duplicate() {
    assert_eq!(refused(r#"{"vm_size": "a", "vmSize": "a"}"#).problem, Problem::Duplicate);
    assert_eq!(refused(r#"{"vm_size": null, "vmSize": "a"}"#).problem, Problem::Duplicate);
}

#[test]
fn types_are_not_converted() {
    for document in [
        r#"{"version": 1}"#,
        r#"{"version": true}"#,
        r#"{"version": {}}"#,
        r#"{"is_vhd": 1}"#,
        r#"{"is_vhd": "true"}"#,
        r#"{"cse_timeout": true}"#,
        r#"{"cse_timeout": []}"#,
        r#"{"custom_ca_certs": "a"}"#,
        r#"{"custom_ca_certs": {}}"#,
        r#"{"auth_config": []}"#,
        r#"{"auth_config": "a"}"#,
        r#"{"enabled_features": []}"#,
        r#"{"enabled_features": {"a": 1}}"#,
        r#"{"enabled_features": {"a": null}}"#,
        r#"{"workload_runtime": true}"#,
        r#"{"cluster_config": {"vm_type": {}}}"#,
        r#"{"kubelet_config": {"kubelet_config_file_config": {"feature_gates": {"A": "true"}}}}"#,
        r#"{"local_dns_profile": {"vnet_dns_overrides": {"a": null}}}"#,
    ] {
        assert_eq!(refused(document).reason(), "WrongType", "{document}");
    }
}

#[test]
fn numbers_out_of_range_are_not_cut() {
    for written in [
        "2147483648",
        "-2147483649",
        "1e20",
        "1e99999999999",
        "0.5",
        "\"\"",
        "\" 5\"",
        "\"5\u{a0}\"",
        "\"+5\"",
        "\"5x\"",
        "\"5_0\"",
        "\"0x10\"",
        "\"null\"",
        "\"1e+\"",
        "1e+ ",
    ] {
        let error = refused(&format!("{{\"cse_timeout\": {written}}}"));
        assert_eq!(error.reason(), "OutOfRange", "{written}");
    }
    for written in ["1e400", "\"1e400\"", "\"nan\"", "\"inf\"", "\"\"", "1e ", "\"1e,\""] {
        let error = refused(&format!(
            r#"{{"cluster_config": {{"cloud_provider_config": {{"backoff_jitter": {written}}}}}}}"#
        ));
        assert_eq!(error.reason(), "OutOfRange", "{written}");
        assert_eq!(error.path, "cluster_config.cloud_provider_config.backoff_jitter");
    }
    assert_eq!(refused(r#"{"workload_runtime": 1.5}"#).reason(), "OutOfRange");
}

#[test]
fn invalid_json_in_unknown_members_is_rejected() {
    for value in [
        "01",
        "+5",
        ".5",
        "5.",
        "0x10",
        "truex",
        "nul",
        "NaN",
        "'a'",
        "[1,]",
        "{\"a\":1,}",
        "\"\u{1}\"",
        "\"\\x\"",
        "\"\\ud800\"",
        "\"\\ud800\\u0041\"",
        "// c\n1",
        "\"\\u12\"",
        "{\"\\ud800\": 1}",
        "[",
        "1 1",
    ] {
        let error = refused(&format!("{{\"unknown\": {value}}}"));
        assert_eq!(error.reason(), "MalformedJson", "{value}");
    }
    assert_eq!(parse(b"{\"unknown\": \"\xff\"}").unwrap_err().problem, Problem::NotUtf8);
    assert_eq!(parse(b"{\"un\xffknown\": 1}").unwrap_err().problem, Problem::NotUtf8);
    assert_eq!(refused("\u{feff}{}").reason(), "MalformedJson");
}

#[test]
fn unknown_members_nest_as_deep_as_the_go_parser_allows() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let top = |levels| format!("{{\"x\":{}}}", nested(levels));
    let inside = |levels| format!("{{\"cluster_config\":{{\"x\":{}}}}}", nested(levels));
    accepted(&top(9999));
    assert_eq!(refused(&top(10_000)).problem, Problem::TooDeep);
    accepted(&inside(9998));
    let message = r#"{"auth_config":{},"#;
    accepted(&top(9999).replacen('{', message, 1));
    assert_eq!(refused(&top(10_000).replacen('{', message, 1)).problem, Problem::TooDeep);
    let error = refused(&inside(9999));
    assert_eq!((error.problem, &*error.path), (Problem::TooDeep, "cluster_config.x"));
}

#[test]
fn a_document_above_four_mebibytes_is_refused_unread() {
    let document = vec![b' '; MAX_BYTES + 1];
    let error = parse(&document).unwrap_err();
    assert_eq!(error.to_string(), "4194305 bytes exceed the limit of 4194304 (line 1, column 1)");
    let mut largest = vec![b' '; MAX_BYTES - 2];
    largest.extend(b"{}");
    assert!(parse(&largest).is_ok());
}

#[test]
fn an_error_never_quotes_the_document() {
    for document in [
        r#"{"auth_config": {"service_principal_secret": "hunter2"}, "auth_config": "hunter2"}"#,
        r#"{"bootstrapping_config": {"tls_bootstrapping_token": ["hunter2"]}}"#,
        r#"{"bootstrapping_config": {"tls_bootstrapping_token": "hunter2\x"}}"#,
        r#"{"cse_timeout": "hunter2"}"#,
        r#"{"workload_runtime": "hunter2", "x": hunter2}"#,
    ] {
        let error = refused(document);
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
}
