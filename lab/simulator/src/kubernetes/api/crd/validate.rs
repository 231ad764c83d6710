//! Validation against a schema, with the server's messages.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{prune, set_defaults};
use crate::kubernetes::api::state::{FieldError, ListType, Schema};

/// Prunes and defaults an object, and returns its errors.
pub(crate) fn check(schema: &Schema, object: &mut Value) -> Vec<FieldError> {
    prune(schema, object);
    set_defaults(schema, object);
    let mut errors = Vec::new();
    validate(schema, object, "", &mut errors);
    lists(schema, object, "", &mut errors);
    errors
}

fn validate(schema: &Schema, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if !has_type(schema, value) {
        let wanted = if schema.int_or_string { "integer,string" } else { &schema.kind };
        errors.push(FieldError::wrong_type(path, value, wanted));
        return;
    }
    if !schema.allowed.is_empty() && !schema.allowed.contains(value) {
        errors.push(FieldError::unsupported(path, value, &schema.allowed));
    }
    match value {
        Value::String(text) => of_text(schema, text, path, errors),
        Value::Array(items) => of_list(schema, items, path, errors),
        Value::Object(members) => of_object(schema, members, path, errors),
        _ => {}
    }
    let fits = |one: &Schema| {
        let mut errors = Vec::new();
        validate(one, value, path, &mut errors);
        errors.is_empty()
    };
    if !schema.any_of.is_empty() && !schema.any_of.iter().any(fits) {
        let detail = body(path, "must validate at least one schema (anyOf)");
        errors.push(FieldError::invalid(path, value, &detail));
    }
}

fn has_type(schema: &Schema, value: &Value) -> bool {
    if schema.int_or_string {
        return value.is_string() || value.is_i64() || value.is_u64();
    }
    match schema.kind.as_str() {
        "string" => value.is_string(),
        // 1.0 is an integer as well.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn body(path: &str, rest: &str) -> String {
    format!("{path} in body {rest}")
}

fn of_text(schema: &Schema, value: &str, path: &str, errors: &mut Vec<FieldError>) {
    let length = value.chars().count() as u64;
    if let Some((pattern, regex)) = &schema.pattern
        && !regex.is_match(value)
    {
        let detail = body(path, &format!("should match '{pattern}'"));
        errors.push(FieldError::invalid(path, &value.into(), &detail));
    }
    if schema.format == "date-time" && value.parse::<Timestamp>().is_err() {
        let detail = body(path, &format!("must be of type date-time: {value:?}"));
        let message = format!("Invalid value: {value:?}: {detail}");
        errors.push(FieldError::new("FieldValueTypeInvalid", path, message));
    }
    if let Some(most) = schema.max_length.filter(|most| length > *most) {
        errors.push(FieldError::too_long(path, most));
    }
}

fn of_list(schema: &Schema, items: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    if let Some(schema) = &schema.items {
        for (n, item) in items.iter().enumerate() {
            validate(schema, item, &format!("{path}[{n}]"), errors);
        }
    }
}

fn of_object(
    schema: &Schema,
    members: &Map<String, Value>,
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    for name in schema.required.iter().filter(|name| !members.contains_key(*name)) {
        errors.push(FieldError::required(&below(path, name), ""));
    }
    for (name, value) in members {
        if path.is_empty() && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            continue;
        }
        if let Some(schema) = schema.member(name) {
            validate(schema, value, &below(path, name), errors);
        }
    }
}

/// Rejects duplicate elements.
fn lists(schema: &Schema, value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    match value {
        Value::Array(items) => {
            let mut seen = Vec::new();
            for (n, item) in items.iter().enumerate() {
                let place = format!("{path}[{n}]");
                if schema.list_type != ListType::Atomic {
                    let key = schema.list_type.key_of(item);
                    if seen.contains(&key) {
                        errors.push(FieldError::duplicate(&place, &key));
                    } else {
                        seen.push(key);
                    }
                }
                if let Some(schema) = &schema.items {
                    lists(schema, item, &place, errors);
                }
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                if let Some(schema) = schema.member(name) {
                    lists(schema, value, &below(path, name), errors);
                }
            }
        }
        _ => {}
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
