//! Text of other systems on one line, without hidden characters, bounded.
//!
//! Names, images, messages and journals come from objects that others write. A control character in them can move a
//! cursor, and a direction mark can reorder a line.

use std::borrow::Cow;
use std::fmt::{self, Display};

use crate::{drop_quoted_values, mask_line};

const MAX_IDENTIFIER: usize = 64;

const ELLIPSIS: char = '…';

/// The length of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Bytes, ellipsis included. The cut is between words and outside of code in backticks, unless that would
    /// cost more than three quarters of the text.
    Bytes(usize),
    /// Characters, followed by an ellipsis.
    Chars(usize),
}

/// Returns true for characters that are not visible themselves and change what is: control characters, direction
/// marks, zero-width and other format characters, line separators.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{fffe}'
                | '\u{ffff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Returns bytes as text, with `replacement` for every byte that is not part of a character. (The lossy conversion of
/// `std` replaces a truncated character once.)
pub fn lossy(bytes: &[u8], replacement: char) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| replacement));
    }
    Cow::Owned(text)
}

/// Returns `text` on one line, without hidden characters. Spaces are kept, so that columns stay aligned.
pub fn printable(text: &str) -> String {
    let spaced = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    spaced.filter(|c| !is_hidden(*c)).collect()
}

/// Returns the same for a text of several lines, whose line breaks are kept.
pub fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Returns `text` on one line, without hidden characters and runs of spaces.
pub fn one_line(text: &str) -> String {
    let text = printable(text);
    text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns `text`, cut to the limit; an ellipsis marks the cut.
pub fn truncated(text: &str, max: Limit) -> Cow<'_, str> {
    let kept = match max {
        Limit::Bytes(max) if text.len() <= max => return Cow::Borrowed(text),
        Limit::Bytes(max) => whole_words(text, max.saturating_sub(ELLIPSIS.len_utf8())),
        Limit::Chars(max) => match text.char_indices().nth(max) {
            None => return Cow::Borrowed(text),
            Some((end, _)) => &text[..end],
        },
    };
    Cow::Owned(format!("{kept}{ELLIPSIS}"))
}

/// Returns `text`, cut in its middle to at most `max` bytes: a line says what it is about at its start, and often what
/// is wrong at its end.
pub fn without_middle(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let space = max.saturating_sub(ELLIPSIS.len_utf8());
    let head = whole_words(text, space / 2);
    let tail = &text[text.ceil_char_boundary(text.len() - space.div_ceil(2))..];
    let tail = tail.split_once(' ').map_or(tail, |(_, words)| words);
    Cow::Owned(format!("{head}{ELLIPSIS}{tail}"))
}

fn whole_words(text: &str, max: usize) -> &str {
    let end = text.floor_char_boundary(max);
    let mut kept = &text[..end];
    let min = end / 4;
    if !text[end..].starts_with(' ')
        && let Some(space) = kept.rfind(' ').filter(|at| *at > min)
    {
        kept = &kept[..space];
    }
    if kept.matches('`').count() % 2 == 1
        && let Some(open) = kept.rfind('`').filter(|at| *at > min)
    {
        kept = &kept[..open];
    }
    kept.trim_end()
}

/// Returns the name of a foreign object in printable ASCII, cut after 64 characters.
pub fn identifier(text: &str) -> String {
    let mut safe = String::new();
    for character in text.chars() {
        let escaped = character.escape_default();
        if safe.len() + escaped.len() > MAX_IDENTIFIER {
            return format!("{safe}... ({} bytes)", text.len());
        }
        safe.extend(escaped);
    }
    safe
}

/// Returns an error or message of another system on one line, without hidden characters, values that it quotes and
/// likely secrets, cut to the limit.
pub fn foreign(text: &str, max: Limit) -> String {
    truncated(&mask_line(&drop_quoted_values(&one_line(text))), max).into_owned()
}

/// A text of lines, each of which stays one line regardless of its contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines(String);

impl Lines {
    pub fn line(&mut self, text: impl Display) {
        self.0.push_str(&printable(&text.to_string()));
        self.0.push('\n');
    }
}

