//! Wraps and cuts long lines.

/// Returns where the following lines of a wrapped line start: below the text behind a label and its gap, or else a bit further in.
pub(crate) fn hanging(line: &str, width: usize) -> usize {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let text = &line[indent..];
    let gap = text.find("  ").map(|at| {
        let rest = &text[at..];
        let label = line[..indent + at].chars().count();
        label + rest.len() - rest.trim_start_matches(' ').len()
    });
    gap.filter(|column| *column <= width / 3).unwrap_or(indent + 2)
}

/// Wraps a line at `width` characters and indents the following lines.
pub(crate) fn wrapped(line: &str, width: usize, indent: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    // Keeps the indentation of the line, and wide gaps in it.
    let mut rest = line;
    while !rest.is_empty() {
        let gap = rest.len() - rest.trim_start_matches(' ').len();
        let word_end = rest[gap..].find(' ').map_or(rest.len(), |at| gap + at);
        let (piece, behind) = rest.split_at(word_end);
        let at = lines.len() - 1;
        let full = lines[at].chars().count() + piece.chars().count() > width;
        if full && !lines[at].trim().is_empty() {
            lines.push(format!("{}{}", " ".repeat(indent), piece.trim_start()));
        } else {
            lines[at].push_str(piece);
        }
        rest = behind;
    }
    lines
}

/// Returns one line of at most `most` characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    cut_end(&text.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

/// Cuts a line between words and outside of code. The text before the cut is unchanged.
pub(crate) fn cut_end(line: &str, most: usize) -> String {
    let Some((end, _)) = line.char_indices().nth(most) else { return line.to_owned() };
    let kept = &line[..end];
    let in_word = !line[end..].starts_with(' ');
    let kept = kept.rfind(' ').filter(|_| in_word).map_or(kept, |space| &kept[..space]);
    let in_code = kept.matches('`').count() % 2 == 1;
    let kept = kept.rfind('`').filter(|_| in_code).map_or(kept, |open| &kept[..open]);
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_wrapped_at_words_and_set_in() {
        assert_eq!(wrapped("  a   bb ccc dddd", 11, 3), ["  a   bb", "   ccc dddd"]);
        assert_eq!(wrapped("short", 10, 2), ["short"]);
        assert_eq!(wrapped("", 10, 2), [""]);
    }

    #[test]
    fn following_lines_start_below_the_text() {
        assert_eq!(hanging("  cause     OrasBinaryMissing", 60), 12);
        assert_eq!(hanging("  ✓ signs   5 of 5", 60), 12);
        assert_eq!(hanging("    one sentence", 60), 6);
        assert_eq!(hanging("no room for this gap   x", 20), 2);
    }

    #[test]
    fn cut_text_is_one_line_with_an_ellipsis() {
        assert_eq!(cut("a\n  b", 10), "a b");
        assert_eq!(cut("äöü", 2), "äö…");
        assert_eq!(cut("one two three", 9), "one two…");
        assert_eq!(cut("set `one two three` now", 12), "set…");
        assert_eq!(cut("set `one` to three", 14), "set `one` to…");
        assert_eq!(cut_end("  Message:   one two", 16), "  Message:   one…");
    }
}
