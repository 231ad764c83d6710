//! Any bytes, diagnosed: guarantees of every result.
#![no_main]

use std::cmp::Reverse;

use libfuzzer_sys::fuzz_target;
use mooring_codes::Os;
use mooring_diagnosis::{
    BootstrapOutcome, Confidence, Diagnosis, Hints, MAX_LINE_CHARS, SCHEMA, decode, diagnose,
    to_json,
};
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let diagnoses = diagnose(input, Hints::default());
    diagnoses.iter().for_each(keeps_its_promises);
    assert!(diagnoses.is_sorted_by_key(rank), "failures come first, the surest before others");
    matches_decoded(input, &diagnoses);
    is_a_document(&diagnoses);
    // Not for every input, because it doubles the work.
    if input.len() % 4 == 0 {
        hints_only_fill_gaps(input, &diagnoses);
    }
});

fn keeps_its_promises(diagnosis: &Diagnosis) {
    assert!(!diagnosis.reason.is_empty() && !diagnosis.summary.is_empty(), "{diagnosis:?}");
    assert!(diagnosis.reason.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{diagnosis:?}");
    assert!(!diagnosis.actions.is_empty(), "{diagnosis:?}");
    assert_ne!(diagnosis.outcome, BootstrapOutcome::NotABootstrap, "{diagnosis:?}");
    let sure = diagnosis.confidence == Confidence::High;
    assert!(!sure || !diagnosis.evidence.is_empty(), "no evidence, no high confidence");
    for evidence in &diagnosis.evidence {
        assert!(evidence.line.chars().count() <= MAX_LINE_CHARS, "{evidence:?}");
        assert!(!evidence.line.chars().any(char::is_control), "{evidence:?}");
        assert!(!evidence.line.is_empty() && !evidence.place.is_empty(), "{evidence:?}");
    }
}

fn rank(diagnosis: &Diagnosis) -> (u8, Reverse<Confidence>) {
    let rank = match diagnosis.outcome {
        BootstrapOutcome::Failed => 0,
        BootstrapOutcome::NoCode => 1,
        BootstrapOutcome::Succeeded | BootstrapOutcome::NotABootstrap => 2,
    };
    (rank, Reverse(diagnosis.confidence))
}

/// Rules never change, add or drop reported codes.
fn matches_decoded(input: &[u8], diagnoses: &[Diagnosis]) {
    let decoded = decode(input).into_iter();
    let ours = decoded.filter(|one| one.outcome != BootstrapOutcome::NotABootstrap);
    let mut decoded: Vec<_> = ours.map(|one| (one.code, one.extension)).collect();
    let mut told: Vec<_> =
        diagnoses.iter().map(|one| (one.reported.code, one.extension.clone())).collect();
    // A failure without a message is found by its wording or belongs to another extension; it never has a code.
    let by_wording = told.len() - decoded.len();
    assert!(by_wording <= 1, "{diagnoses:?}");
    if by_wording == 1 {
        let worded = diagnoses.iter().position(|one| {
            one.rule.is_some() && one.situation.is_none() && one.reported.code.is_none()
        });
        told.remove(worded.expect("a wording has its name"));
    }
    decoded.sort();
    told.sort();
    assert_eq!(decoded, told);
}

fn is_a_document(diagnoses: &[Diagnosis]) {
    let document: Value = serde_json::from_str(&to_json(diagnoses)).expect("valid JSON");
    assert_eq!(document["schema"], SCHEMA);
    let entries = document["diagnoses"].as_array().expect("a list");
    assert_eq!(entries.len(), diagnoses.len());
    for (entry, diagnosis) in entries.iter().zip(diagnoses) {
        assert_eq!(entry["reported"]["code"].as_i64(), diagnosis.reported.code.map(i64::from));
        assert_eq!(entry["extension"].as_str(), diagnosis.extension.as_deref());
    }
}

/// Hints of the caller never override the text.
fn hints_only_fill_gaps(input: &[u8], diagnoses: &[Diagnosis]) {
    let hints = Hints { os: Some(Os::Windows), ..Hints::default() };
    let hinted = diagnose(input, hints);
    assert_eq!(hinted.len(), diagnoses.len());
    let linux = |told: &[Diagnosis]| told.iter().filter(|one| one.os == Some(Os::Linux)).count();
    assert_eq!(linux(&hinted), linux(diagnoses));
    assert!(hinted.iter().all(|one| one.os.is_some()));
}
