//! Any bytes, decoded: results are consistent, and their digits are in the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mooring_diagnosis::{BootstrapOutcome, Decoded, FoundBy, decode};

fuzz_target!(|input: &[u8]| {
    let decoded = decode(input);
    for one in &decoded {
        is_consistent(one);
        is_in(one, input);
    }
    if let Some(other) = with_another_clarification(input) {
        assert_eq!(
            codes(&decoded),
            codes(&decode(&other)),
            "`Error code: 'N'` was taken for a code"
        );
    }
});

fn is_consistent(one: &Decoded) {
    assert_eq!(one.code.is_some(), one.found_by.is_some(), "{one:?}");
    // A failure that is found by its wording or belongs to another extension has no situation.
    assert!(one.situation.is_none() || one.outcome == BootstrapOutcome::NoCode, "{one:?}");
    match one.outcome {
        BootstrapOutcome::Succeeded => assert_eq!(one.code, Some(0), "{one:?}"),
        BootstrapOutcome::Failed => assert!(one.code.is_some(), "{one:?}"),
        BootstrapOutcome::NoCode => assert!(one.code.is_none(), "{one:?}"),
        BootstrapOutcome::NotABootstrap => {}
    }
    if one.found_by == Some(FoundBy::Json) {
        let status = one.status.as_ref().expect("a code of a report has its report");
        assert_eq!(status.code().ok(), one.code.map(i64::from), "{one:?}");
    }
}

/// Returns true if the digits of a number are in the text, in this order.
fn is_in(one: &Decoded, input: &[u8]) {
    let implied = [FoundBy::WindowsName, FoundBy::AksName, FoundBy::Sentence];
    let (Some(code @ 1..), Some(by)) = (one.code, one.found_by) else { return };
    if implied.contains(&by) {
        return;
    }
    let digits = code.to_string();
    let mut wanted = digits.bytes().peekable();
    for byte in input {
        wanted.next_if_eq(byte);
    }
    assert_eq!(wanted.next(), None, "{code} is not in the text: {one:?}");
}

fn codes(decoded: &[Decoded]) -> Vec<(Option<i32>, Option<FoundBy>, BootstrapOutcome)> {
    decoded.iter().map(|one| (one.code, one.found_by, one.outcome)).collect()
}

/// Returns the text with other clarification codes of the handler, if it contains any.
fn with_another_clarification(input: &[u8]) -> Option<Vec<u8>> {
    const LABEL: &[u8] = b"Error code: '";
    let mut other = input.to_vec();
    let mut changed = false;
    for at in 0..input.len().saturating_sub(LABEL.len()) {
        if !input[at..].starts_with(LABEL) {
            continue;
        }
        let number = &mut other[at + LABEL.len()..];
        let len = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if number.get(len) == Some(&b'\'')
            && let Some(another) = another(&number[..len])
        {
            number[..len].copy_from_slice(another);
            changed = true;
        }
    }
    changed.then_some(other)
}

/// Returns another number of the same length and meaning.
fn another(number: &[u8]) -> Option<&'static [u8]> {
    match number {
        b"2" => Some(b"1"),
        b"50" => Some(b"57"),
        b"52" => Some(b"51"),
        b"22" => Some(b"30"),
        b"70" => Some(b"72"),
        _ => None,
    }
}
