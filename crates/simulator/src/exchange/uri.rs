use std::collections::BTreeMap;

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
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        rest = behind;
        let hex = behind.get(..2).and_then(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            pair.bytes().all(|b| b.is_ascii_hexdigit()).then_some(())?;
            u8::from_str_radix(pair, 16).ok()
        });
        match (first, hex) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            (b'+', _) if plus_is_blank => bytes.push(b' '),
            _ => bytes.push(*first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(crate) fn encode(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
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
