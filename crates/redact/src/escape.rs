//! Escapes of JSON strings.

use std::fmt::Write as _;

/// The characters that are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// Those that JSON requires.
    Minimal,
    /// Also `<`, `>`, `&`, U+2028 and U+2029, as in Go's `encoding/json`.
    Html,
    /// As `Html`, and U+FFFD: Go writes a byte that is not text as `\ufffd`, and a text with such
    /// bytes reaches this writer with U+FFFD in their place.
    HtmlReplaced,
    /// Also U+2028, U+2029 and U+FFFD, with fewer short escapes, as in Go's `log/slog`.
    Log,
}

/// Appends `value` with its JSON escapes, without quotes.
pub fn escape_into(text: &mut String, value: &str, escape: Escape) {
    for character in value.chars() {
        match escape_of(character, escape) {
            Escaped::No => text.push(character),
            Escaped::Short(letter) => text.extend(['\\', letter]),
            Escaped::Unicode => {
                // Writing to a `String` cannot fail.
                let _ = write!(text, "\\u{:04x}", u32::from(character));
            }
        }
    }
}

/// Returns the length of one character inside a string, in bytes.
pub fn escaped_len(character: char, escape: Escape) -> usize {
    match escape_of(character, escape) {
        Escaped::No => character.len_utf8(),
        Escaped::Short(_) => 2,
        Escaped::Unicode => 6,
    }
}

enum Escaped {
    No,
    Short(char),
    Unicode,
}

fn escape_of(character: char, escape: Escape) -> Escaped {
    match character {
        '"' | '\\' => Escaped::Short(character),
        '\u{8}' if escape != Escape::Log => Escaped::Short('b'),
        '\u{C}' if escape != Escape::Log => Escaped::Short('f'),
        '\n' => Escaped::Short('n'),
        '\r' => Escaped::Short('r'),
        '\t' => Escaped::Short('t'),
        '\0'..='\u{1F}' => Escaped::Unicode,
        '<' | '>' | '&' if matches!(escape, Escape::Html | Escape::HtmlReplaced) => {
            Escaped::Unicode
        }
        '\u{2028}' | '\u{2029}' if escape != Escape::Minimal => Escaped::Unicode,
        '\u{FFFD}' if matches!(escape, Escape::HtmlReplaced | Escape::Log) => Escaped::Unicode,
        _ => Escaped::No,
    }
}
