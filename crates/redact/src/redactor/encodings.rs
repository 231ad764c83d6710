//! The forms of a secret value in a text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::matcher::Matcher;
use crate::escape::{Escape, escape_into};

/// Shorter base64 is found in too many words; the five characters of a four-byte secret are.
const MIN_BASE64: usize = 6;

/// Line lengths of `openssl` and `base64`.
const WRAPPED_AT: [usize; 2] = [64, 76];

/// Collects the forms of all values.
#[derive(Default)]
pub(super) struct Patterns {
    pieces: Matcher,
}

impl Patterns {
    /// Adds every form of a value; equal forms count once.
    pub(super) fn add(&mut self, value: &[u8]) {
        let mut forms: Vec<Vec<u8>> = vec![value.to_vec()];
        let mut add = |form: Vec<u8>| {
            if !forms.contains(&form) {
                forms.push(form);
            }
        };
        for encoded in base64(value) {
            let url_safe = |byte: &u8| match byte {
                b'+' => b'-',
                b'/' => b'_',
                other => *other,
            };
            add(encoded.iter().map(url_safe).collect());
            add(encoded);
        }
        for digits in [LOWER, UPPER] {
            add(value.iter().flat_map(|byte| hex(*byte, digits)).collect());
            add(percent_encoded(value, digits, b"%20"));
            if value.contains(&b' ') {
                add(percent_encoded(value, digits, b"+"));
            }
        }
        if let Ok(value) = std::str::from_utf8(value) {
            text_forms(value).into_iter().map(String::into_bytes).for_each(add);
        }
        for form in forms {
            self.pieces.add(&form);
        }
        for columns in WRAPPED_AT {
            for line in STANDARD_NO_PAD.encode(value).as_bytes().chunks_exact(columns) {
                self.pieces.add(line);
            }
        }
    }

    pub(super) fn into_matcher(mut self) -> Matcher {
        self.pieces.finish();
        self.pieces
    }
}

const LOWER: &[u8; 16] = b"0123456789abcdef";
const UPPER: &[u8; 16] = b"0123456789ABCDEF";

/// Returns the characters that the value's bytes determine inside a longer encoded text,
/// for each of the three ways to fall on groups of three bytes.
fn base64(value: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..3).filter_map(move |bytes_before: usize| {
        let padded = [&[0; 2][..bytes_before], value].concat();
        // A character encodes 6 bits. The first character without bits of the prefix, and the end of
        // the last one without bits of the suffix:
        let first = (bytes_before * 8).div_ceil(6);
        let end = padded.len() * 8 / 6;
        let core = STANDARD_NO_PAD.encode(&padded).into_bytes().get(first..end)?.to_vec();
        (core.len() >= MIN_BASE64).then_some(core)
    })
}

fn hex(byte: u8, digits: &[u8; 16]) -> [u8; 2] {
    [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]
}

/// Everything but RFC 3986's unreserved characters as `%41`; a blank as `%20`, or `+` in forms.
fn percent_encoded(value: &[u8], digits: &[u8; 16], blank: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(value.len() * 3);
    for &byte in value {
        match byte {
            b' ' => encoded.extend_from_slice(blank),
            b'-' | b'.' | b'_' | b'~' => encoded.push(byte),
            _ if byte.is_ascii_alphanumeric() => encoded.push(byte),
            _ => {
                encoded.push(b'%');
                encoded.extend_from_slice(&hex(byte, digits));
            }
        }
    }
    encoded
}

/// Returns the quoted forms of a text: JSON, Go, shells and `identifier`.
fn text_forms(value: &str) -> Vec<String> {
    let slashes_escaped = |text: &str| text.replace('/', "\\/");
    if value.bytes().all(|byte| byte == b'/' || is_never_escaped(byte)) {
        return vec![slashes_escaped(value)];
    }
    let json = |escape| {
        let mut text = String::with_capacity(value.len() + 16);
        escape_into(&mut text, value, escape);
        text
    };
    let (minimal, html) = (json(Escape::Minimal), json(Escape::Html));
    vec![
        slashes_escaped(&minimal),
        slashes_escaped(&html),
        minimal,
        html,
        quoted(value, go_escape),
        value.replace('\'', r"'\''"),
        quoted(value, double_quote_escape),
        quoted(value, ansi_c_escape),
        value.escape_default().to_string(),
    ]
}

/// Returns true for characters that are never quoted: those of tokens, base64 and most keys.
fn is_never_escaped(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" -._~+=:@,;%".contains(&byte)
}

/// Returns the value with a backslash and the escape in place of each character that has one.
fn quoted(value: &str, escape: impl Fn(char) -> Option<String>) -> String {
    let mut quoted = String::with_capacity(value.len() + 16);
    for character in value.chars() {
        match escape(character) {
            Some(escape) => quoted.extend(["\\", &escape]),
            None => quoted.push(character),
        }
    }
    quoted
}

/// Escapes as between the quotes of Go's `%q`.
fn go_escape(character: char) -> Option<String> {
    match (short_escape(character), u32::from(character)) {
        (Some(letter), _) => Some(letter.to_string()),
        (None, 0x22 | 0x5C) => Some(character.to_string()),
        (None, code @ (..0x20 | 0x7F)) => Some(format!("x{code:02x}")),
        (None, code) if code > 0x7F && is_invisible(character) => Some(format!("u{code:04x}")),
        _ => None,
    }
}

/// Escapes as between the quotes of `$'...'`, which `bash -x` uses for control characters.
fn ansi_c_escape(character: char) -> Option<String> {
    match (short_escape(character), u32::from(character)) {
        (Some(letter), _) => Some(letter.to_string()),
        (None, 0x27 | 0x5C) => Some(character.to_string()),
        (None, 0x1B) => Some("E".to_owned()),
        (None, code @ (..0x20 | 0x7F)) => Some(format!("{code:03o}")),
        _ => None,
    }
}

/// Escapes as between the quotes of `"..."` in the output of `export -p`.
fn double_quote_escape(character: char) -> Option<String> {
    matches!(character, '\\' | '"' | '$' | '`').then(|| character.to_string())
}

/// Returns the short escape of control characters for which Go and bash agree.
fn short_escape(character: char) -> Option<char> {
    Some(match character {
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\u{C}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\u{B}' => 'v',
        _ => return None,
    })
}

fn is_invisible(character: char) -> bool {
    character.is_control()
        || character.is_whitespace()
        || matches!(character, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}
