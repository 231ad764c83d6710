//! Foreign text on its way into an error: printable, bounded, without secrets.

use mooring_contract::masking::masked;
use mooring_contract::unquoted;

/// How much of a message of Azure is kept. Its longest useful ones (policy, quota) stay below this.
const KEPT_CHARS: usize = 1024;

/// `text` on one line, without control and direction characters, without the values that it quotes and what is likely a
/// secret, cut after 1,024 characters.
pub(crate) fn safe(text: &str) -> String {
    let mut line = String::new();
    for (at, word) in text.split_whitespace().enumerate() {
        if at > 0 {
            line.push(' ');
        }
        line.extend(word.chars().filter(|character| !is_hidden(*character)));
    }
    let kept = masked(&unquoted(&line));
    if kept.chars().count() <= KEPT_CHARS {
        return kept;
    }
    let mut cut: String = kept.chars().take(KEPT_CHARS).collect();
    cut.push('…');
    cut
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
        assert_eq!(safe("see https://blob/x?sig=abc&se=1 now"), "see https://blob/x?[secret] now");
        assert_eq!(safe("client_secret=hunter2 is wrong"), "client_secret=[secret] is wrong");
        assert_eq!(
            safe(r#"{"a":1,"client_secret":"hunter2"}"#),
            r#"{"a":1,"client_secret":"[secret]"}"#
        );
        assert_eq!(
            safe(r#"invalid type: string "hunter2", expected struct Answer"#),
            r#"invalid type: string "…", expected struct Answer"#
        );
    }

    #[test]
    fn sentences_of_azure_stay() {
        for text in [
            "AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the client secret value.",
            "The access token expiry UTC time '5/26/2026 8:40:00 PM' is earlier than current UTC time.",
            "The client 'me' with object id 'x' does not have authorization to perform action 'Microsoft.Compute/skus/read' over scope '/subscriptions/s'.",
            "Operation is not allowed: Another operation is in progress",
        ] {
            assert_eq!(safe(text), text);
        }
    }

    #[test]
    fn terminals_are_safe_and_the_length_is_bounded() {
        assert_eq!(safe("a\u{1b}[2J\n b\u{202e}c"), "a[2J bc");
        assert_eq!(safe(&"é".repeat(2000)).chars().count(), 1025);
    }
}
