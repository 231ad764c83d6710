//! Secrets are found in every form that a script, a tool or a log gives them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use mooring_redact::{Escape, ProxyUrl, Redactor, escape_into};
use proptest::prelude::*;

fn redacted(secret: &str, text: &str) -> String {
    Redactor::new([secret]).redact(text).into_owned()
}

#[test]
fn all_forms_of_a_secret_are_masked() {
    // With a blank, both quotes, backslash, slash, dollar, HTML, line end, control, beyond ASCII.
    let secret = "p w\"'\\/$<&>\n\u{1}é";
    let forms = [
        ("plain", secret),
        ("hex", "70207722275c2f243c263e0a01c3a9"),
        ("hex", "70207722275C2F243C263E0A01C3A9"),
        ("URL", "p%20w%22%27%5C%2F%24%3C%26%3E%0A%01%C3%A9"),
        ("URL", "p%20w%22%27%5c%2f%24%3c%26%3e%0a%01%c3%a9"),
        ("form", "p+w%22%27%5C%2F%24%3C%26%3E%0A%01%C3%A9"),
        ("form", "p+w%22%27%5c%2f%24%3c%26%3e%0a%01%c3%a9"),
        ("JSON", r#"p w\"'\\/$<&>\n\u0001é"#),
        ("JSON, escaped slash", r#"p w\"'\\\/$<&>\n\u0001é"#),
        ("JSON, HTML-safe", r#"p w\"'\\/$\u003c\u0026\u003e\n\u0001é"#),
        ("JSON, HTML-safe, escaped slash", r#"p w\"'\\\/$\u003c\u0026\u003e\n\u0001é"#),
        ("Go", r#"p w\"'\\/$<&>\n\x01é"#),
        ("shell, single quotes", "p w\"'\\''\\/$<&>\n\u{1}é"),
        ("shell, double quotes", "p w\\\"'\\\\/\\$<&>\n\u{1}é"),
        ("shell, $'...'", r#"p w"\'\\/$<&>\n\001é"#),
        ("shown", r#"p w\"\'\\/$<&>\n\u{1}\u{e9}"#),
    ];
    for (name, form) in forms {
        assert_eq!(redacted(secret, &format!("<{form}>")), "<[secret]>", "{name}: {form}");
    }
}

#[test]
fn tokens_are_masked_in_script_output() {
    let token = "abcdef.0123456789abcdef";
    for (text, expected) in [
        ("+ TLS_BOOTSTRAP_TOKEN=abcdef.0123456789abcdef", "+ TLS_BOOTSTRAP_TOKEN=[secret]"),
        ("token: 'abcdef.0123456789abcdef'\n", "token: '[secret]'\n"),
        ("abcdef.0123456789abcdefabcdef.0123456789abcdef", "[secret]"),
        ("abcdef.0123456789abcdeX", "abcdef.0123456789abcdeX"),
        ("", ""),
    ] {
        assert_eq!(redacted(token, text), expected);
    }
}

#[test]
fn a_value_that_is_base64_is_masked_decoded_and_by_its_lines() {
    let body: String = ('A'..='Z').chain('a'..='z').chain('0'..='9').collect();
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{body}\n{body}+/\nshort\n-----END RSA PRIVATE KEY-----\n"
    );
    let redactor = Redactor::new([STANDARD.encode(&key)]);
    for (text, expected) in [
        (STANDARD.encode(&key), "[secret]"),
        (URL_SAFE_NO_PAD.encode(&key), "[secret]"),
        (STANDARD.encode(STANDARD.encode(&key)), "[secret]"),
        (key.clone(), "[secret]\n"),
        (key.replace('\n', "\\n"), "[secret]\\n"),
        (key.replace('\n', "\r\n"), "[secret]\r\n[secret]\r\n[secret]\r\nshort\r\n[secret]\r\n"),
        (format!("    {body}\n    {body}+/"), "    [secret]\n    [secret]"),
    ] {
        let redacted = redactor.redact(&text);
        // The last characters of base64 may hold less than a byte of the secret.
        let visible = redacted.strip_prefix(expected).unwrap_or_else(|| panic!("{redacted}"));
        assert!(visible.len() <= 4, "{redacted}");
    }
}

#[test]
fn base64_that_is_wrapped_into_lines_is_masked_line_by_line() {
    let secret = "a secret of more than one line in base64, ".repeat(6);
    let redactor = Redactor::new([&secret]);
    for columns in [64, 76] {
        let encoded = STANDARD.encode(&secret);
        for line in encoded.as_bytes().chunks_exact(columns) {
            assert_eq!(&*redactor.redact_bytes(line), b"[secret]");
        }
    }
}

#[test]
fn a_proxys_password_is_masked_in_the_header_made_from_it() {
    let proxy = ProxyUrl::from("http://user:p%40ssword@proxy");
    let redactor = Redactor::new(proxy.expose_secrets());
    for (text, expected) in [
        ("http_proxy=http://user:p%40ssword@proxy", "http_proxy=http://[secret]@proxy"),
        (
            "< Proxy-Authorization: Basic dXNlcjpwQHNzd29yZA==",
            "< Proxy-Authorization: Basic [secret]A==",
        ),
        ("password p@ssword refused for user", "password [secret] refused for user"),
    ] {
        assert_eq!(redactor.redact(text), expected);
    }
}

#[test]
fn short_values_do_not_destroy_the_text() {
    let redactor = Redactor::new(["", "a", "on", "yes", " 1 \n", "\n\n\n\n\n"]);
    let text = "a person says yes on day 1\n\n\n\n\n\n";
    assert_eq!(redactor.redact(text), text);
    assert_eq!(
        redacted("four", "four YW9mb3VyYQ"),
        "[secret] YW9mb3VyYQ",
        "base64 from five bytes on"
    );
}

#[test]
fn overlapping_secrets_leave_no_remainder() {
    let redactor = Redactor::new(["first-half", "half-second", "inner"]);
    assert_eq!(redactor.redact("<first-half-second>"), "<[secret]>");
    assert_eq!(redactor.redact("<first-halfinner> half-sec"), "<[secret]> half-sec");
}

#[test]
fn most_of_a_secret_that_was_cut_off_is_masked() {
    let secret: String = (100..400).map(|number| number.to_string()).collect();
    let tail = redacted(&secret, &secret[300..]);
    let (visible, rest) = tail.split_once("[secret]").unwrap();
    assert!(visible.len() < 64 && rest.is_empty(), "{tail}");
}

#[test]
fn password_within_the_mask_uses_another_mask() {
    assert_eq!(redacted("secret", "the [secret] is secret"), "the [***] is ***");
    assert_eq!(redacted("Secret", "the Secret"), "the [secret]");
}

#[test]
fn text_between_characters_stays_text() {
    let redactor = Redactor::new(["grün".as_bytes(), b"\xa9bin\xc3"]);
    assert_eq!(redactor.redact("é grün ü"), "é [secret] ü");
    assert_eq!(redactor.redact("ébiné"), "\u{fffd}[secret]\u{fffd}");
    assert_eq!(&*redactor.redact_bytes(b"\xff gr\xc3\xbcn \xff"), b"\xff [secret] \xff");
}

#[test]
fn neither_a_redactor_nor_a_stream_prints_its_secrets() {
    let redactor = Redactor::new(["hunter2"]);
    let mut stream = redactor.stream();
    stream.push(b"hunt", &mut Vec::new());
    assert_eq!(format!("{redactor:?} {stream:#?}"), "[secret] [secret]");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// At each end one character may remain that also encodes bits of its neighbor.
    #[test]
    fn base64_around_a_secret_shows_only_neighbors(
        before in "[a-z]{0,7}",
        secret in "[A-Z0-9~?>]{5,90}",
        after in "[a-z]{0,7}",
    ) {
        let redactor = Redactor::new([&secret]);
        let text = format!("{before}{secret}{after}");
        for encoded in [STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
            let shown = redactor.redact(&encoded);
            let Some((left, right)) = shown.split_once("[secret]") else {
                panic!("{encoded} is shown as {shown}");
            };
            prop_assert!(left.len() <= (before.len() * 8).div_ceil(6));
            let after_bits = encoded.trim_end_matches('=').len() * 6 - (before.len() + secret.len()) * 8;
            prop_assert!(right.trim_end_matches('=').len() <= after_bits.div_ceil(6));
        }
    }

    #[test]
    fn our_own_json_shows_no_secret(secret in "\\PC{4,40}|[ -~\n\t]{4,40}") {
        prop_assume!(secret.trim_ascii().len() >= 4);
        let redactor = Redactor::new([&secret]);
        for escape in [Escape::Minimal, Escape::Html] {
            let mut json = String::new();
            escape_into(&mut json, secret.trim_ascii(), escape);
            let text = format!("\"{json}\"");
            let shown = redactor.redact(&text);
            prop_assert!(!shown.contains(&json), "{}", shown);
        }
    }
}
