//! What must hold for any input, and for every case of the corpus in any costume.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use mooring_diagnosis::{FoundBy, Hints, Outcome, decode, diagnose, to_json};
use mooring_redact::{likely_secrets, mask_line};
use proptest::prelude::*;

#[derive(Debug)]
struct Case {
    name: String,
    input: Vec<u8>,
    codes: Vec<i32>,
}

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let folders = fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<Case> = folders
        .filter(|path| path.is_dir())
        .map(|path| {
            let input = fs::read(path.join("input.txt")).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            Case { name, codes: codes(&input), input }
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
});

/// Texts of the corpus with the cause that their wording names.
static CAUSES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut causes = Vec::new();
    for entry in fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        let Ok(expected) = fs::read(path.join("expected.json")) else { continue };
        let expected: serde_json::Value = serde_json::from_slice(&expected).unwrap();
        if let (Some(_), Some(reason)) =
            (expected["category"].as_str(), expected["diagnoses"][0]["reason"].as_str())
        {
            let text = fs::read_to_string(path.join("input.txt")).unwrap();
            causes.push((text, reason.to_owned()));
        }
    }
    causes.sort();
    causes
});

fn reasons(text: &str) -> Vec<String> {
    diagnose(text.as_bytes(), Hints::default()).into_iter().map(|one| one.reason).collect()
}

/// The codes of a text's bootstraps, in the order of the text.
fn codes(input: &[u8]) -> Vec<i32> {
    let ours = decode(input).into_iter().filter(|one| one.outcome != Outcome::NotABootstrap);
    ours.filter_map(|one| one.code).collect()
}

/// Codes that would be wrong for a part of this case.
///
/// An outer 1 is none: it says only that something failed. And where the name of another extension is
/// cut off its message, nothing tells that the message is not the bootstrap's; nor, where a report's
/// head is cut off, that another one was in its output.
fn wrong_codes(case: &Case, part: &[u8]) -> Vec<i32> {
    if ["both-extensions", "decoy-report-in-output"].contains(&case.name.as_str()) {
        return Vec::new();
    }
    let ours = decode(part).into_iter().filter(|one| one.outcome != Outcome::NotABootstrap);
    let outer = [Some(FoundBy::OuterStatus), Some(FoundBy::VmssStatus)];
    let told = ours.filter(|one| one.code != Some(1) || !outer.contains(&one.found_by));
    told.filter_map(|one| one.code).filter(|code| !case.codes.contains(code)).collect()
}

/// Cases that are plain text and have a code.
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

/// Lines that say nothing.
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
    fn no_text_before_a_secret_hides_it(
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
    fn any_bytes_are_decoded_without_a_panic(input in prop::collection::vec(any::<u8>(), 0..2000)) {
        let diagnoses = diagnose(&input, Hints::default());
        prop_assert!(serde_json::from_str::<serde_json::Value>(&to_json(&diagnoses)).is_ok());
    }

    #[test]
    fn a_case_in_json_strings_has_the_same_codes(case in coded(), times in 1_usize..5) {
        prop_assert_eq!(&codes(as_json(text(case), times).as_bytes()), &case.codes, "{}", case.name);
    }

    #[test]
    fn noise_around_a_case_changes_nothing(case in coded(), before in noise(), behind in noise()) {
        let noisy = format!("{before}\n{}\n{behind}", text(case));
        prop_assert_eq!(&codes(noisy.as_bytes()), &case.codes, "{}", case.name);
    }

    #[test]
    fn line_ends_and_quoting_change_nothing(case in coded(), crlf: bool, marks in 0_usize..3) {
        let prefix = "> ".repeat(marks);
        let end = if crlf { "\r\n" } else { "\n" };
        let lines: Vec<String> = text(case).lines().map(|line| format!("{prefix}{line}")).collect();
        prop_assert_eq!(&codes(lines.join(end).as_bytes()), &case.codes, "{}", case.name);
    }

    #[test]
    fn a_cut_head_never_makes_a_wrong_code(case in coded(), cut: prop::sample::Index) {
        let cut = cut.index(case.input.len());
        prop_assert_eq!(wrong_codes(case, &case.input[cut..]), Vec::<i32>::new(), "{} after {}", case.name, cut);
    }

    #[test]
    fn a_cut_and_escaped_head_never_makes_a_wrong_code(
        case in coded(), times in 1_usize..4, cut: prop::sample::Index,
    ) {
        let escaped = as_json(text(case), times);
        let part = &escaped.as_bytes()[cut.index(escaped.len())..];
        prop_assert_eq!(wrong_codes(case, part), Vec::<i32>::new(), "{}", case.name);
    }

    #[test]
    fn a_cause_is_the_same_in_json_strings_and_noise(
        index in any::<prop::sample::Index>(), times in 0_usize..4, before in noise(), behind in noise(), marks in 0_usize..3,
    ) {
        let (text, reason) = index.get(&CAUSES);
        let prefix = "> ".repeat(marks);
        let lines: Vec<String> = as_json(text, times).lines().map(|line| format!("{prefix}{line}")).collect();
        let noisy = format!("{before}\n{}\n{behind}", lines.join("\n"));
        prop_assert_eq!(reasons(&noisy), vec![reason.clone()]);
    }

    #[test]
    fn damaged_cases_are_decoded_without_a_panic(
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
