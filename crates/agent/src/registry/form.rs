//! Names and values in a form or a query.

use std::fmt::Write as _;

pub(super) fn encoded(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={}", percent(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn percent(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(byte.into());
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn a_value_cannot_add_a_field() {
        assert_eq!(
            encoded(&[("a", "b&c=d"), ("e", "https://f/ é")]),
            "a=b%26c%3Dd&e=https%3A%2F%2Ff%2F%20%C3%A9"
        );
    }
}
