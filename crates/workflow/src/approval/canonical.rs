//! Canonical JSON and its hash.

use ring::digest::{SHA256, digest};
use serde_json::Value;

/// Returns the value without whitespace, with its members sorted at every level.
///
/// The map type does not guarantee an order: that is a feature of `serde_json` that any crate in the build may switch.
pub fn canonical(value: &Value) -> String {
    String::from_utf8(bytes(value)).unwrap_or_default()
}

fn bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            out.push(b'{');
            for (index, (name, value)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_leaf(name, out);
                out.push(b':');
                write(value, out);
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        other => write_leaf(other, out),
    }
}

/// Writes to memory, which does not fail.
fn write_leaf(leaf: &(impl serde::Serialize + ?Sized), out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out, leaf);
}

/// Returns the SHA-256 of the canonical text, in hexadecimal.
pub fn hash(value: &Value) -> String {
    hash_bytes(&bytes(value))
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
