//! The 119 configs with which the upstream Go agent was observed.

use std::sync::LazyLock;

use mooring_contract::json::{Dialect, MAX_DEPTH, Reader};
use mooring_contract::node_config::parse;

/// One object a line, with `name` and `config`, the raw text, among its members.
const LINES: [&str; 2] = [
    include_str!("../../../../../fixtures/golden/named.jsonl"),
    include_str!("../../../../../fixtures/golden/random.jsonl"),
];

pub(crate) static CONFIGS: LazyLock<Vec<(String, String)>> =
    LazyLock::new(|| LINES.iter().flat_map(|lines| lines.lines()).map(read_case).collect());

fn read_case(line: &str) -> (String, String) {
    let mut case = (String::new(), String::new());
    let mut reader = Reader::new(line.as_bytes(), Dialect::Go);
    let mut members = reader.object().unwrap();
    while let Some(member) = members.next(&mut reader).unwrap() {
        match &*member.text {
            "name" => case.0 = reader.string().unwrap().into_owned(),
            "config" => case.1 = reader.string().unwrap().into_owned(),
            _ => reader.skip(MAX_DEPTH).unwrap(),
        }
    }
    case
}

#[test]
fn every_config_that_the_go_program_was_observed_with_parses() {
    assert_eq!(CONFIGS.len(), 119);
    for (name, config) in &*CONFIGS {
        let parsed = parse(config.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(matches!(parsed.config.version.as_str(), "v1" | "v0" | ""), "{name}");
    }
}

#[test]
fn every_config_survives_being_written_and_read_again() {
    for (name, config) in &*CONFIGS {
        let first = parse(config.as_bytes()).unwrap().config;
        let again = parse(first.to_json_with_secrets().as_bytes()).unwrap();
        assert_eq!(format!("{first:?}"), format!("{:?}", again.config), "{name}");
        assert_eq!(again.warnings, [], "{name}");
    }
}
