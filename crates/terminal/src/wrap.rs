//! Wrapping at words and truncating.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Returns the columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Puts words, with their widths, into lines of at most this many columns. A longer word gets its own line.
pub(crate) fn fill<T>(words: impl IntoIterator<Item = (usize, T)>, columns: usize) -> Vec<Vec<T>> {
    let mut lines = vec![Vec::new()];
    let mut used = 0;
    for (width, word) in words {
        if used > 0 && used + 1 + width > columns {
            lines.push(Vec::new());
            used = 0;
        }
        used += width + usize::from(used > 0);
        if let Some(line) = lines.last_mut() {
            line.push(word);
        }
    }
    lines
}

/// Replaces the middle of a text that takes more than `max` columns with `…`.
pub fn truncate_middle(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let space = max.saturating_sub(1);
    let head = take(text.chars(), space.div_ceil(2));
    let tail: String = take(text.chars().rev(), space / 2).chars().rev().collect();
    format!("{head}…{tail}")
}

/// Replaces the last words of a text that takes more than `max` columns with `…`.
pub(crate) fn truncate_end(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let head = take(text.chars(), max.saturating_sub(1));
    let is_whole = text[head.len()..].starts_with(' ');
    let words = head.rfind(' ').filter(|_| !is_whole).map_or(head.as_str(), |end| &head[..end]);
    format!("{}…", words.trim_end_matches([' ', ',', ':', ';', '.']))
}

fn take(characters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    characters
        .take_while(|character| {
            used += character.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks() {
        let lines = |text: &str, columns| -> Vec<String> {
            let words = text.split_whitespace().map(|word| (width(word), word));
            fill(words, columns).iter().map(|line| line.join(" ")).collect()
        };
        assert_eq!(lines("aa bb cc dd", 5), ["aa bb", "cc dd"]);
        assert_eq!(lines("a verylongword b", 4), ["a", "verylongword", "b"]);
        assert_eq!(lines("", 4), [""]);
        assert_eq!(lines("字字 字", 5), ["字字", "字"]);
    }

    #[test]
    fn last_words_are_dropped() {
        assert_eq!(truncate_end("one two three", 13), "one two three");
        assert_eq!(truncate_end("one two three", 12), "one two…");
        assert_eq!(truncate_end("one two three", 8), "one two…");
        assert_eq!(truncate_end("one: two", 6), "one…");
        assert_eq!(truncate_end("abcdef", 4), "abc…", "one long word");
    }

    #[test]
    fn middle_of_a_long_name_is_replaced() {
        assert_eq!(truncate_middle("default-7kq2c", 13), "default-7kq2c");
        assert_eq!(truncate_middle("default-7kq2c", 8), "defa…q2c");
        assert_eq!(truncate_middle("字字字字", 5), "字…字");
        assert_eq!(truncate_middle("abc", 1), "…");
    }
}
