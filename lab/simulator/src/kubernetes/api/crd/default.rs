//! Defaults of missing members.

use serde_json::Value;

use crate::kubernetes::api::state::Schema;

pub(super) fn apply(schema: &Schema, value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, schema) in &schema.properties {
                let Some(default) = &schema.default else { continue };
                // A null that is not allowed counts as missing if the member has a default.
                let missing = match members.get(name) {
                    None => true,
                    Some(Value::Null) => !schema.nullable,
                    Some(_) => false,
                };
                if missing {
                    members.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in members.iter_mut() {
                if let Some(schema) = schema.member(name) {
                    apply(schema, value);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                for item in items {
                    apply(schema, item);
                }
            }
        }
        _ => {}
    }
}
