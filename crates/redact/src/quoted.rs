//! Errors of libraries and services, without the values that they quote.

use std::borrow::Cow;

/// The text before a quoted value, and the quote.
const PREFIXES: [(&str, char); 5] = [
    ("string ", '"'),
    ("value: ", '"'),
    ("but is ", '\''),
    ("unknown variant ", '`'),
    ("unknown field ", '`'),
];
/// Values that are quoted as JSON, whose end is unknown.
const JSON_PREFIXES: [&str; 2] = ["value: {", "value: ["];
const ELLIPSIS: &str = "…";

/// Returns the message with an ellipsis for every value of the input that it quotes: `invalid type: string "…",
/// expected …` of a parser, `spec.x: Invalid value: "…": must be …` of an API server.
pub fn drop_quoted_values(text: &str) -> Cow<'_, str> {
    if next_quote(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((end, quote)) = next_quote(rest) {
        shown.push_str(&rest[..end]);
        let Some(quote) = quote else {
            shown.push_str(ELLIPSIS);
            return Cow::Owned(shown);
        };
        shown.push_str(ELLIPSIS);
        rest = rest.get(end + closing(&rest[end..], quote)..).unwrap_or_default();
    }
    Cow::Owned(shown + rest)
}

/// Finds the start of the first quoted value, and its quote if it is a string.
fn next_quote(text: &str) -> Option<(usize, Option<char>)> {
    let texts = PREFIXES.iter().filter_map(|(before, quote)| {
        let quoted = format!("{before}{quote}");
        Some((text.find(&quoted)? + quoted.len(), Some(*quote)))
    });
    let others = JSON_PREFIXES
        .iter()
        .filter_map(|before| Some((text.find(before)? + before.len() - 1, None)));
    texts.chain(others).min_by_key(|(end, _)| *end)
}

/// Returns the length of the value; all of the rest if it never ends.
fn closing(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            _ if character == quote => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::drop_quoted_values;

    #[test]
    fn quoted_values_are_dropped() {
        for (text, shown) in [
            (
                r#"invalid type: string "CANARY", expected a map"#,
                r#"invalid type: string "…", expected a map"#,
            ),
            (r#"string "a\"CANARY" and string "CANARY"#, r#"string "…" and string "…"#),
            ("unknown field `CANARY`, expected `name`", "unknown field `…`, expected `name`"),
            (
                r#"spec.key: Invalid value: "CANARY": must be short"#,
                r#"spec.key: Invalid value: "…": must be short"#,
            ),
            (r#"spec: Invalid value: {"key":"CANARY"}: no"#, "spec: Invalid value: …"),
            ("must be a URL, but is 'http://u:CANARY@h'", "must be a URL, but is '…'"),
        ] {
            assert_eq!(drop_quoted_values(text), shown);
        }
    }

    #[test]
    fn message_without_values_is_unchanged() {
        for text in ["", "\"quoted\" is fine", "value: 4", "größer als \"…\""] {
            assert_eq!(drop_quoted_values(text), text);
        }
    }
}
