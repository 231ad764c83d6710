//! Lines that are shown as evidence: short, printable, without secrets.

use mooring_redact::mask_line_around;

use crate::decode::decoded_message::DecodedMessage;
use crate::diagnosis::Evidence;

/// The longest line that is shown, in characters.
pub const LONGEST_LINE: usize = 200;

/// What is looked at around a hit before secrets are masked and the line is cut.
const WINDOW: usize = 2048;

/// The line around a place in a message.
pub(crate) fn quote(text: &[u8], told: &DecodedMessage, at: usize) -> Evidence {
    let before = &text[at.saturating_sub(WINDOW).max(told.span.start.min(at))..at];
    let start = at - before.len() + memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let behind = &text[at..text.len().min(at + WINDOW)];
    let end = at + memchr::memchr(b'\n', behind).unwrap_or(behind.len());
    let head = printable(&text[start..at]);
    let hit = printable(&text[at..end]);
    let (line, focus) = mask_line_around(&format!("{head}{hit}"), head.len());
    Evidence { line: cut(line.trim(), focus), place: place(text, told, at) }
}

fn place(text: &[u8], told: &DecodedMessage, at: usize) -> String {
    let part = match (told.stdout, told.stderr) {
        (_, Some(stderr)) if at >= stderr => "stderr",
        (Some(stdout), _) if at >= stdout => "stdout",
        _ => "message",
    };
    let start = told.span.start.min(at);
    let line = 1 + memchr::memchr_iter(b'\n', &text[start..at]).count();
    format!("{part}, line {line}")
}

/// Without control characters and marks that turn the direction of writing.
fn printable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars()
        .map(|c| if c == '\t' { ' ' } else { c })
        .filter(|c| !mooring_redact::is_hidden(*c))
        .collect()
}

/// At most 200 characters, those around `focus`.
fn cut(line: &str, focus: usize) -> String {
    if line.chars().count() <= LONGEST_LINE {
        return line.to_owned();
    }
    let focus = line[..line.floor_char_boundary(focus)].chars().count();
    let skip = focus.saturating_sub(LONGEST_LINE / 3);
    let skip = if skip < 2 { 0 } else { skip };
    let mut shown = String::new();
    let mut room = LONGEST_LINE;
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
    fn a_line_is_cut_around_what_was_found() {
        let long = format!("{}HIT{}", "a".repeat(500), "b".repeat(500));
        let shown = cut(&long, 500);
        assert_eq!(shown.chars().count(), 200);
        assert!(shown.contains("HIT"));
        assert_eq!(cut("short", 0), "short");
    }

    #[test]
    fn a_terminal_is_never_steered() {
        assert_eq!(printable("a\u{1b}[2J\u{202e}b\tc".as_bytes()), "a[2Jb c");
    }
}
