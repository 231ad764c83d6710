//! Text with colors and links.

use std::fmt::Write as _;

use mooring_redact::printable;

use crate::style::Style;
use crate::wrap::{fill, width};

/// A sign in front of a line. Its color repeats what the sign shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Bad,
    Warning,
    Good,
    /// Not checked, or nothing to report.
    None,
}

impl Mark {
    /// Returns the sign; it takes one column, or two in ASCII.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Bad => "✗",
            Self::Warning => "!",
            Self::Good => "✓",
            Self::None => "–",
        }
    }

    /// Returns the SGR parameter: one of the eight basic colors, or dim.
    fn code(self) -> u8 {
        match self {
            Self::Bad => 31,
            Self::Warning => 33,
            Self::Good => 32,
            Self::None => DIM,
        }
    }
}

/// SGR parameters.
const BOLD: u8 = 1;
const DIM: u8 = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    text: String,
    /// SGR parameter of the look; none for plain text.
    code: Option<u8>,
    link: Option<String>,
}

/// One line of text with colors and links. Control characters of other systems are removed when it is built.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    spans: Vec<Span>,
}

impl Text {
    pub fn new(text: impl AsRef<str>) -> Self {
        Self::default().plain(text)
    }

    /// Returns the sign of a mark and a text, separated by a blank.
    pub fn marked(mark: Mark, text: impl AsRef<str>) -> Self {
        Self::default().mark(mark).plain(" ").plain(text)
    }

    #[must_use]
    pub fn plain(self, text: impl AsRef<str>) -> Self {
        self.span(text.as_ref(), None, None)
    }

    #[must_use]
    pub fn bold(self, text: impl AsRef<str>) -> Self {
        self.span(text.as_ref(), Some(BOLD), None)
    }

    #[must_use]
    pub fn dim(self, text: impl AsRef<str>) -> Self {
        self.span(text.as_ref(), Some(DIM), None)
    }

    #[must_use]
    pub fn mark(self, mark: Mark) -> Self {
        self.span(mark.sign(), Some(mark.code()), None)
    }

    /// Adds a text in the color of a mark.
    #[must_use]
    pub fn colored(self, mark: Mark, text: impl AsRef<str>) -> Self {
        self.span(text.as_ref(), Some(mark.code()), None)
    }

    /// Adds a text that links to an `https` URL. Another URL is not linked.
    #[must_use]
    pub fn link(self, text: impl AsRef<str>, url: &str) -> Self {
        self.span(text.as_ref(), None, safe_url(url))
    }

    /// Adds bold text, with a link if there is a URL.
    #[must_use]
    pub fn bold_link(self, text: impl AsRef<str>, url: Option<&str>) -> Self {
        self.span(text.as_ref(), Some(BOLD), url.and_then(safe_url))
    }

    fn span(mut self, text: &str, code: Option<u8>, link: Option<String>) -> Self {
        let text = printable(text);
        if !text.is_empty() {
            self.spans.push(Span { text, code, link });
        }
        self
    }

    pub fn append(&mut self, text: Self) {
        self.spans.extend(text.spans);
    }

