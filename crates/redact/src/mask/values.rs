//! Start and end of a value.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// A word of a shell, a header or a message.
    Word,
    /// A value of JSON, after a name in quotes.
    Json,
}

/// A quote within quotes of a shell, after the quote that is closed for it.
const SHELL_QUOTE: &[u8] = b"\\''";

/// Returns the value that begins at `start`, without its quotes.
///
/// A password may hold anything, so a word ends at a blank, or at a quote that was open before it, and at nothing else.
pub(super) fn value(line: &str, start: usize, syntax: Syntax) -> Option<Range<usize>> {
    let bytes = line.as_bytes();
    // `$'…'` quotes control characters in a shell.
    let start = start + usize::from(bytes[start..].starts_with(b"$'"));
    if let Some((inside, depth)) = opening(bytes, start) {
        let (end, after) = closing(bytes, inside, bytes[inside - 1], depth);
        let continues = bytes.get(after).is_some_and(|&byte| !ends_word(byte))
            || bytes[after..].starts_with(SHELL_QUOTE);
        let end = if continues { word_end(bytes, after) } else { end };
        return (end > inside).then_some(inside..end);
    }
    let end = match (syntax, bytes.get(start)?) {
        (Syntax::Json, b'[' | b'{') => bracket_end(bytes, start),
        (Syntax::Json, _) => {
            let end = word_end(bytes, start);
            let literal = bytes[start..end].iter().position(|byte| b",}]".contains(byte));
            literal.map_or(end, |length| start + length)
        }
        (Syntax::Word, _) => word_end(bytes, start),
    };
    let is_empty = matches!(&line[start..end], "" | "{" | "[" | "true" | "false" | "null");
    (!is_empty).then_some(start..end)
}

/// Returns the offset of the first byte from `at` on that is not a blank.
pub(super) fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    let blanks = bytes[at..].iter().position(|byte| !byte.is_ascii_whitespace());
    blanks.map_or(bytes.len(), |blanks| at + blanks)
}

/// Returns the end of the word that continues at `at`. A quote that is opened in it is closed in it.
pub(super) fn word_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_whitespace() {
            break;
        }
        if bytes[at..].starts_with(SHELL_QUOTE) {
            at += SHELL_QUOTE.len() - 1;
        }
        let Some((inside, depth)) = opening(bytes, at) else {
            at += bytes[at..].iter().take_while(|&&byte| byte == b'\\').count().max(1);
            continue;
        };
        if bytes.get(inside).is_none_or(|&byte| ends_word(byte)) {
            break;
        }
        let (end, after) = closing(bytes, inside, bytes[inside - 1], depth);
        at = if end == bytes.len() { inside } else { after };
    }
    at
}

/// Returns the offset after an opening quote at `at`, and the number of backslashes before it.
fn opening(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let depth = bytes[at..].iter().position(|&byte| byte != b'\\')?;
    matches!(bytes[at + depth], b'"' | b'\'').then_some((at + depth + 1, depth))
}

/// Returns the offsets before the backslashes of the closing quote and after it; the end of the line if it is not closed.
fn closing(bytes: &[u8], inside: usize, quote: u8, depth: usize) -> (usize, usize) {
    let mut backslashes = 0;
    for (at, &byte) in bytes.iter().enumerate().skip(inside) {
        match byte {
            b'\\' => backslashes += 1,
            _ if byte == quote && backslashes <= depth => return (at - backslashes, at + 1),
            _ => backslashes = 0,
        }
    }
    (bytes.len(), bytes.len())
}

/// Returns the end of an array or object; brackets in strings do not count.
fn bracket_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut open) = (start, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open -= 1,
            b'"' => at = closing(bytes, at, b'"', 0).1,
            _ => {}
        }
        if open == 0 {
            break;
        }
    }
    at
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b",;:}])|&\\\"'`<>".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str, syntax: Syntax) -> Option<&str> {
        value(line, 0, syntax).map(|range| &line[range])
    }

    #[test]
    fn value_ends_at_its_delimiter() {
        for (line, expected) in [
            ("a b", "a"),
            ("'a b' c", "a b"),
            ("\"a \\\" b\" c", "a \\\" b"),
            ("\\\"a b\\\" c", "a b"),
            ("$'a b' c", "a b"),
            ("'a'\\''b c' d", "a'\\''b c'"),
            ("b'a b' c", "b'a b'"),
            ("a\"}", "a"),
            ("a' b", "a"),
            ("\"a b", "a b"),
            ("a,b;c d", "a,b;c"),
        ] {
            assert_eq!(found(line, Syntax::Word), Some(expected), "{line}");
        }
        for (line, expected) in [
            ("12,\"x\":1", Some("12")),
            ("[\"a\", {\"b\": \"]\"}] c", Some("[\"a\", {\"b\": \"]\"}]")),
            ("[\"a", Some("[\"a")),
            ("null}", None),
            ("\"\", 1", None),
        ] {
            assert_eq!(found(line, Syntax::Json), expected, "{line}");
        }
    }
}
