//! Accessors of raw JSON.

use jiff::Timestamp;
use serde_json::Value;

/// Returns the text at a pointer; none if empty.
pub(crate) fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

pub(crate) fn time(value: &Value, pointer: &str) -> Option<Timestamp> {
    value.pointer(pointer)?.as_str()?.parse().ok()
}

pub(crate) fn flag(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool).unwrap_or(false)
}

/// Returns the entries of a list that can be read; none without a list.
pub(crate) fn entries<T>(
    value: &Value,
    pointer: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Option<Vec<T>> {
    Some(value.pointer(pointer)?.as_array()?.iter().filter_map(read).collect())
}

/// Returns a map of texts without members of other types.
pub(crate) fn texts(value: &Value, pointer: &str) -> std::collections::BTreeMap<String, String> {
    value
        .pointer(pointer)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}
