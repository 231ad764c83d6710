//! Foreign text in a page.

use mooring_redact::is_hidden;

/// `text` as the content of an element, or of an attribute in either kind of quotes.
///
/// What steers a terminal or turns the direction of writing has no business in a page either, and is left out.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(' '),
            _ if is_hidden(character) => {}
            _ => safe.push(character),
        }
    }
    safe
}

/// One line for a person: printable, and not longer than `most` characters.
pub(crate) fn tidy(text: &str, most: usize) -> String {
    let mut shown = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    let mut tidy: String = shown.by_ref().filter(|c| !is_hidden(*c)).take(most).collect();
    if shown.any(|c| !is_hidden(c)) {
        tidy.pop();
        tidy.push('…');
    }
    tidy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_stays_text() {
        assert_eq!(
            escape("<script>\"a\" & 'b'\u{1b}[2J\u{202e}"),
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;[2J"
        );
    }

    #[test]
    fn a_long_line_is_cut_where_it_says_so() {
        assert_eq!(tidy("abcdef", 4), "abc…");
        assert_eq!(tidy("ab\ncd", 5), "ab cd");
    }
}