impl Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Lines> for String {
    fn from(lines: Lines) -> Self {
        lines.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_text_is_one_line_without_hidden_characters() {
        let hostile = "a\u{1b}[2J\u{9b}1m\u{7f}\u{202e}\u{200b}\u{2066}\u{feff}\u{e0041}\r\n\tb";
        assert_eq!(printable(hostile), "a[2J1m   b");
        assert_eq!(printable("\u{2028}x\u{85}y"), " x y");
        assert_eq!(printable("  Grüße, 日本  – 1 %"), "  Grüße, 日本  – 1 %");
        assert_eq!(one_line("a\u{1b}[2J\u{202e}b\r\n\tc  d\u{200b}"), "a[2Jb c d");
    }

    #[test]
    fn lines_keep_their_own_line_breaks_only() {
        let mut lines = Lines::default();
        lines.line(format_args!("{:<4} {}", "a", "x\nhint: rm\u{1b}"));
        lines.line("b");
        assert_eq!(lines.to_string(), "a    x hint: rm\nb\n");
        assert_eq!(printable_lines("a\u{1b}\r\nb\n"), "a \nb\n");
    }

    #[test]
    fn cut_shows_and_never_splits_a_character() {
        let bytes = |text, max| truncated(text, Limit::Bytes(max)).into_owned();
        assert_eq!(bytes("ééééé", 7), "éé…");
        assert_eq!(bytes("short", 5), "short");
        assert_eq!(bytes("one two three", 11), "one two…", "not inside a word");
        assert_eq!(bytes("one two three", 10), "one two…", "a whole word stays");
        assert_eq!(bytes("Set `imageFamily` of it now", 20), "Set `imageFamily`…");
        assert_eq!(bytes("Change the field `image family: x`", 28), "Change the field…");
        assert_eq!(
            bytes("`kubectl get nodes -o wide`", 20),
            "`kubectl get…",
            "the rest is too short"
        );
        assert_eq!(truncated("ééé", Limit::Chars(3)), "ééé");
        assert_eq!(truncated("éééé", Limit::Chars(3)), "ééé…");
        assert_eq!(truncated("one two", Limit::Chars(5)), "one t…");
        assert_eq!(without_middle("one two", 7), "one two");
        assert_eq!(without_middle("one two three four", 17), "one two…four");
        for max in 3..20 {
            assert!(without_middle("ééééé üüüüü ééééé", max).len() <= max, "{max}");
        }
    }

    #[test]
    fn identifier_is_printable_ascii_of_bounded_length() {
        assert_eq!(identifier("A\u{1b}[2J\n\u{202e}é"), "A\\u{1b}[2J\\n\\u{202e}\\u{e9}");
        assert_eq!(identifier(&"k".repeat(64)), "k".repeat(64));
        assert_eq!(identifier(&"k".repeat(65)), format!("{}... (65 bytes)", "k".repeat(64)));
        assert_eq!(identifier(&"é".repeat(11)), format!("{}... (22 bytes)", "\\u{e9}".repeat(10)));
    }

    #[test]
    fn foreign_text_has_no_secrets_values_or_controls() {
        let safe = |text: &str| foreign(text, Limit::Chars(1024));
        let token = format!("eyJ{}", "a".repeat(60));
        assert_eq!(safe(&format!("bad token {token} here")), "bad token [secret] here");
        assert_eq!(safe("see https://blob/x?sig=abc&se=1 now"), "see https://blob/x?[secret] now");
        assert_eq!(safe("client_secret=hunter2 is wrong"), "client_secret=[secret] is wrong");
        assert_eq!(
            safe(r#"{"a":1,"client_secret":"hunter2"}"#),
            r#"{"a":1,"client_secret":"[secret]"}"#
        );
        assert_eq!(
            safe(r#"invalid type: string "hunter2", expected struct Answer"#),
            r#"invalid type: string "…", expected struct Answer"#
        );
        assert_eq!(safe("a\u{1b}[2J\n b\u{202e}c"), "a[2J bc");
        assert_eq!(safe(&"é".repeat(2000)).chars().count(), 1025);
    }

    #[test]
    fn messages_of_azure_are_kept() {
        for text in [
            "AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the client secret value.",
            "The access token expiry UTC time '5/26/2026 8:40:00 PM' is earlier than current UTC time.",
            "The client 'me' with object id 'x' does not have authorization to perform action 'Microsoft.Compute/skus/read' over scope '/subscriptions/s'.",
            "Operation is not allowed: Another operation is in progress",
        ] {
            assert_eq!(foreign(text, Limit::Chars(1024)), text);
        }
    }
}
