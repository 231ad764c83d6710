//! Tests that removing any rule or wording changes the result of a corpus case.

use std::cell::Cell;
use std::path::Path;

use mooring_codes::image_date;
use serde_json::Value;

use crate::diagnose::failures::diagnose;
use crate::hints::Hints;
use crate::rule_names;

#[path = "../../tests/corpus/reader.rs"]
pub(crate) mod corpus;

thread_local! {
    static REMOVED: Cell<Option<&'static str>> = const { Cell::new(None) };
}

pub(crate) fn is_removed(name: &str) -> bool {
    REMOVED.get() == Some(name)
}

struct Case {
    input: Vec<u8>,
    hints: Hints,
    rules: Vec<String>,
}

impl Case {
    fn new(case: corpus::Case) -> Self {
        let expected: Value = serde_json::from_str(&case.expected).unwrap();
        let rules = expected["diagnoses"].as_array().unwrap().iter();
        let image = expected["hints"]["image"].as_str();
        Self {
            input: case.text,
            hints: Hints {
                image_date: image.map(|image| image_date(image).unwrap()),
                ..Hints::default()
            },
            rules: rules.filter_map(|one| one["rule"].as_str().map(str::to_owned)).collect(),
        }
    }

    fn result(&self) -> String {
        format!("{:?}", diagnose(&self.input, self.hints))
    }
}

#[test]
fn removing_any_rule_changes_a_corpus_case() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let cases = corpus::read(&corpus).unwrap().into_iter().map(Case::new);
    let cases: Vec<(String, Case)> = cases.map(|case| (case.result(), case)).collect();
    // The rule for other extensions is not in the tables.
    let names = rule_names().filter(|name| *name != "other-extension");
    let unneeded: Vec<&str> = names
        .filter(|name| {
            REMOVED.set(Some(*name));
            let mut expecting =
                cases.iter().filter(|(_, case)| case.rules.iter().any(|rule| rule == name));
            let is_noticed = expecting.any(|(result, case)| case.result() != *result);
            REMOVED.set(None);
            !is_noticed
        })
        .collect();
    assert!(unneeded.is_empty(), "no case changes without {unneeded:?}");
}
