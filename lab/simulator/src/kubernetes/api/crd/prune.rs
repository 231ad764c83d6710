//! Removal of members that the schema does not have.

use serde_json::{Map, Value};

use crate::kubernetes::api::state::Schema;

/// Prunes a whole object, except for its type and metadata.
pub(crate) fn prune(schema: &Schema, object: &mut Value) {
    if let Some(members) = object.as_object_mut() {
        prune_object(schema, members);
    }
}

fn prune_object(schema: &Schema, members: &mut Map<String, Value>) {
    let own: Vec<(String, Value)> = ["apiVersion", "kind", "metadata"]
        .iter()
        .filter_map(|name| members.remove_entry(*name))
        .collect();
    prune_members(schema, members);
    members.extend(own);
}

fn prune_value(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(members) if schema.embedded => prune_object(schema, members),
        Value::Object(members) => prune_members(schema, members),
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                for item in items {
                    prune_value(schema, item);
                }
            }
        }
        _ => {}
    }
}

fn prune_members(schema: &Schema, members: &mut Map<String, Value>) {
    if schema.additional.is_none() && !schema.keeps_unknown {
        members.retain(|name, _| schema.properties.contains_key(name));
    }
    for (name, value) in members.iter_mut() {
        if let Some(schema) = schema.member(name) {
            prune_value(schema, value);
        }
    }
}
