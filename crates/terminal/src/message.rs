//! Messages on stderr: lines that start with `error: `, `warning: ` or `hint: `.

use crate::screen::PROSE;
use crate::style::Style;
use crate::wrap::{fill, width};

const PREFIXES: [&str; 3] = ["error: ", "warning: ", "hint: "];
/// Separates a command from the text before it.
const GAP: &str = "   ";

/// Wraps the lines of a message with a hanging indent. Commands, which are in backquotes or after three blanks, are never
/// wrapped; neither are lines of another kind.
pub fn wrap_message(text: &str, style: &Style) -> String {
    let Some(columns) = style.width else { return text.to_owned() };
    let lines: Vec<String> =
        text.split('\n').map(|line| wrap_line(line, columns.min(PROSE))).collect();
    lines.join("\n")
}

fn wrap_line(line: &str, columns: usize) -> String {
    let prefix = PREFIXES.into_iter().find(|prefix| line.starts_with(prefix));
    let Some(prefix) = prefix.filter(|_| width(line) > columns) else { return line.to_owned() };
    let free = columns.saturating_sub(prefix.len());
    let rest = &line[prefix.len()..];
    let (text, command) = rest.split_once(GAP).unwrap_or((rest, ""));
    let words = words(text).map(|word| (width(word), word));
    let mut lines: Vec<String> = fill(words, free).iter().map(|line| line.join(" ")).collect();
    match lines.last_mut() {
        _ if command.is_empty() => {}
        Some(last) if width(last) + GAP.len() + width(command) <= free => {
            last.push_str(GAP);
            last.push_str(command);
        }
        _ => lines.push(command.to_owned()),
    }
    format!("{prefix}{}", lines.join(&format!("\n{}", " ".repeat(prefix.len()))))
}

/// Splits a text at blanks outside of backquotes.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let is_end = move |character: char| {
        is_quoted ^= character == '`';
        character == ' ' && !is_quoted
    };
    text.split(is_end).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NARROW: Style = Style { width: Some(30), ..Style::PIPE };

    #[test]
    fn messages_wrap_with_a_hanging_indent() {
        let text = "warning: Azure was not read: not signed in\nhint: short\n  a line of another kind is kept";
        assert_eq!(
            wrap_message(text, &NARROW),
            "warning: Azure was not read:\n         not signed in\nhint: short\n  a line of another kind is kept"
        );
        assert_eq!(wrap_message(text, &Style::PIPE), text);
        let wide = format!("error: {}", "word ".repeat(30).trim_end());
        let wrapped = wrap_message(&wide, &Style { width: Some(200), ..Style::PIPE });
        assert_eq!(wrapped.lines().map(str::len).collect::<Vec<_>>(), [96, 66]);
    }

    #[test]
    fn commands_in_messages_are_not_wrapped() {
        for (text, expected) in [
            (
                "hint: set it, or `az aks get-credentials -n x` writes it",
                "hint: set it, or\n      `az aks get-credentials -n x`\n      writes it",
            ),
            (
                "hint: did you mean `default`?   mooring why default",
                "hint: did you mean `default`?\n      mooring why default",
            ),
            (
                "hint: did you really mean it, `a`?   mooring b",
                "hint: did you really mean it,\n      `a`?   mooring b",
            ),
        ] {
            assert_eq!(wrap_message(text, &NARROW), expected);
        }
    }
}
