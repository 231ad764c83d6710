//! Lines of evidence: short, printable, without secrets.

use std::ops::Range;

use mooring_redact::mask_line_around;

use crate::decode::decoded_message::DecodedMessage;
use crate::diagnosis::Evidence;

pub const MAX_LINE_CHARS: usize = 200;

/// Bytes read around a hit before secrets are redacted and the line is cut.
const WINDOW: usize = 2048;
/// A longer word may be cut.
const MAX_WORD: usize = 32;

/// Quotes the line around a position in a message.
pub(crate) fn quote(text: &[u8], message: &DecodedMessage, at: usize) -> Evidence {
    let before = &text[at.saturating_sub(WINDOW).max(message.span.start.min(at))..at];
    let start = at - before.len() + memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let after = &text[at..text.len().min(at + WINDOW)];
    let end = at + memchr::memchr(b'\n', after).unwrap_or(after.len());
    let head = printable(&text[start..at]);
    let hit = printable(&text[at..end]);
    let (line, focus) = mask_line_around(&format!("{head}{hit}"), head.len());
    // Secrets are known by the names of members, so they are redacted before.
    let value = value_around(line.as_bytes(), focus, message.decoded.status.is_some());
    let line = cut(line[value.clone()].trim(), focus - value.start);
    Evidence { line, place: place(text, message, at) }
}

fn place(text: &[u8], message: &DecodedMessage, at: usize) -> String {
    let part = match (message.stdout, message.stderr) {
        (_, Some(stderr)) if at >= stderr => "stderr",
        (Some(stdout), _) if at >= stdout => "stdout",
        _ => "message",
    };
    let start = message.span.start.min(at);
    let line = 1 + memchr::memchr_iter(b'\n', &text[start..at]).count();
    format!("{part}, line {line}")
}

/// Returns the JSON value around a position, or the member if the position is its name; otherwise the whole line.
/// `in_report` is true for lines of a report: a value may start in an earlier line.
fn value_around(line: &[u8], at: usize, in_report: bool) -> Range<usize> {
    let is_quote = |byte: Option<&u8>| matches!(byte, Some(b'"' | b'\''));
    let before = line[..at].trim_ascii_end();
    if is_quote(before.last()) && matches!(trim_last(before), None | Some(b'{' | b',')) {
        let name = before.len() - 1;
        let colon = memchr::memchr(b':', &line[at..]).map_or(line.len(), |colon| at + colon + 1);
        let value = colon + count_blanks(&line[colon..]);
        let end = match line.get(value) {
            Some(b'"' | b'\'') => value_end(line, value + 1).map(|end| end + 1),
            _ => memchr::memchr2(b',', b'}', &line[value..]).map(|end| value + end),
        };
        return name..end.unwrap_or(line.len());
    }
    let starts = memchr::memrchr_iter(b':', &line[..at]).filter_map(|colon| {
        let value = colon + 1 + count_blanks(&line[colon + 1..]);
        let name = line[..colon].trim_ascii_end();
        (value < at && is_quote(name.last()) && is_quote(line.get(value))).then_some(value + 1)
    });
    let start = starts.max();
    match (start, value_end(line, start.unwrap_or(0))) {
        (Some(start), end) if end.is_none_or(|end| at <= end) => start..end.unwrap_or(line.len()),
        (None, Some(end)) if in_report && at <= end && !has_name(&line[..end]) => 0..end,
        _ => 0..line.len(),
    }
}

fn has_name(text: &[u8]) -> bool {
    [b"\":".as_slice(), b"':"].iter().any(|end| memchr::memmem::find(text, end).is_some())
}

fn count_blanks(text: &[u8]) -> usize {
    text.len() - text.trim_ascii_start().len()
}

/// Returns the last byte before a quote and blanks.
fn trim_last(before: &[u8]) -> Option<u8> {
    before[..before.len() - 1].trim_ascii_end().last().copied()
}

/// Returns the first quote that ends a value: quotes in it may have lost their escapes.
fn value_end(line: &[u8], from: usize) -> Option<usize> {
    let is_end = |at: &usize| {
        let after = line[at + 1..].trim_ascii_start();
        match after.first() {
            None | Some(b'}' | b']') => true,
            Some(b',') => {
                matches!(after[1..].trim_ascii_start().first(), Some(b'"' | b'\'' | b'{'))
            }
            _ => false,
        }
    };
    memchr::memchr2_iter(b'"', b'\'', line.get(from..)?).map(|at| from + at).find(is_end)
}

