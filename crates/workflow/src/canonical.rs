//! Canonical JSON and its hash.

use std::collections::BTreeMap;

use ring::digest::{SHA256, digest};
use serde::Serialize;
use serde_json::Value;

/// Returns the value without whitespace, with its members sorted at every level.
pub fn canonical(value: &Value) -> String {
    // Writing to memory does not fail.
    serde_json::to_string(&Sorted::from(value)).unwrap_or_default()
}

/// A value with sorted members.
///
/// The map type of [`Value`] does not guarantee an order: that is a feature of `serde_json` that any crate in the build may
/// switch.
#[derive(Serialize)]
#[serde(untagged)]
enum Sorted<'a> {
    Object(BTreeMap<&'a str, Self>),
    Array(Vec<Self>),
    Leaf(&'a Value),
}

impl<'a> From<&'a Value> for Sorted<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Object(members) => Self::Object(
                members.iter().map(|(name, value)| (name.as_str(), value.into())).collect(),
            ),
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            leaf => Self::Leaf(leaf),
        }
    }
}

/// Returns the SHA-256 of the canonical text, in hexadecimal.
pub fn hash(value: &Value) -> String {
    hash_bytes(canonical(value).as_bytes())
}

/// Returns the SHA-256 in hexadecimal.
pub fn hash_bytes(bytes: &[u8]) -> String {
    let digits =
        |byte: &u8| [byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]);
    digest(&SHA256, bytes).as_ref().iter().flat_map(digits).map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_members_does_not_matter() {
        let one: Value = serde_json::from_str(r#"{"b":[1,{"z":null,"a":"\n"}],"a":true}"#).unwrap();
        assert_eq!(canonical(&one), r#"{"a":true,"b":[1,{"a":"\n","z":null}]}"#);
        assert_eq!(canonical(&json!({})), "{}");
        assert_eq!(canonical(&json!([])), "[]");
        assert_ne!(hash(&json!([1, 2])), hash(&json!([2, 1])));
    }

    #[test]
    fn the_hash_is_sha_256() {
        assert_eq!(
            hash_bytes(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
