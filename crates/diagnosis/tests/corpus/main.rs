//! One test per case: the diagnosis of its text must match what it expects.
//!
//! Expected are members of a diagnosis: omitted members may have any value; the number of diagnoses and all other members
//! must match. In addition, `rule` is the matching rule, `hints` are the hints of the caller, and `disproves` is a rule that
//! infers a cause from the code alone, and that must not match this text.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod reader;

use std::collections::BTreeSet;
use std::path::Path;

use libtest_mimic::{Arguments, Trial};
use mooring_codes::{Os, image_date};
use mooring_diagnosis::{
    Confidence, Diagnosis, FoundBy, Hints, MAX_LINE_CHARS, diagnose, rule_names,
};
use reader::Case;
use serde_json::{Value, json};

fn main() {
    let cases = reader::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")).unwrap();
    let mut trials = vec![Trial::test("corpus_is_read_as_a_whole", {
        let count = cases.len();
        move || if count >= 988 { Ok(()) } else { Err(format!("{count} cases").into()) }
    })];
    trials.push(Trial::test("rules_are_all_expected_by_a_case", {
        let cases = cases.clone();
        move || check_rules(&cases).map_err(Into::into)
    }));
    trials.extend(cases.into_iter().map(|case| {
        let name = case.name.clone();
        Trial::test(name, move || check(&case).map_err(Into::into))
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Checks that a case names each rule, so that no rule can be deleted unnoticed.
fn check_rules(cases: &[Case]) -> Result<(), String> {
    let mut named = BTreeSet::new();
    for case in cases {
        let expected = expected(case);
        let diagnoses = expected["diagnoses"].as_array().unwrap();
        named.extend(diagnoses.iter().filter_map(|one| one["rule"].as_str().map(str::to_owned)));
    }
    let unnamed: Vec<_> = rule_names().filter(|name| !named.contains(*name)).collect();
    if unnamed.is_empty() { Ok(()) } else { Err(format!("no case expects {unnamed:?}")) }
}

fn expected(case: &Case) -> Value {
    serde_json::from_str(&case.expected).unwrap()
}

fn check(case: &Case) -> Result<(), String> {
    let expected = expected(case);
    let diagnoses = diagnose(&case.text, hints(&expected["hints"]));
    for diagnosis in &diagnoses {
        let lines = diagnosis.evidence.iter().map(|evidence| &evidence.line);
        for line in lines.clone() {
            assert!(line.chars().count() <= MAX_LINE_CHARS, "line too long: {line}");
            assert!(!line.chars().any(char::is_control), "control character: {line:?}");
            assert!(!line.is_empty(), "empty line");
            assert_eq!(lines.clone().filter(|other| *other == line).count(), 1, "twice: {line}");
        }
        let sure = diagnosis.confidence == Confidence::High;
        assert!(!sure || lines.count() > 0, "high confidence without evidence");
        assert!(!diagnosis.actions.is_empty(), "no action");
    }
    if let Some(rule) = expected["disproves"].as_str() {
        assert!(rule_names().any(|name| name == rule), "unknown rule {rule}");
        assert!(!diagnoses.iter().any(|one| one.rule == Some(rule)), "{rule} matches");
    }
    let actual = diagnoses.iter().map(members).collect();
    matches(&expected["diagnoses"], &actual, "diagnoses")
        .map_err(|difference| format!("{difference}\n{actual:#}"))
}

fn members(diagnosis: &Diagnosis) -> Value {
    let Diagnosis { reported, effective, .. } = diagnosis;
    let evidence = diagnosis.evidence.iter();
    let evidence = evidence.map(|one| json!({"line": one.line, "where": one.place}));
    json!({
        "os": diagnosis.os.map(Os::as_str),
        "reported": {
            "code": reported.code,
            "name": reported.name,
            "foundBy": reported.found_by.map(FoundBy::as_str),
        },
        "effective": {"code": effective.code, "name": effective.name},
        "confidence": diagnosis.confidence.as_str(),
        "reason": diagnosis.reason,
        "rule": diagnosis.rule,
        "owner": diagnosis.owner.as_str(),
        "stage": diagnosis.stage.as_str(),
        "summary": diagnosis.summary,
        "evidence": evidence.collect::<Vec<_>>(),
        "actions": diagnosis.actions,
        "imageVersion": diagnosis.image_version,
        "extension": diagnosis.extension,
    })
}

fn hints(value: &Value) -> Hints {
    let os =
        value["os"].as_str().map(|name| *Os::ALL.iter().find(|os| os.as_str() == name).unwrap());
    let image_date = value["image"].as_str().map(|image| image_date(image).unwrap());
    Hints { os, image_date, ..Hints::default() }
}

/// Checks that `actual` has all members of `expected`.
fn matches(expected: &Value, actual: &Value, at: &str) -> Result<(), String> {
    match (expected, actual) {
        (Value::Object(members), Value::Object(_)) => members
            .iter()
            .try_for_each(|(name, value)| matches(value, &actual[name], &format!("{at}.{name}"))),
        (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
            let pairs = expected.iter().zip(actual).enumerate();
            pairs.into_iter().try_for_each(|(index, (expected, actual))| {
                matches(expected, actual, &format!("{at}[{index}]"))
            })
        }
        (expected, actual) if expected == actual => Ok(()),
        (expected, actual) => Err(format!("{at}: expected {expected}, found {actual}")),
    }
}
