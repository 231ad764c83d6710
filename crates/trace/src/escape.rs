//! Escapes untrusted text for HTML.

use mooring_redact::is_hidden;

/// Escapes `text` for an element, or for an attribute in either kind of quotes.
///
/// Also removes terminal escape sequences and bidirectional controls.
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

/// Characters of a name.
pub(crate) const MAX_NAME: usize = 120;

/// Returns one printable line of at most `most` characters.
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
    fn untrusted_text_is_escaped() {
        assert_eq!(
            escape("<script>\"a\" & 'b'\u{1b}[2J\u{202e}"),
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;[2J"
        );
        assert_eq!(escape("a\nb\tc"), "a b c");
    }

    #[test]
    fn long_line_ends_with_an_ellipsis() {
        assert_eq!(tidy("abcdef", 4), "abc…");
        assert_eq!(tidy("ab\ncd", 5), "ab cd");
    }
}
