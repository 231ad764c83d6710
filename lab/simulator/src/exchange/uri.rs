use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Characters that a query escapes: all but the unreserved ones.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the parameters of a query, by their names in lower case. The last of several wins.
pub(crate) fn query(text: Option<&str>) -> BTreeMap<String, String> {
    text.unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name, true).to_lowercase(), decode(value, true))
        })
        .collect()
}

/// Decodes percent-encoding; an invalid encoding is kept.
pub(crate) fn decode(text: &str, plus_is_blank: bool) -> String {
    let text = if plus_is_blank { text.replace('+', " ") } else { text.to_owned() };
    percent_decode_str(&text).decode_utf8_lossy().into_owned()
}

pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_undone_and_broken_ones_stay() {
        for (text, expected) in [
            ("a%20b", "a b"),
            ("a+b", "a b"),
            ("%", "%"),
            ("%zz", "%zz"),
            ("%c3%a4", "ä"),
            ("%2", "%2"),
        ] {
            assert_eq!(decode(text, true), expected);
        }
        assert_eq!(decode(&encode("eventTimestamp ge '2026'"), true), "eventTimestamp ge '2026'");
    }
}
