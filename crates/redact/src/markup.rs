//! Text of other systems in Markdown and in suggested commands: a bar can add a column, and `$(…)` can run when a
//! command is pasted.

use crate::printable;

/// Returns `text` as text in Markdown, also in a table cell: nothing in it is markup, HTML or the end of a cell.
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

/// Returns `text` as a code span in Markdown, outside of tables.
pub fn markdown_code(text: &str) -> String {
    let text = printable(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    // A space next to a back-tick belongs to the fence and is not shown.
    let pad = if longest > 0 || text.trim().is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Returns true for a name without special characters of a shell that is not parsed as an option.
pub fn is_plain_word(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':');
    !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
}

/// Returns `text` as one word of a suggested command: unchanged if it is plain, otherwise in single quotes.
pub fn shell_word(text: &str) -> String {
    if is_plain_word(text) {
        return text.to_owned();
    }
    format!("'{}'", printable(text).replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