    /// Splits after this many characters.
    pub(crate) fn split(&self, characters: usize) -> (Self, Self) {
        let (mut head, mut tail) = (Self::default(), Self::default());
        let mut left = characters;
        for span in &self.spans {
            let at = span.text.char_indices().nth(left).map_or(span.text.len(), |(at, _)| at);
            left -= span.text[..at].chars().count();
            for (part, text) in [(&mut head, &span.text[..at]), (&mut tail, &span.text[at..])] {
                if !text.is_empty() {
                    part.spans.push(Span { text: text.to_owned(), ..span.clone() });
                }
            }
        }
        (head, tail)
    }

    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the text without colors and links.
    pub fn content(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// Returns the columns that it takes in this style.
    pub(crate) fn width(&self, style: &Style) -> usize {
        self.spans.iter().map(|span| width(&adapt(&span.text, style))).sum()
    }

    /// Replaces the content, for example by a truncated one; keeps the look if there is only one.
    pub(crate) fn with_content(&self, content: &str) -> Self {
        match self.spans.as_slice() {
            [span] => Self { spans: vec![Span { text: content.to_owned(), ..span.clone() }] },
            _ => Self::new(content),
        }
    }

    pub(crate) fn render(&self, style: &Style) -> String {
        let mut line = String::new();
        for span in &self.spans {
            let text = adapt(&span.text, style);
            let code = span.code.filter(|_| style.color);
            let target = span.link.as_ref().filter(|_| style.links);
            if let Some(url) = target {
                let _ = write!(line, "\x1b]8;;{url}\x1b\\");
            }
            match code {
                Some(code) => {
                    let _ = write!(line, "\x1b[{code}m{text}\x1b[0m");
                }
                None => line.push_str(&text),
            }
            if target.is_some() {
                line.push_str("\x1b]8;;\x1b\\");
            }
        }
        line
    }

    /// Splits at blanks into lines of at most this many columns; looks are kept.
    pub(crate) fn wrap(&self, columns: usize, style: &Style) -> Vec<Self> {
        // Words between blanks, each as its spans.
        let mut words = vec![Self::default()];
        for span in &self.spans {
            for (at, piece) in adapt(&span.text, style).split(' ').enumerate() {
                if at > 0 {
                    words.push(Self::default());
                }
                if let (false, Some(word)) = (piece.is_empty(), words.last_mut()) {
                    word.spans.push(Span { text: piece.to_owned(), ..span.clone() });
                }
            }
        }
        words.retain(|word| !word.is_empty());
        let words = words.into_iter().map(|word| (word.width(style), word));
        let join = |line: Vec<Self>| {
            line.into_iter().reduce(|mut line, word| {
                line = line.plain(" ");
                line.append(word);
                line
            })
        };
        fill(words, columns).into_iter().map(|line| join(line).unwrap_or_default()).collect()
    }
}

/// Replaces the signs of this crate and of its users with ASCII where the output has no Unicode.
pub(crate) fn adapt(text: &str, style: &Style) -> String {
    if style.unicode || text.is_ascii() {
        return text.to_owned();
    }
    let mut ascii = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '✓' => ascii.push_str("ok"),
            '✗' => ascii.push('x'),
            '–' | '─' | '·' => ascii.push('-'),
            '…' => ascii.push_str("..."),
            '→' => ascii.push_str("->"),
            '█' | '▒' => ascii.push('#'),
            '░' => ascii.push('.'),
            '│' => ascii.push('|'),
            other => ascii.push(other),
        }
    }
    ascii
}

/// Returns an https URL without characters that end an escape sequence.
fn safe_url(url: &str) -> Option<String> {
    let is_safe = url.starts_with("https://") && url.bytes().all(|byte| byte.is_ascii_graphic());
    is_safe.then(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLORED: Style = Style { width: Some(80), color: true, unicode: true, links: true };

    #[test]
    fn looks_and_links_are_shown_only_if_the_style_has_them() {
        let text = Text::marked(Mark::Bad, "a ").bold("b").link("c", "https://example.com/x");
        assert_eq!(text.render(&Style::PIPE), "✗ a bc");
        assert_eq!(
            text.render(&COLORED),
            "\x1b[31m✗\x1b[0m a \x1b[1mb\x1b[0m\x1b]8;;https://example.com/x\x1b\\c\x1b]8;;\x1b\\"
        );
        for (mark, code) in [(Mark::Warning, 33), (Mark::Good, 32), (Mark::None, 2)] {
            let sign = mark.sign();
            let text = Text::default().mark(mark).render(&COLORED);
            assert_eq!(text, format!("\x1b[{code}m{sign}\x1b[0m"));
        }
        assert_eq!(Text::default().dim("d").render(&COLORED), "\x1b[2md\x1b[0m");
        assert_eq!(Text::default().colored(Mark::Bad, "d").render(&COLORED), "\x1b[31md\x1b[0m");
    }

    #[test]
    fn foreign_text_and_urls_cannot_control_the_terminal() {
        let text = Text::new("a\x1b[2Jb\nc\u{202e}d").render(&COLORED);
        assert!(!text.contains(['\x1b', '\n', '\u{202e}']), "{text:?}");
        for url in ["javascript:x", "https://a b", "https://a\x1b\\"] {
            assert_eq!(Text::default().link("x", url).render(&COLORED), "x", "{url}");
        }
    }

    #[test]
    fn signs_are_ascii_without_unicode() {
        let ascii = Style { unicode: false, ..Style::PIPE };
        let text = Text::new("✓ ✗ – … → █░│ é");
        assert_eq!(text.render(&ascii), "ok x - ... -> #.| é");
        assert_eq!(text.width(&ascii), 19);
        assert_eq!(text.width(&Style::PIPE), 15);
    }

    #[test]
    fn wrapped_lines_keep_their_looks() {
        let text = Text::new("aa bb").bold("cc dd").plain(" ee");
        let lines: Vec<String> =
            text.wrap(8, &COLORED).iter().map(|line| line.render(&COLORED)).collect();
        assert_eq!(lines, ["aa bb\x1b[1mcc\x1b[0m", "\x1b[1mdd\x1b[0m ee"]);
        assert_eq!(Text::default().wrap(8, &COLORED), [Text::default()]);
    }
}
