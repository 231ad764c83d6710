//! Foreign text, made safe for a terminal, a log line and a bounded list.

/// How much of a foreign text is shown; a longer one is cut and says its length.
const SHOWN_CHARS: usize = 64;

/// `text` in printable ASCII, cut after 64 characters.
#[must_use]
pub fn shown(text: &str) -> String {
    let mut safe = String::new();
    for character in text.chars() {
        let escaped = character.escape_default();
        if safe.len() + escaped.len() > SHOWN_CHARS {
            return format!("{safe}... ({} bytes)", text.len());
        }
        safe.extend(escaped);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn control_characters_and_direction_marks_never_reach_a_terminal() {
        assert_eq!(shown("A\u{1b}[2J\n\u{202e}é"), "A\\u{1b}[2J\\n\\u{202e}\\u{e9}");
    }

    #[test]
    fn a_long_text_is_cut_and_says_how_long_it_was() {
        assert_eq!(shown(&"k".repeat(64)), "k".repeat(64));
        assert_eq!(shown(&"k".repeat(65)), format!("{}... (65 bytes)", "k".repeat(64)));
        assert_eq!(shown(&"é".repeat(11)), format!("{}... (22 bytes)", "\\u{e9}".repeat(10)));
    }
}
