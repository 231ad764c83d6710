//! `managedFields`: who wrote an object, how, and when. Clients do not read which fields an entry names, so it names none.

use serde_json::{Value, json};

use crate::kubernetes::api::state::{Resource, WriteContext};
use crate::kubernetes::store::objects::{list, remove, set_list, time};

pub(super) const MANAGED_FIELDS: [&str; 2] = ["metadata", "managedFields"];

/// Records the writer of a new object, or of an update that adds or changes a field. An empty list resets all entries.
pub(super) fn record(
    resource: &Resource,
    old: Option<&Value>,
    value: &mut Value,
    writer: &WriteContext,
) {
    let resets = remove(value, &MANAGED_FIELDS).is_some_and(|list| list == json!([]));
    let mut entries = match old {
        Some(old) if !resets => list(old, &MANAGED_FIELDS).to_vec(),
        _ => Vec::new(),
    };
    if !resets && adds(old, value) {
        let mut entry = json!({
            "manager": writer.manager, "operation": "Update", "apiVersion": resource.api_version(),
            "fieldsType": "FieldsV1", "fieldsV1": {}, "time": time(writer.now),
        });
        if !writer.subresource.is_empty() {
            entry["subresource"] = writer.subresource.into();
        }
        let is_same = |other: &Value| {
            ["manager", "operation", "apiVersion", "subresource"]
                .iter()
                .all(|name| entry.get(name) == other.get(name))
        };
        entries.retain(|other| !is_same(other));
        entries.push(entry);
    }
    set_list(value, &MANAGED_FIELDS, entries);
}

/// Returns true if the new value has something that the old one has not.
fn adds(old: Option<&Value>, new: &Value) -> bool {
    match (old, new) {
        (Some(Value::Object(old)), Value::Object(new)) => {
            new.iter().any(|(name, new)| adds(old.get(name), new))
        }
        (Some(Value::Array(old)), Value::Array(new)) => new.iter().any(|item| !old.contains(item)),
        _ => old != Some(new),
    }
}
