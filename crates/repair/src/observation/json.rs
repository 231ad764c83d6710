//! Small questions to raw JSON.

use jiff::Timestamp;
use serde_json::Value;

/// The text at a pointer, if it is one and not empty.
pub(crate) fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The instant at a pointer.
pub(crate) fn time(value: &Value, pointer: &str) -> Option<Timestamp> {
    value.pointer(pointer)?.as_str()?.parse().ok()
}

/// True if there is a literal `true` at the pointer.
pub(crate) fn flag(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool).unwrap_or(false)
}

/// The entries of a list that can be read; the others are skipped. None if there is no list.
pub(crate) fn entries<T>(
    value: &Value,
    pointer: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Option<Vec<T>> {
    Some(value.pointer(pointer)?.as_array()?.iter().filter_map(read).collect())
}

/// A map of texts; members of other types are skipped.
pub(crate) fn texts(value: &Value, pointer: &str) -> std::collections::BTreeMap<String, String> {
    value
        .pointer(pointer)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}
