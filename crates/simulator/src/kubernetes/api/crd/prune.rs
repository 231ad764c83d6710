//! Removal of members that the schema does not have.

use serde_json::Value;

use crate::kubernetes::api::state::Schema;

/// Prunes a whole object, except for its type and metadata.
pub(super) fn apply(schema: &Schema, object: &mut Value) {
    let Some(members) = object.as_object_mut() else { return };
    let own: Vec<(String, Value)> = ["apiVersion", "kind", "metadata"]
        .iter()
        .filter_map(|name| members.remove_entry(*name))
        .collect();
    prune(schema, object);
    if let Some(members) = object.as_object_mut() {
        members.extend(own);
    }
}

fn prune(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(members) => {
            if schema.embedded {
                let own: Vec<(String, Value)> = ["apiVersion", "kind", "metadata"]
                    .iter()
                    .filter_map(|name| members.remove_entry(*name))
                    .collect();
                prune_members(schema, members);
                members.extend(own);
            } else {
                prune_members(schema, members);
            }
        }
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                for item in items {
                    prune(schema, item);
                }
            }
        }
        _ => {}
    }
}

fn prune_members(schema: &Schema, members: &mut serde_json::Map<String, Value>) {
    if schema.additional.is_none() && !schema.keeps_unknown {
        members.retain(|name, _| schema.properties.contains_key(name));
    }
    for (name, value) in members.iter_mut() {
        if let Some(schema) = schema.properties.get(name).or(schema.additional.as_deref()) {
            prune(schema, value);
        }
    }
}
