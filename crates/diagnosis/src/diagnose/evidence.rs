//! Lines of evidence: short, printable, without secrets.

use mooring_redact::mask_line_around;

use crate::decode::decoded_message::DecodedMessage;
use crate::diagnosis::Evidence;

pub const MAX_LINE_CHARS: usize = 200;

/// Bytes read around a hit before secrets are redacted and the line is cut.
const WINDOW: usize = 2048;

/// Quotes the line around a position in a message.
pub(crate) fn quote(text: &[u8], message: &DecodedMessage, at: usize) -> Evidence {
    let before = &text[at.saturating_sub(WINDOW).max(message.span.start.min(at))..at];
    let start = at - before.len() + memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let after = &text[at..text.len().min(at + WINDOW)];
    let end = at + memchr::memchr(b'\n', after).unwrap_or(after.len());
    let head = printable(&text[start..at]);
    let hit = printable(&text[at..end]);
    let (line, focus) = mask_line_around(&format!("{head}{hit}"), head.len());
    Evidence { line: cut(line.trim(), focus), place: place(text, message, at) }
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

/// Removes control characters and bidirectional marks.
fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars()
        .map(|c| if c == '\t' { ' ' } else { c })
        .filter(|c| !mooring_redact::is_hidden(*c))
        .collect()
}

/// Cuts a line to the characters around `focus`.
fn cut(line: &str, focus: usize) -> String {
    if line.chars().count() <= MAX_LINE_CHARS {
        return line.to_owned();
    }
    let focus = line[..line.floor_char_boundary(focus)].chars().count();
    let skip = focus.saturating_sub(MAX_LINE_CHARS / 3);
    let skip = if skip < 2 { 0 } else { skip };
    let mut shown = String::new();
    let mut room = MAX_LINE_CHARS;
    if skip > 0 {
        shown.push('…');
        room -= 1;
    }
    let mut rest = line.chars().skip(skip);
    let whole = rest.clone().count() <= room;
    shown.extend(rest.by_ref().take(if whole { room } else { room - 1 }));
    if !whole {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{cut, printable};

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
