//! Properties of any input, and of every corpus case in any encoding.

use std::path::Path;
use std::sync::LazyLock;

use mooring_diagnosis::{BootstrapOutcome, FoundBy, Hints, decode, diagnose};
use mooring_redact::{likely_secrets, mask_line};
use proptest::prelude::*;

use crate::corpus;

#[derive(Debug)]
struct Case {
    name: String,
    input: Vec<u8>,
    codes: Vec<i32>,
}

fn corpus() -> Vec<corpus::Case> {
    corpus::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")).unwrap()
}

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let cases = corpus().into_iter();
    cases.map(|case| Case { codes: codes(&case.text), name: case.name, input: case.text }).collect()
});

/// Corpus texts with the cause of their wording.
static CAUSES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let mut causes = Vec::new();
    for case in corpus() {
        let expected: serde_json::Value = serde_json::from_str(&case.expected).unwrap();
        if let (Some(_), Some(reason)) =
            (expected["category"].as_str(), expected["diagnoses"][0]["reason"].as_str())
        {
            causes.push((String::from_utf8(case.text).unwrap(), reason.to_owned()));
        }
    }
    causes.sort();
    causes
});

fn reasons(text: &str) -> Vec<String> {
    diagnose(text.as_bytes(), Hints::default()).into_iter().map(|one| one.reason).collect()
}

/// Returns the bootstrap codes in the order of the text.
fn codes(input: &[u8]) -> Vec<i32> {
    let ours =
        decode(input).into_iter().filter(|one| one.outcome != BootstrapOutcome::NotABootstrap);
    ours.filter_map(|one| one.code).collect()
}

/// Returns wrong codes for a part of a case.
///
/// An outer 1 is not wrong: it only means that something failed. Without its head, a message of another extension, or a
/// report in the output of another, cannot be distinguished from the bootstrap's.
fn wrong_codes(case: &Case, part: &[u8]) -> Vec<i32> {
    if ["both-extensions", "decoy-report-in-output"].contains(&case.name.as_str()) {
        return Vec::new();
    }
    let ours =
        decode(part).into_iter().filter(|one| one.outcome != BootstrapOutcome::NotABootstrap);
    let outer = [Some(FoundBy::OuterStatus), Some(FoundBy::VmssStatus)];
    let specific = ours.filter(|one| one.code != Some(1) || !outer.contains(&one.found_by));
    specific.filter_map(|one| one.code).filter(|code| !case.codes.contains(code)).collect()
}

/// Plain-text cases with a code.
fn coded() -> impl Strategy<Value = &'static Case> {
    let indices: Vec<usize> = CASES
        .iter()
        .enumerate()
        .filter(|(_, case)| !case.codes.is_empty() && str::from_utf8(&case.input).is_ok())
        .filter(|(_, case)| !case.input.contains(&0))
        .map(|(index, _)| index)
        .collect();
    prop::sample::select(indices).prop_map(|index| &CASES[index])
}

fn noise() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-z ,.]{0,60}", 0..5).prop_map(|lines| lines.join("\n") + "\n")
}

fn as_json(text: &str, times: usize) -> String {
    (0..times).fold(text.to_owned(), |text, _| serde_json::to_string(&text).unwrap())
}

fn text(case: &Case) -> &str {
    str::from_utf8(&case.input).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn secret_is_redacted_after_any_text(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "token", "password", "-u", "-p", "sshpass", "is", "bearer", "key", "private", "=", ":", ": ", "://", "@",
                "\"", "'", "\\", "\\\"", "\\''", "$'", "[", "]", "{", "}", ",", ";", "?", "<", ">", " ", "\t", "/etc/", "é", "x1",
            ]),
            0..24,
        ),
    ) {
        let line = words.concat();
        let labeled = format!("{line} password=hunter-two");
        let shown = mask_line(&labeled);
        prop_assert!(!shown.contains("hunter-two"), "{line}: {shown}");
        prop_assert!(likely_secrets(&line).iter().all(|secret| line.contains(secret)));
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(input in prop::collection::vec(any::<u8>(), 0..2000)) {
        diagnose(&input, Hints::default());
    }

    #[test]
    fn nested_json_strings_keep_the_codes(case in coded(), times in 1_usize..5) {
        prop_assert_eq!(&codes(as_json(text(case), times).as_bytes()), &case.codes, "{}", case.name);
    }

    #[test]
    fn noise_keeps_the_codes(case in coded(), before in noise(), after in noise()) {
        let noisy = format!("{before}\n{}\n{after}", text(case));
        prop_assert_eq!(&codes(noisy.as_bytes()), &case.codes, "{}", case.name);
    }

    #[test]
    fn line_ends_and_quoting_keep_the_codes(case in coded(), crlf: bool, marks in 0_usize..3) {
        let prefix = "> ".repeat(marks);
        let end = if crlf { "\r\n" } else { "\n" };
        let lines: Vec<String> = text(case).lines().map(|line| format!("{prefix}{line}")).collect();
        prop_assert_eq!(&codes(lines.join(end).as_bytes()), &case.codes, "{}", case.name);
    }

    #[test]
    fn missing_head_gives_no_wrong_code(case in coded(), cut: prop::sample::Index) {
        let cut = cut.index(case.input.len());
        prop_assert_eq!(wrong_codes(case, &case.input[cut..]), Vec::<i32>::new(), "{} after {}", case.name, cut);
    }

    #[test]
    fn missing_head_of_escaped_text_gives_no_wrong_code(
        case in coded(), times in 1_usize..4, cut: prop::sample::Index,
    ) {
        let escaped = as_json(text(case), times);
        let part = &escaped.as_bytes()[cut.index(escaped.len())..];
        prop_assert_eq!(wrong_codes(case, part), Vec::<i32>::new(), "{}", case.name);
    }

    #[test]
    fn nested_json_strings_and_noise_keep_the_cause(
        index in any::<prop::sample::Index>(), times in 0_usize..4, before in noise(), after in noise(), marks in 0_usize..3,
    ) {
        let (text, reason) = index.get(&CAUSES);
        let prefix = "> ".repeat(marks);
        let lines: Vec<String> = as_json(text, times).lines().map(|line| format!("{prefix}{line}")).collect();
        let noisy = format!("{before}\n{}\n{after}", lines.join("\n"));
        prop_assert_eq!(reasons(&noisy), vec![reason.clone()]);
    }

    #[test]
    fn damaged_cases_do_not_panic(
        case in coded(), at: prop::sample::Index, bytes in prop::collection::vec(any::<u8>(), 0..8), cut: prop::sample::Index,
    ) {
        let mut input = case.input.clone();
        let at = at.index(input.len());
        input.splice(at..at, bytes);
        input.truncate(cut.index(input.len()) + 1);
        let diagnoses = diagnose(&input, Hints::default());
        prop_assert!(diagnoses.iter().all(|one| !one.reason.is_empty() && !one.actions.is_empty()));
    }
}
