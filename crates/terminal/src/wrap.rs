//! Wrapping at words and truncating.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Returns the columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Splits a text at blanks into lines of at most `first` and `rest` columns. A longer word gets its own line.
pub(crate) fn wrap(text: &str, first: usize, rest: usize) -> Vec<String> {
    wrap_words(text.split(' '), first, rest)
}

/// Joins words with blanks into lines of at most `first` and `rest` columns.
pub(crate) fn wrap_words<'a>(
    words: impl Iterator<Item = &'a str>,
    first: usize,
    rest: usize,
) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut free = first;
    for word in words.filter(|word| !word.is_empty()) {
        let needed = width(word);
        let is_start = lines.last().is_none_or(String::is_empty);
        if !is_start && needed + 1 > free {
            lines.push(String::new());
            free = rest;
        }
        let Some(line) = lines.last_mut() else { continue };
        if !line.is_empty() {
            line.push(' ');
            free = free.saturating_sub(1);
        }
        line.push_str(word);
        free = free.saturating_sub(needed);
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
        assert_eq!(wrap("aa bb cc dd", 5, 5), ["aa bb", "cc dd"]);
        assert_eq!(wrap("aa bb cc dd", 2, 8), ["aa", "bb cc dd"]);
        assert_eq!(wrap("a verylongword b", 4, 4), ["a", "verylongword", "b"]);
        assert_eq!(wrap("", 4, 4), [""]);
        assert_eq!(wrap("字字 字", 5, 5), ["字字", "字"]);
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
