//! Fields of a response that may be absent, `null` or of an unexpected type.

use serde_json::Value;

/// Parses a response; none if it is not an object.
pub(super) fn object(json: &[u8]) -> Option<Value> {
    serde_json::from_slice(json).ok().filter(Value::is_object)
}

/// Returns a text; empty for anything else.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the objects of a list; none if the value is not a list.
pub(super) fn items(value: &Value) -> impl Iterator<Item = &Value> + Clone {
    value.as_array().into_iter().flatten().filter(|item| item.is_object())
}
