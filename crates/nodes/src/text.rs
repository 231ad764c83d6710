//! Text for conditions, events and records: printable, redacted, short.

use mooring_redact::{Limit, mask_line, one_line, truncated};

/// Returns `text` on one line, with likely secrets redacted, of at most `max` bytes.
pub fn safe(text: &str, max: usize) -> String {
    bounded(&mask_line(&one_line(text)), max)
}

/// Returns the last lines of a text on one line, with likely secrets redacted, of at most `max` bytes.
pub fn safe_tail(text: &str, lines: usize, max: usize) -> String {
    let shown: Vec<String> = text
        .lines()
        .rev()
        .map(|line| mask_line(&one_line(line)).into_owned())
        .filter(|line| !line.is_empty())
        .take(lines)
        .collect();
    let joined = shown.into_iter().rev().collect::<Vec<_>>().join(" | ");
    if joined.len() <= max {
        return joined;
    }
    let start = joined.ceil_char_boundary(joined.len() - max.saturating_sub(ELLIPSIS.len()));
    format!("{ELLIPSIS}{}", &joined[start..])
}

const ELLIPSIS: &str = "…";

/// Returns `text`, cut to at most `max` bytes; an ellipsis marks the cut.
pub fn bounded(text: &str, max: usize) -> String {
    truncated(text, Limit::Bytes(max)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_bounded_in_bytes() {
        assert_eq!(
            safe("one  two\nthree password=hunter2", 100),
            "one two three password=[secret]"
        );
        assert_eq!(safe("one two three", 10), "one two…");
        for max in 3..40 {
            assert!(safe_tail("ééééééééé\nüüüüüüüüü\n", 2, max).len() <= max);
        }
    }

    #[test]
    fn tail_is_the_last_lines_in_order() {
        assert_eq!(safe_tail("a\nb\n\nc\n", 2, 100), "b | c");
        assert_eq!(safe_tail("", 2, 100), "");
        assert_eq!(safe_tail("a\nbcdefg\n", 1, 6), "bcdefg");
        assert_eq!(safe_tail("a\nbcdefgh\n", 1, 6), "…fgh");
    }
}
