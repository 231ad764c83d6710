//! Foreign text on its way into an error: printable, bounded, without anything that looks like a token.

/// How much of a message of Azure is kept. Its longest useful ones (policy, quota) stay below this.
const KEPT_CHARS: usize = 1024;

/// `text` on one line, without control and direction characters, without tokens, cut after 1,024 characters.
pub(crate) fn safe(text: &str) -> String {
    let mut kept = String::new();
    for (at, word) in text.split_whitespace().enumerate() {
        if at > 0 {
            kept.push(' ');
        }
        if is_secret(word) {
            kept.push_str(mooring_contract::MASK);
        } else {
            kept.extend(word.chars().filter(|character| !is_hidden(*character)));
        }
    }
    if kept.chars().count() <= KEPT_CHARS {
        return kept;
    }
    let mut cut: String = kept.chars().take(KEPT_CHARS).collect();
    cut.push('…');
    cut
}

/// A JSON web token, or a query string that signs: the forms in which a secret has been seen in answers.
fn is_secret(word: &str) -> bool {
    const SIGNS: [&str; 5] =
        ["sig=", "client_secret=", "access_token", "client_assertion=", "password="];
    let lower = word.to_ascii_lowercase();
    (word.contains("eyJ") && word.len() > 40) || SIGNS.iter().any(|sign| lower.contains(sign))
}

/// Characters that move the cursor or turn the direction of writing.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn tokens_and_signatures_do_not_pass() {
        let token = format!("eyJ{}", "a".repeat(60));
        assert_eq!(safe(&format!("bad token {token} here")), "bad token [secret] here");
        assert_eq!(safe("see https://blob/x?sig=abc&se=1 now"), "see [secret] now");
    }

    #[test]
    fn terminals_are_safe_and_the_length_is_bounded() {
        assert_eq!(safe("a\u{1b}[2J\n b\u{202e}c"), "a[2J bc");
        assert_eq!(safe(&"é".repeat(2000)).chars().count(), 1025);
    }
}
