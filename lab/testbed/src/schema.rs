//! Validates documents against JSON Schemas. Only the keywords that the published schemas use are known.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Validates a document against the published schema that it names.
///
/// # Errors
///
/// Fails if it names no published schema, or does not match it.
pub fn validate_named(document: &Value) -> Result<(), String> {
    let id = document["schema"].as_str().ok_or_else(|| format!("no schema: {document}"))?;
    let name = id.strip_prefix("mooring.").unwrap_or(id).replace("/v", ".v");
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/mooring/schemas");
    let text = fs::read_to_string(directory.join(format!("{name}.json")))
        .map_err(|error| format!("{id}: {error}"))?;
    let schema: Value = serde_json::from_str(&text).map_err(|error| format!("{id}: {error}"))?;
    validate(document, &schema).map_err(|why| format!("{id}: {why}\n{document:#}"))
}

/// Validates a document. A member that the schema does not have is an error, although a schema allows new members.
///
/// # Errors
///
/// Fails with the path of the value that does not match.
pub fn validate(document: &Value, schema: &Value) -> Result<(), String> {
    Validator { root: schema }.validate(document, schema, "$")
}

struct Validator<'a> {
    root: &'a Value,
}

impl Validator<'_> {
    fn validate(&self, value: &Value, schema: &Value, at: &str) -> Result<(), String> {
        for (keyword, rule) in members(schema) {
            self.rule(value, schema, keyword, rule, at)?;
        }
        Ok(())
    }

    fn rule(
        &self,
        value: &Value,
        schema: &Value,
        keyword: &str,
        rule: &Value,
        at: &str,
    ) -> Result<(), String> {
        let holds = match keyword {
            "$schema" | "$id" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let path = rule.as_str().and_then(|path| path.strip_prefix('#'));
                let found = path.and_then(|path| self.root.pointer(path));
                let found = found.ok_or_else(|| format!("{at}: no definition {rule}"))?;
                return self.validate(value, found, at);
            }
            "const" => value == rule,
            "anyOf" => return self.any_of(value, rule, at),
            "enum" => items(rule).contains(value),
            "type" if rule.is_array() => items(rule).iter().any(|kind| is_type(value, kind)),
            "type" => is_type(value, rule),
            "format" if rule == "date-time" => value.as_str().is_none_or(is_time),
            "minimum" => value.as_i64() >= rule.as_i64(),
            "maximum" => value.as_i64() <= rule.as_i64(),
            "required" => {
                let names = items(rule).iter().filter_map(Value::as_str);
                let missing: Vec<&str> = names.filter(|name| value.get(name).is_none()).collect();
                if !missing.is_empty() {
                    return Err(format!("{at}: missing {missing:?}"));
                }
                true
            }
            "properties" | "additionalProperties" => return self.properties(value, schema, at),
            "items" => {
                for (index, item) in items(value).iter().enumerate() {
                    self.validate(item, rule, &format!("{at}[{index}]"))?;
                }
                true
            }
            _ => return Err(format!("{at}: unknown keyword {keyword}")),
        };
        if holds { Ok(()) } else { Err(format!("{at}: {value} does not match {keyword} {rule}")) }
    }

    fn any_of(&self, value: &Value, choices: &Value, at: &str) -> Result<(), String> {
        let mut errors = Vec::new();
        for choice in items(choices) {
            match self.validate(value, choice, at) {
                Ok(()) => return Ok(()),
                Err(error) => errors.push(error),
            }
        }
        Err(errors.join("; or "))
    }

    fn properties(&self, value: &Value, schema: &Value, at: &str) -> Result<(), String> {
        for (name, member) in members(value) {
            let of_member = schema["properties"].get(name);
            let of_others = schema.get("additionalProperties");
            let Some(rule) = of_member.or(of_others) else {
                return Err(format!("{at}: unknown member {name}"));
            };
            self.validate(member, rule, &format!("{at}.{name}"))?;
        }
        Ok(())
    }
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn is_time(text: &str) -> bool {
    text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok()
}

fn is_type(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap_or_default() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schema_rules_reject_what_does_not_match() {
        let schema = json!({
            "type": "object",
            "required": ["kind"],
            "properties": {
                "kind": {"enum": ["a", "b"]},
                "at": {"type": ["string", "null"], "format": "date-time"},
                "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}},
                "one": {"anyOf": [{"const": 1}, {"type": "null"}]},
                "texts": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "$defs": {"part": {"type": "integer", "minimum": 1, "maximum": 3}},
        });
        let valid = json!({
            "kind": "a", "at": "2026-11-17T09:14:05Z", "parts": [1, 3], "one": null, "texts": {"x": "y"},
        });
        assert_eq!(validate(&valid, &schema), Ok(()));
        for (name, value, error) in [
            ("kind", json!("c"), "$.kind: \"c\" does not match enum"),
            ("at", json!("2026-11-17"), "$.at: \"2026-11-17\" does not match format"),
            ("at", json!(7), "$.at: 7 does not match type"),
            ("parts", json!([1, 4]), "$.parts[1]: 4 does not match maximum"),
            ("parts", json!([0]), "$.parts[0]: 0 does not match minimum"),
            ("one", json!(2), "$.one: 2 does not match const 1; or $.one: 2 does not match type"),
            ("texts", json!({"x": 1}), "$.texts.x: 1 does not match type"),
            ("new", json!(1), "$: unknown member new"),
        ] {
            let mut document = valid.clone();
            document[name] = value;
            let found = validate(&document, &schema).unwrap_err();
            assert!(found.starts_with(error), "{found}");
        }
        let found = validate(&json!({}), &schema).unwrap_err();
        assert!(found.starts_with("$: missing [\"kind\"]"), "{found}");
        assert!(validate(&json!([]), &schema).is_err());
        assert!(validate(&json!(1), &json!({"pattern": "x"})).is_err(), "an unknown keyword");
    }

    #[test]
    fn document_is_validated_against_the_schema_that_it_names() {
        let mut version = json!({"schema": "mooring.error/v9"});
        assert!(validate_named(&version).unwrap_err().starts_with("mooring.error/v9: "));
        version["schema"] = "mooring.error/v1".into();
        assert!(validate_named(&version).unwrap_err().contains("$: missing "));
        assert!(validate_named(&json!({})).is_err());
    }
}
