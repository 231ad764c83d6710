//! Compares the redactor with a naive one that searches for each piece at each position.

use std::borrow::Cow;

use proptest::collection::vec;
use proptest::prelude::*;

use super::matcher::Matcher;
use super::{Redactor, Stream};

/// Marks every byte of every match, then replaces each run of marks.
fn naive(redactor: &Redactor, text: &[u8]) -> Vec<u8> {
    let mut marked = vec![false; text.len()];
    for piece in redactor.pieces.iter() {
        for at in 0..text.len() {
            if text[at..].starts_with(piece) {
                marked[at..at + piece.len()].fill(true);
            }
        }
    }
    let mut out = Vec::new();
    for at in 0..text.len() {
        match (marked[at], at > 0 && marked[at - 1]) {
            (false, _) => out.push(text[at]),
            (true, false) => out.extend_from_slice(redactor.mask.as_bytes()),
            (true, true) => {}
        }
    }
    out
}

/// The longest end of `text` that is the beginning of a piece, but not all of it.
fn undecided<'t>(redactor: &Redactor, text: &'t [u8]) -> &'t [u8] {
    let longest = redactor.pieces.iter().map(<[u8]>::len).max().unwrap_or_default();
    (text.len().saturating_sub(longest)..text.len())
        .map(|at| &text[at..])
        .find(|end| redactor.pieces.iter().any(|p| p.len() > end.len() && p.starts_with(end)))
        .unwrap_or_default()
}

fn holds_a_piece(redactor: &Redactor, text: &[u8]) -> bool {
    redactor.pieces.iter().any(|piece| text.windows(piece.len()).any(|window| window == piece))
}

/// Few different letters, so that secrets overlap each other and themselves; brackets and
/// letters of the mask, so that they meet it.
fn secrets() -> impl Strategy<Value = Vec<String>> {
    vec(
        prop_oneof!["[ab]{4,9}", "[ab]{60,200}", "[]a\\[et]{4,6}", "(aab){1,40}", "a{4,130}b"],
        0..6,
    )
}

/// Noise in the same letters, with whole and cut secrets in between.
fn text(secrets: Vec<String>) -> impl Strategy<Value = (Vec<String>, Vec<u8>)> {
    let from_secret = {
        let secrets = secrets.clone();
        (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<prop::sample::Index>())
            .prop_map(move |(which, from, to)| {
                if secrets.is_empty() {
                    return String::new();
                }
                let secret = &secrets[which.index(secrets.len())];
                let (from, to) = (from.index(secret.len() + 1), to.index(secret.len() + 1));
                secret[from.min(to)..from.max(to)].to_owned()
            })
    };
    let whole_secret = {
        let secrets = secrets.clone();
        any::<prop::sample::Index>().prop_map(move |which| {
            if secrets.is_empty() {
                String::new()
            } else {
                secrets[which.index(secrets.len())].clone()
            }
        })
    };
    vec(prop_oneof!["[]ab\\[set]{0,5}", from_secret, whole_secret], 0..12)
        .prop_map(move |parts| (secrets.clone(), parts.concat().into_bytes()))
}

