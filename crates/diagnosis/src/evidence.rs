//! Lines that are shown as evidence: short, printable, without secrets.

use mooring_contract::MASK;

use crate::told::Told;

/// The longest line that is shown, in characters.
pub const LONGEST_LINE: usize = 200;

/// What is looked at around a hit before secrets are masked and the line is cut.
const WINDOW: usize = 2048;

/// A quoted line and where it stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// At most 200 characters, without control characters and secrets.
    pub line: String,
    /// Which part of the message, and which of its lines: `stdout, line 3`.
    pub place: String,
}

/// The line around a place in a message.
pub(crate) fn quote(text: &[u8], told: &Told, at: usize) -> Evidence {
    let before = &text[at.saturating_sub(WINDOW).max(told.span.start.min(at))..at];
    let start = at - before.len() + memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let behind = &text[at..text.len().min(at + WINDOW)];
    let end = at + memchr::memchr(b'\n', behind).unwrap_or(behind.len());
    let head = printable(&text[start..at]);
    let hit = printable(&text[at..end]);
    let (line, focus) = masked(&format!("{head}{hit}"), head.len());
    Evidence { line: cut(line.trim(), focus), place: place(text, told, at) }
}

fn place(text: &[u8], told: &Told, at: usize) -> String {
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
    let is_mark = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let text = String::from_utf8_lossy(bytes);
    text.chars()
        .map(|c| if c == '\t' { ' ' } else { c })
        .filter(|c| !c.is_control() && !is_mark(*c))
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

/// The line with secrets masked, and where `focus` is then.
fn masked(line: &str, focus: usize) -> (String, usize) {
    let mut shown = String::with_capacity(line.len());
    let mut new_focus = None;
    let mut at = 0;
    while at < line.len() {
        if at >= focus && new_focus.is_none() {
            new_focus = Some(shown.len());
        }
        let rest = &line[at..];
        if let Some((keep, secret)) = secret(rest, line[..at].chars().next_back()) {
            shown.push_str(&rest[..keep]);
            shown.push_str(MASK);
            at += keep + secret;
        } else if let Some(next) = rest.chars().next() {
            shown.push(next);
            at += next.len_utf8();
        }
    }
    let focus = new_focus.unwrap_or(shown.len());
    (shown, focus)
}

/// Words before a secret; what follows up to a blank, quote or `&` is masked.
const LABELS: &[&str] = &[
    "bearer ",
    "sig=",
    "password=",
    "passwd=",
    "token=",
    "secret=",
    "accountkey=",
    "authorization: ",
];

/// If a secret starts here or right behind a label that starts here: what to keep, what to mask.
fn secret(rest: &str, before: Option<char>) -> Option<(usize, usize)> {
    if before.is_some_and(|c| c.is_ascii_alphanumeric()) && !rest.starts_with("://") {
        return None;
    }
    let len = |fits: fn(u8) -> bool, text: &str| text.bytes().take_while(|b| fits(*b)).count();
    for label in LABELS {
        let head = rest.get(..label.len());
        if head.is_some_and(|head| head.eq_ignore_ascii_case(label)) {
            let value = &rest[label.len()..];
            let is_value = |b: u8| !b.is_ascii_whitespace() && !b"\"'&,;".contains(&b);
            let secret = len(is_value, value);
            return (secret > 0).then_some((label.len(), secret));
        }
    }
    if let Some(authority) = rest.strip_prefix("://") {
        let end = len(|b| !b.is_ascii_whitespace() && !b"/\"'?#".contains(&b), authority);
        let user = authority[..end].rfind('@')?;
        return Some((3, user));
    }
    if rest.starts_with("eyJ") {
        let jwt = len(|b| b.is_ascii_alphanumeric() || b"._-=".contains(&b), rest);
        return (jwt >= 20).then_some((0, jwt));
    }
    if is_bootstrap_token(rest.as_bytes()) {
        return Some((0, 23));
    }
    // Once for every run, so that a long one costs no more than its length.
    if before.is_some_and(|c| "+/=_-".contains(c)) {
        return None;
    }
    let word = len(|b| b.is_ascii_alphanumeric() || b"+/=_-".contains(&b), rest);
    let blob = len(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b), rest);
    let has = |class: fn(&u8) -> bool| rest.as_bytes()[..blob].iter().any(class);
    let mixed =
        has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    (blob >= 40 && mixed && blob == word).then_some((0, blob))
}

/// `abcdef.0123456789abcdef`
fn is_bootstrap_token(text: &[u8]) -> bool {
    let fits = |part: &[u8]| part.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let part = |range: std::ops::Range<usize>| text.get(range).is_some_and(fits);
    part(0..6)
        && text.get(6) == Some(&b'.')
        && part(7..23)
        && !text.get(23).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'.')
}

#[cfg(test)]
mod tests {
    use super::{cut, masked, printable};

    #[test]
    fn secrets_are_masked_and_all_else_stays() {
        for (line, shown) in [
            ("token abcdef.0123456789abcdef used", "token [secret] used"),
            (
                "Authorization: x eyJhbGciOiJSUzI1NiJ9.eyJhIjoxfQ.c2ln",
                "Authorization: [secret] [secret]",
            ),
            ("http://u:p@proxy:3128/ refused", "http://[secret]@proxy:3128/ refused"),
            ("https://x.blob/y?sv=1&sig=abc%2F&se=2", "https://x.blob/y?sv=1&sig=[secret]&se=2"),
            ("MIIB0123456789abcdefABCDEFMIIB0123456789abcdefABCDEF==", "[secret]"),
            ("+ curl https://mcr.microsoft.com/v2/", "+ curl https://mcr.microsoft.com/v2/"),
            (
                "/var/lib/waagent/custom-script/download/0/script.sh",
                "/var/lib/waagent/custom-script/download/0/script.sh",
            ),
        ] {
            assert_eq!(masked(line, 0).0, shown);
        }
    }

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
