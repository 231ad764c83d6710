//! Foreign text made safe for where it is printed: a terminal, a Markdown document, a shell.
//!
//! Names, images, messages and journals come from objects that others write. A control character in them can move a
//! cursor, a direction mark can reorder a line, a bar can add a column, and `$(…)` can run when a suggested command is pasted.

use std::fmt::{self, Display};

/// Returns true for characters that are not visible themselves and change what is: control characters, direction
/// marks, zero-width and other format characters, line separators.
#[must_use]
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

/// `text` on one line, without hidden characters. Spaces are kept, so that columns stay aligned.
#[must_use]
pub fn printable(text: &str) -> String {
    let spaced = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    spaced.filter(|c| !is_hidden(*c)).collect()
}

/// The same for a text of several lines, whose line breaks are kept.
#[must_use]
pub fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// A text of lines, each of which stays one line regardless of what is in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines(String);

impl Lines {
    /// Adds one line.
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

/// `text` as text in Markdown, also in a table cell: nothing in it is markup, HTML or the end of a cell.
#[must_use]
pub fn markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 8);
    for character in printable(text).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '!' => {
                safe.push('\\');
                safe.push(character);
            }
            _ => safe.push(character),
        }
    }
    safe
}

/// `text` as a code span in Markdown, outside of tables.
#[must_use]
pub fn markdown_code(text: &str) -> String {
    let text = printable(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    // A space next to a back-tick belongs to the fence and is not shown.
    let pad = if longest > 0 || text.trim().is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Returns true for a name that means nothing to a shell and is not taken for an option: letters, digits, `.`, `_`,
/// `-`, `/`, `:`.
#[must_use]
pub fn is_plain_word(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':');
    !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
}

/// `text` as one word of a command that is suggested: as it is if it is plain, otherwise in single quotes.
#[must_use]
pub fn shell_word(text: &str) -> String {
    if is_plain_word(text) {
        return text.to_owned();
    }
    format!("'{}'", printable(text).replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str =
        "a\u{1b}[2J\u{9b}1m\u{7f}\u{202e}\u{200b}\u{2066}\u{feff}\u{e0041}\r\n\tb";

    #[test]
    fn printable_text_is_one_line_without_hidden_characters() {
        assert_eq!(printable(HOSTILE), "a[2J1m   b");
        assert_eq!(printable("\u{2028}x\u{85}y"), " x y");
        assert_eq!(printable("  Grüße, 日本  – 1 %"), "  Grüße, 日本  – 1 %");
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
    fn markdown_holds_no_markup_of_foreign_text() {
        assert_eq!(
            markdown("a|b `c` <script> [x](y) **d** \\ & ![i]\n| e"),
            "a\\|b \\`c\\` &lt;script&gt; \\[x\\](y) \\*\\*d\\*\\* \\\\ &amp; \\!\\[i\\] \\| e"
        );
        assert_eq!(markdown("Standard_D4s_v5"), "Standard_D4s_v5");
    }

    #[test]
    fn a_code_span_ends_only_at_its_own_fence() {
        assert_eq!(markdown_code("plain"), "`plain`");
        assert_eq!(markdown_code("a ``` b\n"), "```` a ``` b  ````");
        assert_eq!(markdown_code("`x"), "`` `x ``");
        assert_eq!(markdown_code(""), "`  `");
    }

    #[test]
    fn a_suggested_command_runs_nothing_of_foreign_text() {
        assert_eq!(shell_word("aks-default-2jf98"), "aks-default-2jf98");
        assert_eq!(shell_word("202601.27.0"), "202601.27.0");
        assert_eq!(shell_word("$(rm -rf ~)"), "'$(rm -rf ~)'");
        assert_eq!(shell_word("a'; rm b\n"), r"'a'\''; rm b '");
        assert_eq!(shell_word("--yes"), "'--yes'");
        assert_eq!(shell_word(""), "''");
    }
}
