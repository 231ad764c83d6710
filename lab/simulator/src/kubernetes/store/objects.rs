//! Reading and changing the JSON of an object.

use jiff::Timestamp;
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    pub name: String,
}

impl Key {
    /// Returns a namespaced or cluster-scoped key.
    pub fn new(namespace: Option<&str>, name: &str) -> Self {
        Self { namespace: namespace.unwrap_or_default().to_owned(), name: name.to_owned() }
    }
}

/// Returns a member by its path; none if any part is missing.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, part| value.get(*part))
}

/// Returns a string by its path; empty if missing.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    at(value, path).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn number(value: &Value, path: &[&str]) -> Option<i64> {
    at(value, path).and_then(Value::as_i64)
}

/// Returns a boolean by its path; false if missing.
pub(crate) fn flag(value: &Value, path: &[&str]) -> bool {
    at(value, path).and_then(Value::as_bool).unwrap_or_default()
}

pub(crate) fn list<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the strings of a list.
pub(crate) fn texts<'a>(
    value: &'a Value,
    path: &[&str],
) -> impl Iterator<Item = &'a str> + use<'a> {
    list(value, path).iter().filter_map(Value::as_str)
}

/// Sets a member, creating missing parents.
pub(crate) fn set(value: &mut Value, path: &[&str], new: impl Into<Value>) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut value = value;
    for part in parents {
        value = members(value).entry(*part).or_insert(Value::Null);
    }
    members(value).insert((*last).to_owned(), new.into());
}

pub(crate) fn remove_finalizer(value: &mut Value, finalizer: &str) {
    let mut left = list(value, &["metadata", "finalizers"]).to_vec();
    left.retain(|one| one != finalizer);
    set_list(value, &["metadata", "finalizers"], left);
}

/// Sets a list, or removes it if it is empty.
pub(crate) fn set_list<T: Into<Value>>(value: &mut Value, path: &[&str], items: Vec<T>) {
    if items.is_empty() {
        remove(value, path);
    } else {
        set(value, path, items);
    }
}

pub(crate) fn remove(value: &mut Value, path: &[&str]) -> Option<Value> {
    let (last, parents) = path.split_last()?;
    let mut value = value;
    for part in parents {
        value = value.get_mut(*part)?;
    }
    value.as_object_mut()?.remove(*last)
}

/// Returns the members of an object; replaces any other value by an object.
pub(crate) fn members(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(members) => members,
        _ => unreachable!("it was just made an object"),
    }
}

pub(crate) fn name(object: &Value) -> &str {
    text(object, &["metadata", "name"])
}

pub(crate) fn namespace(object: &Value) -> &str {
    text(object, &["metadata", "namespace"])
}

pub(crate) fn uid(object: &Value) -> &str {
    text(object, &["metadata", "uid"])
}

pub(crate) fn key_of(object: &Value) -> Key {
    Key { namespace: namespace(object).to_owned(), name: name(object).to_owned() }
}

pub(crate) fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    texts(object, &["metadata", "finalizers"])
}

pub(crate) fn is_being_deleted(object: &Value) -> bool {
    at(object, &["metadata", "deletionTimestamp"]).is_some_and(Value::is_string)
}

pub(crate) fn labels(object: &Value) -> impl Iterator<Item = (&str, &str)> {
    pairs(at(object, &["metadata", "labels"]))
}

pub(crate) fn pairs(map: Option<&Value>) -> impl Iterator<Item = (&str, &str)> {
    map.and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a str> {
    list(object, &["status", "conditions"])
        .iter()
        .find(|condition| text(condition, &["type"]) == kind)
        .map(|condition| text(condition, &["status"]))
}

/// Sets a condition; its transition time changes only with the status.
pub(crate) fn set_condition(
    object: &mut Value,
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
    now: Timestamp,
) {
    let mut condition = serde_json::json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": time(now),
    });
    let status_part = members(object).entry("status").or_insert(Value::Null);
    let conditions = members(status_part).entry("conditions").or_insert(Value::Null);
    if !conditions.is_array() {
        *conditions = Value::Array(Vec::new());
    }
    let Some(conditions) = conditions.as_array_mut() else { return };
    match conditions.iter_mut().find(|old| text(old, &["type"]) == kind) {
        Some(old) => {
            if text(old, &["status"]) == status {
                condition["lastTransitionTime"] = old["lastTransitionTime"].take();
            }
            *old = condition;
        }
        None => conditions.push(condition),
    }
}

/// Formats a time as in objects: whole seconds.
pub(crate) fn time(now: Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

pub(crate) fn time_at(object: &Value, path: &[&str]) -> Option<Timestamp> {
    text(object, path).parse().ok()
}
