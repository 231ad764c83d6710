//! The environment of 119 configs, compared with what the upstream Go agent made of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use mooring_agent::environment::{self, Built, ContainerdLayout, Environment, GpuImages, command};
use mooring_codes::Date;
use mooring_contract::{NodeConfig, node_config};
use serde_json::Value;

const NAMED: &str = include_str!("../../../../fixtures/golden/named.jsonl");
const RANDOM: &str = include_str!("../../../../fixtures/golden/random.jsonl");
const COMPONENTS: &[u8] = include_bytes!("../../../../fixtures/golden/components.json");

struct Case {
    name: String,
    config: NodeConfig,
    flavour: ContainerdLayout,
    expected: BTreeMap<String, String>,
    argv: Option<Vec<String>>,
}

fn cases() -> Vec<Case> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let case = |line: &str| {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let name = text(&case["name"]);
        let parsed = node_config::parse(text(&case["config"]).as_bytes());
        let output = case["containerd_version_output"].as_str();
        let variables = case["env"].as_object().expect("variables");
        Case {
            config: parsed.unwrap_or_else(|error| panic!("{name}: {error}")).config,
            flavour: ContainerdLayout::detect(output.map(str::as_bytes)),
            expected: variables.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
            argv: case["argv"].as_array().map(|words| words.iter().map(text).collect()),
            name,
        }
    };
    NAMED.lines().chain(RANDOM.lines()).map(case).collect()
}

fn build(case: &Case) -> Built {
    let images = GpuImages::from_components(COMPONENTS).expect("good components");
    // The recorded agent is of 2026-08-21.
    environment::build(&case.config, &images, case.flavour, Date::new(2026, 8, 21))
        .unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

#[test]
fn every_variable_of_every_config_is_what_the_go_program_made_of_it() {
    let cases = cases();
    assert_eq!(cases.len(), 119);
    let (mut report, mut failed) = (String::new(), 0);
    for case in &cases {
        let differences = differences(&case.expected, &build(case).environment);
        if !differences.is_empty() {
            failed += 1;
            write!(report, "\n{}\n{differences}", case.name).expect("memory");
        }
    }
    assert!(report.is_empty(), "{failed} of {} cases differ:\n{report}", cases.len());
}

#[test]
fn the_command_is_what_the_go_program_ran() {
    let argv = [command::PROGRAM, command::FLAG, &command::script(None)].map(str::to_owned);
    let observed: Vec<_> = cases().into_iter().filter_map(|case| case.argv).collect();
    assert_eq!(observed.len(), 60);
    assert!(observed.iter().all(|words| *words == argv));
}

/// Every difference, a readable one for files in base64.
fn differences(expected: &BTreeMap<String, String>, actual: &Environment) -> String {
    let mut text = String::new();
    for (name, value) in expected {
        match actual.expose(name) {
            None => writeln!(text, "  {name} is missing"),
            Some(other) if other == value => Ok(()),
            Some(other) => match (decode(value), decode(other)) {
                (Some(value), Some(other)) => writeln!(text, "  {name}\n{}", lines(&value, &other)),
                _ => writeln!(text, "  {name}\n    - {value:?}\n    + {other:?}"),
            },
        }
        .expect("memory");
    }
    for name in actual.names().filter(|name| !expected.contains_key(*name)) {
        writeln!(text, "  {name} is not in the Go program's environment").expect("memory");
    }
    text
}

fn decode(value: &str) -> Option<String> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(value).ok()?;
    String::from_utf8(bytes).ok().filter(|text| text.contains('\n'))
}

/// The first line that differs, with its number.
fn lines(expected: &str, actual: &str) -> String {
    let (mut left, mut right) = (expected.split('\n'), actual.split('\n'));
    for number in 1.. {
        match (left.next(), right.next()) {
            (None, None) => break,
            (left, right) if left == right => {}
            (left, right) => return format!("    line {number}\n    - {left:?}\n    + {right:?}"),
        }
    }
    String::new()
}