/// Removes control characters and bidirectional marks.
fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars()
        .map(|c| if c == '\t' { ' ' } else { c })
        .filter(|c| !mooring_redact::is_hidden(*c))
        .collect()
}

/// Cuts a line to the words around `focus`.
fn cut(line: &str, focus: usize) -> String {
    if line.chars().count() <= MAX_LINE_CHARS {
        return line.to_owned();
    }
    let focus = line[..line.floor_char_boundary(focus)].chars().count();
    let skip = focus.saturating_sub(MAX_LINE_CHARS / 3);
    let skip = if skip < 2 { 0 } else { skip };
    let skip = skip + blank(line.chars().skip(skip));
    let start = if skip > 0 { "…" } else { "" };
    let room = MAX_LINE_CHARS - start.chars().count();
    let rest: Vec<char> = line.chars().skip(skip).collect();
    if rest.len() <= room {
        return format!("{start}{}", rest.iter().collect::<String>());
    }
    let kept = &rest[..room - 1];
    let kept = &kept[..kept.len() - blank(kept.iter().rev().copied())];
    format!("{start}{}…", kept.iter().collect::<String>().trim_end())
}

/// Returns the number of characters up to a blank; 0 if it is too far away.
fn blank(mut chars: impl Iterator<Item = char>) -> usize {
    chars.by_ref().take(MAX_WORD).position(|c| c == ' ').map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::{cut, printable, value_around};

    #[test]
    fn quoted_text_of_a_report_is_the_value() {
        let report = r#"{"ExitCode":"232","Error":"ERR_X: oras is "missing" here","Output":""}"#;
        let log =
            r#"{"level":"ERROR","error":"creating instance, no capacity","claim":{"name":"a"}}"#;
        let cases = [
            (report, "oras", r#"ERR_X: oras is "missing" here"#),
            (report, "missing", r#"ERR_X: oras is "missing" here"#),
            (report, "ExitCode", r#""ExitCode":"232""#),
            (r#"{ "ExitCode": 50 }"#, "ExitCode", r#""ExitCode": 50 "#),
            (log, "capacity", "creating instance, no capacity"),
            (r#"{"Output": "curl: (7) failed"#, "failed", "curl: (7) failed"),
            (r#"+ exit 50", "Error": "", "ExecDuration": "60"}"#, "+ exit", "+ exit 50"),
            (r#"flag: --x {"ExitCode": "215"}"#, "flag", r#"flag: --x {"ExitCode": "215"}"#),
            ("plain: text 'a', 'b'", "text", "plain: text 'a', 'b'"),
        ];
        for (line, hit, expected) in cases {
            let at = line.find(hit).unwrap();
            let value = value_around(line.as_bytes(), at, !line.starts_with("plain"));
            assert_eq!(&line[value], expected, "{line}");
        }
    }

    #[test]
    fn long_line_is_cut_between_words() {
        let line = "word ".repeat(100);
        let shown = cut(line.trim(), 250);
        assert!(shown.starts_with("…word ") && shown.ends_with(" word…"), "{shown}");
        assert!(shown.chars().count() <= 200, "{shown}");
    }

    #[test]
    fn long_line_is_cut_around_the_hit() {
        let long = format!("{}HIT{}", "a".repeat(500), "b".repeat(500));
        let shown = cut(&long, 500);
        assert_eq!(shown.chars().count(), 200);
        assert!(shown.contains("HIT"));
        assert_eq!(cut("short", 0), "short");
    }

    #[test]
    fn cut_line_has_an_ellipsis_at_each_cut_end() {
        let line: String = ('a'..='z').cycle().take(400).collect();
        let part = |from: usize, to: usize| line[from..to].to_owned();
        assert_eq!(cut(&line[..200], 150), part(0, 200));
        assert_eq!(cut(&line[..201], 0), format!("{}…", part(0, 199)));
        // A third of the line is before the hit, and a cut of one character is not worth an ellipsis.
        assert_eq!(cut(&line[..201], 67), format!("{}…", part(0, 199)));
        assert_eq!(cut(&line[..201], 68), format!("…{}", part(2, 201)));
        assert_eq!(cut(&line[..202], 68), format!("…{}…", part(2, 200)));
        assert_eq!(cut(&line, 400), format!("…{}", part(334, 400)));
    }

    #[test]
    fn control_characters_are_removed() {
        assert_eq!(printable("a\u{1b}[2J\u{202e}b\tc".as_bytes()), "a[2Jb c");
    }
}
