//! Foreign text made safe for a condition, an event and a record: printable, without secrets, short.

use mooring_diagnosis::masked;

/// Printable, with secrets masked, and at most `most` bytes long.
#[must_use]
pub fn safe(text: &str, most: usize) -> String {
    bounded(&masked(&printable(text)), most)
}

/// The last lines of a text in one line, safe, at most `most` bytes.
#[must_use]
pub fn safe_tail(text: &str, lines: usize, most: usize) -> String {
    let shown: Vec<String> = text
        .lines()
        .rev()
        .map(|line| masked(&printable(line)))
        .filter(|line| !line.is_empty())
        .take(lines)
        .collect();
    let joined = shown.into_iter().rev().collect::<Vec<_>>().join(" | ");
    let mut start = joined.len().saturating_sub(most);
    if start == 0 {
        return joined;
    }
    start = joined.ceil_char_boundary(joined.len() - most.saturating_sub(ELLIPSIS.len()));
    format!("{ELLIPSIS}{}", &joined[start..])
}

const ELLIPSIS: &str = "…";

/// At most `most` bytes; a cut shows. It is made between two words and outside of code in backticks, unless that would
/// cost more than three quarters of the text.
#[must_use]
pub fn bounded(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most.saturating_sub(ELLIPSIS.len()));
    let mut kept = &text[..end];
    let least = end / 4;
    if !text[end..].starts_with(' ')
        && let Some(space) = kept.rfind(' ').filter(|at| *at > least)
    {
        kept = &kept[..space];
    }
    if kept.matches('`').count() % 2 == 1
        && let Some(open) = kept.rfind('`').filter(|at| *at > least)
    {
        kept = &kept[..open];
    }
    format!("{}{ELLIPSIS}", kept.trim_end())
}

/// One line without control characters, marks that turn the direction of writing, and runs of blanks.
#[must_use]
pub fn printable(text: &str) -> String {
    let shown = mooring_contract::printable(text);
    shown.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_a_terminal() {
        assert_eq!(printable("a\u{1b}[2J\u{202e}b\r\n\tc  d\u{200b}"), "a[2Jb c d");
    }

    #[test]
    fn a_cut_never_splits_a_character_and_shows() {
        assert_eq!(bounded("ééééé", 7), "éé…");
        assert_eq!(bounded("short", 5), "short");
        assert_eq!(bounded("one two three", 11), "one two…", "not inside a word");
        assert_eq!(bounded("one two three", 10), "one two…", "a whole word stays");
        assert_eq!(bounded("Set `imageFamily` of it now", 20), "Set `imageFamily`…");
        assert_eq!(bounded("Change the field `image family: x`", 28), "Change the field…");
        assert_eq!(
            bounded("`kubectl get nodes -o wide`", 20),
            "`kubectl get…",
            "nothing else is left"
        );
        for most in 3..40 {
            assert!(safe_tail("ééééééééé\nüüüüüüüüü\n", 2, most).len() <= most);
        }
    }

    #[test]
    fn a_tail_is_the_last_lines_in_order() {
        assert_eq!(safe_tail("a\nb\n\nc\n", 2, 100), "b | c");
        assert_eq!(safe_tail("", 2, 100), "");
    }
}
