//! What a request is about: the path, split and decoded, and the query.

use std::collections::BTreeMap;

/// A path of Azure Resource Manager. Case does not matter to it, but names keep theirs.
#[derive(Debug, Clone, Default)]
pub(crate) struct ArmPath {
    /// The segments as they were sent.
    pub(crate) segments: Vec<String>,
    /// The segments in lower case, to compare with.
    pub(crate) lower: Vec<String>,
}

impl ArmPath {
    pub(crate) fn parse(path: &str) -> Self {
        let segments: Vec<String> = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(|part| decode(part, false))
            .collect();
        let lower = segments.iter().map(|part| part.to_lowercase()).collect();
        Self { segments, lower }
    }

    /// The first `count` segments as the key of a resource.
    pub(crate) fn key(&self, count: usize) -> String {
        join(&self.lower[..count.min(self.lower.len())])
    }

    /// The resource type that the path is about (`microsoft.compute/virtualmachines`), in lower case.
    pub(crate) fn resource_type(&self) -> Option<String> {
        let at = self.lower.iter().rposition(|part| part == "providers")?;
        let namespace = self.lower.get(at + 1)?;
        let types: Vec<&str> = self.lower[at + 2..].iter().step_by(2).map(String::as_str).collect();
        Some(if types.is_empty() {
            namespace.clone()
        } else {
            format!("{namespace}/{}", types.join("/"))
        })
    }
}

fn join(parts: &[String]) -> String {
    parts.iter().fold(String::new(), |mut key, part| {
        key.push('/');
        key.push_str(part);
        key
    })
}

/// The parameters of a query, by their names in lower case. The last of several wins.
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

/// Undoes percent-encoding; what is no valid encoding stays as it is.
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

/// Encodes a value for a query.
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

    #[test]
    fn a_type_is_read_from_the_last_provider() {
        let kind = |path: &str| ArmPath::parse(path).resource_type();
        assert_eq!(
            kind("/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/v/extensions/e")
                .as_deref(),
            Some("microsoft.compute/virtualmachines/extensions")
        );
        assert_eq!(kind("/subscriptions/s"), None);
    }
}
