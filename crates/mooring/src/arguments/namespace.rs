//! Names of namespaces.

/// Parses a name that Kubernetes accepts for a namespace.
pub(super) fn parse_namespace(text: &str) -> Result<String, String> {
    let is_end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    let is_valid = (1..=63).contains(&bytes.len())
        && bytes.iter().all(|byte| is_end(*byte) || *byte == b'-')
        && [bytes.first(), bytes.last()].into_iter().flatten().all(|byte| is_end(*byte));
    is_valid.then(|| text.to_owned()).ok_or_else(|| {
        "the name of a namespace has at most 63 characters of a-z, 0-9 and -, and no - at its ends"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::parse_namespace;

    #[test]
    fn namespaces_are_dns_labels() {
        for text in ["a", "mooring-system", "0ps", &"a".repeat(63)] {
            assert_eq!(parse_namespace(text).as_deref(), Ok(text));
        }
        for text in ["", "Bad Name!", "a_b", "a.b", "-a", "a-", "A", "é", &"a".repeat(64)] {
            assert!(parse_namespace(text).is_err(), "{text}");
        }
    }
}
