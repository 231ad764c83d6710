//! Prints the accuracy on the corpus by category: `cargo run -p mooring-diagnosis --example accuracy`.
//!
//! A seed split the cases into two halves before the wordings were written. The held-back half measures the accuracy on
//! unseen texts. A case that expects no diagnosis is right without one.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "developer tool")]

#[path = "../tests/corpus/reader.rs"]
mod reader;

use std::collections::BTreeMap;
use std::path::Path;

use mooring_diagnosis::{Confidence, Hints, diagnose};
use serde_json::Value;

#[derive(Clone, Copy, Default)]
struct Row {
    texts: usize,
    right: usize,
    acceptable: usize,
    none: usize,
    wrong: usize,
    confident: usize,
}

fn main() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut tables: [BTreeMap<String, Row>; 2] = Default::default();
    for case in reader::read(&corpus).unwrap() {
        let expected: Value = serde_json::from_str(&case.expected).unwrap();
        let Some(category) = expected["category"].as_str() else { continue };
        let held_back = usize::from(expected["heldBack"] == true);
        let row = tables[held_back].entry(category.to_owned()).or_default();
        score(row, &case.text, &expected["diagnoses"][0]);
    }
    for (title, table) in ["development", "held back"].into_iter().zip(&tables) {
        println!("\n{title:<20} texts right acceptable none wrong confidently-wrong");
        let mut sum = Row::default();
        for (category, row) in table {
            print(category, *row);
            sum.texts += row.texts;
            sum.right += row.right;
            sum.acceptable += row.acceptable;
            sum.none += row.none;
            sum.wrong += row.wrong;
            sum.confident += row.confident;
        }
        print("all", sum);
    }
}

fn print(name: &str, row: Row) {
    let Row { texts, right, acceptable, none, wrong, confident } = row;
    println!(
        "{name:<20} {texts:>5} {right:>5} {acceptable:>10} {none:>4} {wrong:>5} {confident:>17}"
    );
}

fn score(row: &mut Row, input: &[u8], expected: &Value) {
    row.texts += 1;
    let diagnoses = diagnose(input, Hints::default());
    let found = diagnoses.first();
    match (expected["reason"].as_str(), found) {
        (None, None) => row.right += 1,
        (Some(_), None) => row.none += 1,
        (Some(reason), Some(found)) if found.reason == reason => {
            let owner =
                expected["owner"].as_str().is_none_or(|owner| found.owner.as_str() == owner);
            *(if owner { &mut row.right } else { &mut row.acceptable }) += 1;
        }
        (_, Some(found)) => {
            row.wrong += 1;
            row.confident += usize::from(found.confidence == Confidence::High);
        }
    }
}
