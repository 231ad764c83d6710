//! Sentences of libraries and services, without the values that they quote.

/// What stands in front of a quoted value, and the quote.
const BEFORE: [(&str, char); 5] = [
    ("string ", '"'),
    ("value: ", '"'),
    ("but is ", '\''),
    ("unknown variant ", '`'),
    ("unknown field ", '`'),
];
/// A value that is no text is told as JSON, whose end nobody can tell.
const NO_TEXT: [&str; 2] = ["value: {", "value: ["];
const CUT: &str = "…";

/// The sentence, with a dot for every value that it quotes from what was read: `invalid type: string "…", expected …` of
/// a parser, `spec.x: Invalid value: "…": must be …` of an API server.
#[must_use]
pub fn unquoted(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((end, quote)) = next_quote(rest) {
        shown.push_str(&rest[..end]);
        let Some(quote) = quote else {
            shown.push_str(CUT);
            return shown;
        };
        shown.push_str(CUT);
        rest = rest.get(end + closing(&rest[end..], quote)..).unwrap_or_default();
    }
    shown + rest
}

/// Where the first quoted value begins, and its quote if it is a text.
fn next_quote(text: &str) -> Option<(usize, Option<char>)> {
    let texts = BEFORE.iter().filter_map(|(before, quote)| {
        let quoted = format!("{before}{quote}");
        Some((text.find(&quoted)? + quoted.len(), Some(*quote)))
    });
    let others =
        NO_TEXT.iter().filter_map(|before| Some((text.find(before)? + before.len() - 1, None)));
    texts.chain(others).min_by_key(|(end, _)| *end)
}

/// How long the value is; all of the rest if it never ends.
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
    use super::unquoted;

    #[test]
    fn no_value_passes() {
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
            assert_eq!(unquoted(text), shown);
        }
    }

    #[test]
    fn a_sentence_without_values_stays() {
        for text in ["", "\"quoted\" is fine", "value: 4", "größer als \"…\""] {
            assert_eq!(unquoted(text), text);
        }
    }
}
