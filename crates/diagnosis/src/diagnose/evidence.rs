//! Lines of evidence: short, printable, without secrets.

use std::ops::Range;

use mooring_redact::mask_line_around;

use crate::decode::DecodedMessage;
use crate::diagnosis::Evidence;

/// No message of Azure about a quota is longer.
pub const MAX_LINE_CHARS: usize = 1000;

/// Start, middle and end of a longer line.
const PART: usize = (MAX_LINE_CHARS - 2 * GAP.len()) / 3;
const GAP: &str = " … ";

/// Bytes read before and after a hit, if the line is that long, before secrets are redacted.
const WINDOW: usize = 16 << 10;
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
        (None, Some(end)) if in_report && at <= end && is_outside(&line[..end]) => 0..end,
        _ => 0..line.len(),
    }
}

/// Returns true if a quote after the text is not part of it: the text has no member, and no open quote.
fn is_outside(text: &[u8]) -> bool {
    let has_name = |end: &[u8]| memchr::memmem::find(text, end).is_some();
    let is_open = |quote| memchr::memchr_iter(quote, text).count() % 2 == 1;
    !has_name(b"\":") && !has_name(b"':") && !is_open(b'"')
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

/// Shortens a long line to its start, the words around `focus` and its end, where the reason often is.
fn cut(line: &str, focus: usize) -> String {
    let chars: Vec<char> = line.chars().collect();
    if chars.len() <= MAX_LINE_CHARS {
        return line.to_owned();
    }
    let focus = line[..line.floor_char_boundary(focus)].chars().count();
    let last = chars.len() - PART;
    let middle = focus.saturating_sub(PART / 3).clamp(PART, last - PART);
    let starts = [0, middle, last];
    let mut shown = String::new();
    for (at, start) in starts.into_iter().enumerate() {
        let (mut from, mut to) = (start, start + PART);
        if at > 0 && start > starts[at - 1] + PART {
            from += blank(chars[from..].iter().copied());
            shown.push_str(GAP);
        }
        if starts.get(at + 1).is_some_and(|next| *next > to) {
            to -= blank(chars[..to].iter().rev().copied());
        }
        shown.extend(&chars[from..to]);
    }
    shown
}

/// Returns the number of characters up to a blank; 0 if it is too far away.
fn blank(mut chars: impl Iterator<Item = char>) -> usize {
    chars.by_ref().take(MAX_WORD).position(|c| c == ' ').map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::{GAP, PART, cut, printable, value_around};

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
            (r#"unknown field "x""#, "field", r#"unknown field "x""#),
            (r#"unknown field "x"", "Error": """#, "field", r#"unknown field "x""#),
        ];
        for (line, hit, expected) in cases {
            let at = line.find(hit).unwrap();
            let value = value_around(line.as_bytes(), at, !line.starts_with("plain"));
            assert_eq!(&line[value], expected, "{line}");
        }
    }

    #[test]
    fn long_line_keeps_both_ends_and_the_words_around_the_hit() {
        let words = "word ".repeat(300);
        let line = format!("start {words}HIT {words}unknown field \"x\"");
        let shown = cut(&line, line.find("HIT").unwrap());
        assert!(shown.starts_with("start word") && shown.ends_with(" unknown field \"x\""));
        assert!(shown.contains(" word HIT word ") && shown.contains("word … word"), "{shown}");
        let long = format!("{}HIT{}", "a".repeat(5000), "b".repeat(5000));
        let shown = cut(&long, 5000);
        assert_eq!((shown.chars().count(), shown.matches(GAP).count()), (3 * PART + 6, 2));
        assert!(shown.contains("HIT"), "{shown}");
        for focus in [0, 9999, 10_003] {
            let shown = cut(&long, focus);
            assert_eq!((shown.chars().count(), shown.matches(GAP).count()), (3 * PART + 3, 1));
        }
    }

    #[test]
    fn line_up_to_the_limit_is_whole() {
        let quota = "Operation could not be completed as it results in exceeding approved standardDSv3Family Cores quota. Additional details - Deployment Model: Resource Manager, Location: westeurope, Current Limit: 10, Current Usage: 8, Additional Required: 4, (Minimum) New Limit Required: 12. Setup Alerts when Quota reaches threshold. Submit a request for Quota increase by specifying parameters listed in the 'Details' section for deployment to succeed.";
        let settings = "Nov 15 kubelet[1]: E1115 run.go:74] \"command failed\" err=\"failed to load kubelet config file, path: /etc/default/kubeletconfig.json, error: failed to decode, strict decoding error: unknown field \\\"cpuManagerPolicyy\\\"\"";
        for (line, end) in [
            (quota.to_owned(), "deployment to succeed."),
            (format!("{{\"message\":\"{quota}\"}}"), "deployment to succeed."),
            (settings.to_owned(), "unknown field \"cpuManagerPolicyy\"\""),
        ] {
            let found = crate::diagnose(line.as_bytes(), crate::Hints::default());
            let evidence = &found[0].evidence[0].line;
            assert!(evidence.ends_with(end) && !evidence.contains('…'), "{evidence}");
        }
        assert_eq!(cut("short", 0), "short");
    }

    #[test]
    fn control_characters_are_removed() {
        assert_eq!(printable("a\u{1b}[2J\u{202e}b\tc".as_bytes()), "a[2Jb c");
    }
}
