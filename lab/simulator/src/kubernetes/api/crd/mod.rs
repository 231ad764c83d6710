//! Custom resources: definitions, and what a schema prunes, sets by default and rejects.

pub(crate) mod definition;
mod validate;

pub(crate) use definition::complete_definition;
pub(crate) use validate::check;

use serde_json::{Map, Value};

use crate::kubernetes::api::state::Schema;

/// Sets the defaults of missing members.
fn set_defaults(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, schema) in &schema.properties {
                let Some(default) = &schema.default else { continue };
                // A null counts as missing if the member has a default.
                let missing = match members.get(name) {
                    None => true,
                    Some(value) => value.is_null(),
                };
                if missing {
                    members.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in members.iter_mut() {
                if let Some(schema) = schema.member(name) {
                    set_defaults(schema, value);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                for item in items {
                    set_defaults(schema, item);
                }
            }
        }
        _ => {}
    }
}

/// Prunes a whole object, except for its type and metadata.
pub(crate) fn prune(schema: &Schema, object: &mut Value) {
    let Some(members) = object.as_object_mut() else { return };
    let own: Vec<(String, Value)> = ["apiVersion", "kind", "metadata"]
        .iter()
        .filter_map(|name| members.remove_entry(*name))
        .collect();
    prune_members(schema, members);
    members.extend(own);
}

fn prune_value(schema: &Schema, value: &mut Value) {
    match value {
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
