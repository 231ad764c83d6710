//! parse(serialize(x)) == x, for configs generated from the contract's description.

use mooring_contract::node_config::{FieldFacts, Label, MESSAGES, OrUnset, parse};
use proptest::prelude::*;

/// Decisions taken from random bytes, so that a failing case shrinks towards "nothing set".
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn number(&mut self) -> i32 {
        i32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    fn text(&mut self) -> String {
        const ODD: [&str; 8] =
            ["", "a", "\\\"", "\\u0000", "\\n", "<&>", "é\u{2028}", "\\ud83d\\ude00"];
        let length = self.byte() % 4;
        (0..length).map(|_| ODD[usize::from(self.byte()) % ODD.len()]).collect()
    }
}

fn message(name: &str, choices: &mut Choices<'_>) -> String {
    let facts = MESSAGES.iter().find(|message| message.name == name).unwrap();
    let members: Vec<String> = facts
        .fields
        .iter()
        .filter_map(|field| {
            let choice = choices.byte();
            let name = if choice & 1 == 0 { field.name } else { field.json_name };
            (choice >= 64).then(|| format!("\"{name}\": {}", field_value(field, choices)))
        })
        .collect();
    format!("{{{}}}", members.join(", "))
}

fn field_value(field: &FieldFacts, choices: &mut Choices<'_>) -> String {
    let count = choices.byte() % 4;
    match field.label {
        Label::Implicit | Label::Optional => value(field.value_type, choices),
        Label::Repeated => {
            let elements: Vec<_> = (0..count).map(|_| value(field.value_type, choices)).collect();
            format!("[{}]", elements.join(", "))
        }
        Label::Map => {
            let entries: Vec<_> = (0..count)
                .map(|key| {
                    format!("\"{key}{}\": {}", choices.text(), value(field.value_type, choices))
                })
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

fn value(value_type: &str, choices: &mut Choices<'_>) -> String {
    match value_type {
        "string" => format!("\"{}\"", choices.text()),
        "bool" => (choices.byte() & 1 == 1).to_string(),
        "int32" => choices.number().to_string(),
        "double" => match choices.byte() {
            0 => "\"Infinity\"".to_owned(),
            1 => "-0.0".to_owned(),
            exponent => format!("{}e{}", choices.number(), i32::from(exponent) - 128),
        },
        other => match other.split_once(':').unwrap() {
            ("enum", _) => (choices.number() % 6).to_string(),
            (_, name) => message(name, choices),
        },
    }
}

proptest! {
    #[test]
    fn a_config_survives_being_written_and_read_again(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
        let document = message("Configuration", &mut Choices(bytes.iter()));
        let first = parse(document.as_bytes()).unwrap();
        prop_assert_eq!(&first.warnings, &[]);
        let again = parse(first.config.to_json_with_secrets().as_bytes()).unwrap();
        prop_assert_eq!(first.config, again.config);
    }
}

#[test]
fn all_fields_of_all_messages_can_be_set() {
    // 255 sets every field there is; a field that is silently dropped would not be written again.
    let document = message("Configuration", &mut Choices(vec![255; 100_000].iter()));
    let written = parse(document.as_bytes()).unwrap().config.to_json_with_secrets();
    for field in MESSAGES.iter().flat_map(|message| message.fields) {
        assert!(written.contains(&format!("\"{}\":", field.name)), "{} is lost", field.name);
    }
}

#[test]
fn nan_round_trips() {
    let document = r#"{"cluster_config": {"cloud_provider_config": {"backoff_jitter": "NaN"}}}"#;
    let config = parse(document.as_bytes()).unwrap().config;
    let again = parse(config.to_json_with_secrets().as_bytes()).unwrap().config;
    assert!(format!("{again:?}").contains("backoff_jitter: Some(NaN)"));
}

#[test]
fn the_document_is_laid_out_as_the_go_program_lays_it_out() {
    let document = r#"{"isVhd": false, "version": "v1", "cse_timeout": 0, "auth_config": {}, "network_config":
        {"network_plugin": 2, "standard_secondary_nic_count": 0}, "custom_ca_certs": ["a<b"], "workload_runtime": 9}"#;
    assert_eq!(
        parse(document.as_bytes()).unwrap().config.to_json_with_secrets(),
        "{\n  \"version\": \"v1\",\n  \"auth_config\": {},\n  \"network_config\": {\n    \"network_plugin\": \"NETWORK_PLUGIN_AZURE\"\n  },\n  \"is_vhd\": false,\n  \"custom_ca_certs\": [\n    \"a<b\"\n  ],\n  \"workload_runtime\": 9,\n  \"cse_timeout\": 0\n}"
    );
}

#[test]
fn doubles_are_written_in_their_shortest_form() {
    for (read, written) in [
        ("0", "0"),
        ("-0.0", "-0"),
        ("1.50", "1.5"),
        ("-25e-1", "-2.5"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1e-7"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e21"),
        ("-1e21", "-1e21"),
        ("\"Infinity\"", "\"Infinity\""),
        ("\"-Infinity\"", "\"-Infinity\""),
        ("\"NaN\"", "\"NaN\""),
    ] {
        let document = format!(
            r#"{{"cluster_config": {{"cloud_provider_config": {{"backoff_jitter": {read}}}}}}}"#
        );
        let json = parse(document.as_bytes()).unwrap().config.to_json_with_secrets();
        assert!(json.contains(&format!("\"backoff_jitter\": {written}\n")), "{read}: {json}");
    }
}

#[test]
fn kubelet_config_has_json_names_and_escapes_html() {
    let document = r#"{"kubelet_config": {"kubelet_config_file_config": {"kind": "a<b",
        "cluster_dns": ["10.0.0.10"], "max_pods": 0, "feature_gates": {"A": true}}}}"#;
    let config = parse(document.as_bytes()).unwrap().config;
    let file = config.kubelet_config.or_unset().kubelet_config_file_config.or_unset();
    assert_eq!(
        file.to_kubelet_json(),
        "{\n    \"kind\": \"a\\u003cb\",\n    \"clusterDNS\": [\n        \"10.0.0.10\"\n    ],\n    \"maxPods\": 0,\n    \"featureGates\": {\n        \"A\": true\n    }\n}"
    );
}