fn case() -> impl Strategy<Value = (Vec<String>, Vec<u8>)> {
    secrets().prop_flat_map(text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exactly_the_bytes_of_all_matches_are_masked((secrets, text) in case()) {
        let redactor = Redactor::new(&secrets);
        prop_assert_eq!(redactor.redact_bytes(&text), naive(&redactor, &text));
    }

    #[test]
    fn redacted_text_has_no_secret_and_is_stable((secrets, text) in case()) {
        let redactor = Redactor::new(&secrets);
        let redacted = redactor.redact_bytes(&text);
        prop_assert!(!holds_a_piece(&redactor, &redacted));
        prop_assert!(matches!(redactor.redact_bytes(&redacted), Cow::Borrowed(_)));
    }

    #[test]
    fn stream_output_is_independent_of_chunks(
        (secrets, text) in case(),
        sizes in vec(0_usize..90, 1..40),
    ) {
        let redactor = Redactor::new(&secrets);
        let (mut out, mut stream, mut at) = (Vec::new(), redactor.stream(), 0);
        for size in sizes {
            let end = (at + size).min(text.len());
            stream.push(&text[at..end], &mut out);
            at = end;
            prop_assert_eq!(&stream.held, undecided(&redactor, &text[..at]));
        }
        stream.push(&text[at..], &mut out);
        stream.finish(&mut out);
        prop_assert_eq!(out, redactor.redact_bytes(&text).into_owned());
    }

    #[test]
    fn any_bytes_can_be_secret_and_any_text_can_hold_them(
        secrets in vec(vec(any::<u8>(), 0..100), 0..4),
        before in vec(any::<u8>(), 0..20),
        after in vec(any::<u8>(), 0..20),
    ) {
        let redactor = Redactor::new(&secrets);
        for secret in &secrets {
            let text = [&before[..], secret, &after].concat();
            let redacted = redactor.redact_bytes(&text);
            prop_assert_eq!(&redacted, &naive(&redactor, &text));
            if secret.trim_ascii().len() >= super::MIN_VALUE {
                prop_assert!(!redacted.windows(secret.len()).any(|window| window == secret));
            }
            prop_assert_eq!(redactor.redact(&String::from_utf8_lossy(&text)).is_empty(), text.is_empty());
        }
    }
}

fn pushed(stream: &mut Stream<'_>, chunk: &str) -> String {
    let mut out = Vec::new();
    stream.push(chunk.as_bytes(), &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn stream_holds_back_only_a_possible_secret() {
    let redactor = Redactor::new(["hunter2"]);
    let mut stream = redactor.stream();
    assert_eq!(pushed(&mut stream, "step 1 of h"), "step 1 of ");
    assert_eq!(pushed(&mut stream, "elm"), "helm");
    assert_eq!(pushed(&mut stream, " hunter"), " ");
    assert_eq!(pushed(&mut stream, "2"), "[secret]");
    assert_eq!(pushed(&mut stream, "hunt"), "");
    assert_eq!(pushed(&mut stream, "er2!"), "!", "one run, one mask");
    assert_eq!(pushed(&mut stream, "hunter"), "");
    let mut out = Vec::new();
    stream.finish(&mut out);
    assert_eq!(out, b"hunter");
}

#[test]
fn a_match_that_begins_inside_another_is_awaited() {
    let redactor = Redactor::new(["abcd", "cdefgh"]);
    let mut stream = redactor.stream();
    assert_eq!(pushed(&mut stream, "xabcd"), "x[secret]", "the first two letters are decided");
    assert_eq!(pushed(&mut stream, "efg"), "");
    assert_eq!(pushed(&mut stream, "hi"), "i");
    assert_eq!(pushed(&mut stream, "abcdefgx"), "[secret]efgx");
}

/// 400 KB of patterns are two private keys of 4096 bits in all their forms.
#[test]
fn patterns_cost_little_more_memory_than_their_bytes() {
    let mut state = 1_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'!' + state.to_be_bytes()[0] % 90)
    };
    let mut pieces = Matcher::default();
    for _ in 0..100 {
        pieces.add((0..4096).map(|_| noise()).collect::<String>().as_bytes());
    }
    pieces.finish();
    assert!(pieces.memory() < 1_100_000, "{} bytes", pieces.memory());
}

mod slow {
    use super::*;

    #[test]
    fn hostile_text_is_redacted_quickly() {
        let redactor = Redactor::new(["a".repeat(4095) + "b", "ab".repeat(2000)]);
        let text = "a".repeat(1 << 20);
        assert_eq!(redactor.redact(&text), "[secret]");
        assert_eq!(redactor.redact(&"ab".repeat(1 << 19)), "[secret]");
        assert_eq!(redactor.redact(&"aab".repeat(1 << 18)), "aab".repeat(1 << 18));
    }
}
