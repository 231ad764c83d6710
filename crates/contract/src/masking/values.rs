//! Where a value begins and ends.

use std::ops::Range;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// A word of a shell, a header, a sentence.
    Word,
    /// A value of JSON: behind a name in quotes.
    Json,
}

/// How a shell writes a quote within quotes, behind the one that it closes for that.
const SHELL_QUOTE: &[u8] = b"\\''";

/// The value that begins at `start`, without its quotes; `None` if there is none.
///
/// A password may hold anything, so a word ends at a blank, or at a quote that was open before it, and at nothing else.
pub(super) fn value(line: &str, start: usize, writing: Writing) -> Option<Range<usize>> {
    let bytes = line.as_bytes();
    // `$'…'` is how a shell shows what is hard to type.
    let start = start + usize::from(bytes[start..].starts_with(b"$'"));
    if let Some((inside, depth)) = opening(bytes, start) {
        let (end, behind) = closing(bytes, inside, bytes[inside - 1], depth);
        let goes_on = bytes.get(behind).is_some_and(|&byte| !ends_word(byte))
            || bytes[behind..].starts_with(SHELL_QUOTE);
        let end = if goes_on { word_end(bytes, behind) } else { end };
        return (end > inside).then_some(inside..end);
    }
    let end = match (writing, bytes.get(start)?) {
        (Writing::Json, b'[' | b'{') => bracket_end(bytes, start),
        (Writing::Json, _) => {
            let end = word_end(bytes, start);
            let literal = bytes[start..end].iter().position(|byte| b",}]".contains(byte));
            literal.map_or(end, |length| start + length)
        }
        (Writing::Word, _) => word_end(bytes, start),
    };
    let says_nothing = matches!(&line[start..end], "" | "{" | "[" | "true" | "false" | "null");
    (!says_nothing).then_some(start..end)
}

/// The first byte at or behind `at` that is no blank.
pub(super) fn behind_blanks(bytes: &[u8], at: usize) -> usize {
    let blanks = bytes[at..].iter().position(|byte| !byte.is_ascii_whitespace());
    blanks.map_or(bytes.len(), |blanks| at + blanks)
}

/// The end of the word that goes on at `at`. A quote that is opened in it is closed in it.
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
        let (end, behind) = closing(bytes, inside, bytes[inside - 1], depth);
        at = if end == bytes.len() { inside } else { behind };
    }
    at
}

/// What a quote, perhaps behind backslashes, opens at `at`: where, and how many backslashes deep.
fn opening(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let depth = bytes[at..].iter().position(|&byte| byte != b'\\')?;
    matches!(bytes[at + depth], b'"' | b'\'').then_some((at + depth + 1, depth))
}

/// Where the quote is closed, before its backslashes and behind it; the end of the line if it is not.
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

/// The end of an array or object, brackets in texts left aside.
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

    fn found(line: &str, writing: Writing) -> Option<&str> {
        value(line, 0, writing).map(|range| &line[range])
    }

    #[test]
    fn a_value_ends_where_its_writer_ended_it() {
        for (line, told) in [
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
            assert_eq!(found(line, Writing::Word), Some(told), "{line}");
        }
        for (line, told) in [
            ("12,\"x\":1", Some("12")),
            ("[\"a\", {\"b\": \"]\"}] c", Some("[\"a\", {\"b\": \"]\"}]")),
            ("[\"a", Some("[\"a")),
            ("null}", None),
            ("\"\", 1", None),
        ] {
            assert_eq!(found(line, Writing::Json), told, "{line}");
        }
    }
}
