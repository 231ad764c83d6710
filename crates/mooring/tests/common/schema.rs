//! Validates documents against the schemas that `mooring schema` prints. Only the keywords that these use are known.

use serde_json::Value;

use super::{mooring, text};

/// Fails if the document does not match the schema that it names, or has a member that the schema does not.
pub(crate) fn assert_valid(document: &Value) {
    let id = document["schema"].as_str().expect("a schema");
    let printed = mooring().args(["schema", id]).output().unwrap();
    assert!(printed.status.success(), "{id}: {}", text(&printed.stderr));
    let schema: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let first = document.as_object().unwrap();
    assert!(first.contains_key("schema"));
    if let Err(error) = validate(document, &schema, &schema, "$") {
        panic!("{id}: {error}\n{document:#}");
    }
    if !matches!(id, "mooring.explain/v1") {
        assert_plain_names(document);
    }
}

/// Fails for members in `snake_case`, and for those called `reason`.
fn assert_plain_names(value: &Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                assert!(!name.contains('_') && name != "reason", "{name}");
                assert_plain_names(value);
            }
        }
        Value::Array(items) => items.iter().for_each(assert_plain_names),
        _ => {}
    }
}

pub(crate) fn validate(
    value: &Value,
    schema: &Value,
    root: &Value,
    at: &str,
) -> Result<(), String> {
    let fail = |why: String| Err(format!("{at}: {why}"));
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        let holds = match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let path = rule.as_str().unwrap().strip_prefix('#').unwrap();
                validate(value, root.pointer(path).expect("a definition"), root, at)?;
                true
            }
            "const" => value == rule,
            "anyOf" => {
                let mut choices = rule.as_array().unwrap().iter();
                choices.any(|choice| validate(value, choice, root, at).is_ok())
            }
            "enum" => rule.as_array().unwrap().contains(value),
            "type" => match rule {
                Value::Array(types) => types.iter().any(|kind| is_type(value, kind)),
                kind => is_type(value, kind),
            },
            "format" => {
                assert_eq!(rule, "date-time");
                value.as_str().is_none_or(|time| {
                    time.ends_with('Z') && time.parse::<jiff::Timestamp>().is_ok()
                })
            }
            "minimum" => value.as_i64() >= rule.as_i64(),
            "maximum" => value.as_i64() <= rule.as_i64(),
            "required" => {
                let names = rule.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                let missing: Vec<&str> = names.filter(|name| value.get(name).is_none()).collect();
                if !missing.is_empty() {
                    return fail(format!("missing {missing:?}"));
                }
                true
            }
            "properties" => {
                for (name, member) in value.as_object().into_iter().flatten() {
                    let Some(of_member) = rule.get(name) else {
                        return fail(format!("unknown member {name}"));
                    };
                    validate(member, of_member, root, &format!("{at}.{name}"))?;
                }
                true
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    validate(item, rule, root, &format!("{at}[{index}]"))?;
                }
                true
            }
            other => panic!("unknown keyword {other}"),
        };
        if !holds {
            return fail(format!("{value} does not match {keyword} {rule}"));
        }
    }
    Ok(())
}

fn is_type(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    }
}
