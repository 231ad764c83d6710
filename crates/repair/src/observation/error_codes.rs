//! The error codes in an Azure error, wherever they are hidden.

use serde_json::Value;

/// How deep and how many: an error is nested four levels at most in the field, and a hostile one must not
/// cost more than a real one.
const MAX_DEPTH: usize = 16;
const MAX_CODES: usize = 64;

/// All codes of an error, outermost first: `code`, `error.code`, `details[].code`, `innererror.code`, and
/// the same inside members that are JSON in a string or say `Code="..."`.
#[must_use]
pub fn codes(error: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(error, 0, &mut found);
    found
}

/// True if the error carries this code at any depth.
#[must_use]
pub fn carries(error: &Value, code: &str) -> bool {
    codes(error).iter().any(|found| found == code)
}

fn walk(value: &Value, depth: usize, found: &mut Vec<String>) {
    if depth > MAX_DEPTH || found.len() >= MAX_CODES {
        return;
    }
    match value {
        Value::Object(members) => {
            if let Some(code) = members.get("code").and_then(Value::as_str)
                && !code.is_empty()
            {
                found.push(code.to_owned());
            }
            for name in ["error", "details", "innererror", "innerError", "message", "statusMessage"]
            {
                if let Some(inner) = members.get(name) {
                    walk(inner, depth + 1, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, depth + 1, found)),
        Value::String(text) => within_text(text, depth, found),
        _ => {}
    }
}

/// A text may be JSON itself, or an error printed by a Go client: `Code="X" Message="..."`.
fn within_text(text: &str, depth: usize, found: &mut Vec<String>) {
    let trimmed = text.trim_start();
    if trimmed.starts_with(['{', '[']) {
        if let Ok(inner) = serde_json::from_str::<Value>(trimmed) {
            walk(&inner, depth + 1, found);
        }
        return;
    }
    for rest in text.split("Code=\"").skip(1) {
        if let Some((code, _)) = rest.split_once('"')
            && !code.is_empty()
            && found.len() < MAX_CODES
        {
            found.push(code.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_code_is_found_at_any_depth() {
        for (error, expected) in [
            (json!({"code": "A"}), vec!["A"]),
            (json!({"error": {"code": "A"}}), vec!["A"]),
            (
                json!({"error": {"code": "A", "details": [{"code": "B"}, {"code": "C"}]}}),
                vec!["A", "B", "C"],
            ),
            (json!({"error": {"code": "A", "innererror": {"code": "B"}}}), vec!["A", "B"]),
            (json!({"error": {"innerError": {"code": "B"}}}), vec!["B"]),
            (
                json!({"error": {"code": "A", "message": "{\"error\":{\"code\":\"B\"}}"}}),
                vec!["A", "B"],
            ),
            (json!(" [{\"code\":\"A\"}]"), vec!["A"]),
            (json!({"statusMessage": "{\"code\":\"A\"}"}), vec!["A"]),
            (json!({"message": "Code=\"A\" Message=\"no\" Code=\"B\""}), vec!["A", "B"]),
            (json!({"error": {"code": ""}}), vec![]),
            (json!({"message": "Code=\"\" Code=\"unclosed"}), vec![]),
            (json!({"message": "not-valid-json {\"code\":\"A\"}"}), vec![]),
            (json!({"other": {"code": "A"}}), vec![]),
            (json!({"code": 7}), vec![]),
            (json!(null), vec![]),
        ] {
            assert_eq!(codes(&error), expected, "{error}");
        }
    }

    #[test]
    fn only_the_whole_code_counts() {
        let error = json!({"error": {"code": "NetworkingInternalOperationErrorX"}});
        assert!(!carries(&error, "NetworkingInternalOperationError"));
        assert!(carries(&error, "NetworkingInternalOperationErrorX"));
    }

    #[test]
    fn a_hostile_error_is_read_to_a_bound() {
        let mut deep = json!({"code": "bottom"});
        for _ in 0..MAX_DEPTH {
            deep = json!({"error": deep});
        }
        assert_eq!(codes(&deep), ["bottom"]);
        assert_eq!(codes(&json!({"error": deep})), Vec::<String>::new());
        // The same in lists, and in texts that are JSON themselves.
        let (mut lists, mut texts) = (json!({"code": "bottom"}), json!({"code": "bottom"}));
        for level in 0..MAX_DEPTH {
            lists = json!([lists]);
            // A text is a level of its own, and so is what it holds.
            if level % 2 == 0 {
                texts = json!({"message": texts.to_string()});
            }
        }
        assert_eq!(codes(&lists), ["bottom"]);
        assert_eq!(codes(&json!([lists])), Vec::<String>::new());
        assert_eq!(codes(&texts), ["bottom"]);
        assert_eq!(codes(&json!({"message": texts.to_string()})), Vec::<String>::new());
        let wide: Vec<_> = (0..200).map(|_| json!({"code": "X"})).collect();
        assert_eq!(codes(&json!({"details": wide})).len(), MAX_CODES);
        let text = "Code=\"X\" ".repeat(200);
        assert_eq!(codes(&json!({"message": text})).len(), MAX_CODES);
    }
}
