//! Tests that removing any rule or wording changes the result of a corpus case.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use mooring_codes::image_date;
use serde_json::Value;

use crate::diagnose::failures::diagnose;
use crate::hints::Hints;
use crate::rule_names;

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
    fn read(path: &Path) -> Self {
        let expected = fs::read(path.join("expected.json")).unwrap();
        let expected: Value = serde_json::from_slice(&expected).unwrap();
        let rules = expected["diagnoses"].as_array().unwrap().iter();
        let image = expected["hints"]["image"].as_str();
        Self {
            input: fs::read(path.join("input.txt")).unwrap(),
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
    let directories = fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path());
    let cases = directories.filter(|path| path.is_dir()).map(|path| Case::read(&path));
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
