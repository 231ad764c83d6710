//! Any bytes as an NBC command: names are valid, and every secret value is recognized.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mooring_agent::nbc::assignments;
use mooring_redact::{MIN_VALUE, Redactor};

const SECRETS: [&str; 4] = [
    "CUSTOM_SEARCH_REALM_PASSWORD",
    "KUBELET_CLIENT_CONTENT",
    "SERVICE_PRINCIPAL_FILE_CONTENT",
    "TLS_BOOTSTRAP_TOKEN",
];

fuzz_target!(|input: &[u8]| {
    let found = assignments(input);
    let secrets: Vec<&[u8]> = found.expose_secrets().collect();
    assert!(secrets.iter().all(|secret| !secret.is_empty()));
    for name in found.names() {
        let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        assert!(!name.is_empty() && !name.as_bytes()[0].is_ascii_digit(), "{name}");
        assert!(name.bytes().all(is_name), "{name}");
        let value = found.expose(name).expect("a name has a value");
        assert!(value.len() <= input.len());
        if SECRETS.contains(&name) && !value.is_empty() {
            assert!(secrets.contains(&value), "{name} is not known as a secret");
        }
    }
    // Round trip of the quoted content.
    let quotable = |name: &&str| found.expose(name).is_some_and(|value| !value.contains(&b'"'));
    let mut text = Vec::new();
    for name in found.names().filter(quotable) {
        text.extend(
            [name.as_bytes(), b"=\"", found.expose(name).unwrap_or_default(), b"\" "].concat(),
        );
    }
    let again = assignments(&text);
    for name in found.names().filter(quotable) {
        assert_eq!(again.expose(name), found.expose(name), "{name}");
    }
    // No secret remains after redaction. Many unusual secrets together can exclude every mask.
    if input.len() % 8 == 0 && (1..=3).contains(&secrets.len()) {
        let redactor = Redactor::new(&secrets);
        let redacted = redactor.redact_bytes(input);
        for secret in &secrets {
            // White space around a text is ignored; bytes that are not UTF-8 are taken unchanged.
            let is_text = std::str::from_utf8(secret).is_ok();
            let secret = if is_text { secret.trim_ascii() } else { secret };
            let is_left = redacted.windows(secret.len().max(1)).any(|part| part == secret);
            assert!(secret.len() < MIN_VALUE || !is_left);
        }
    }
});
