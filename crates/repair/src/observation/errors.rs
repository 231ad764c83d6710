//! Error codes and messages at any depth of an Azure error.

use serde_json::Value;

/// Real errors have at most four levels; hostile ones must not cost more.
const MAX_DEPTH: usize = 16;
const MAX_CODES: usize = 64;
const MAX_MESSAGE: usize = 2048;
/// Members that contain further errors.
const NESTED: [&str; 6] =
    ["error", "details", "innererror", "innerError", "message", "statusMessage"];

/// Codes and messages of an error, outermost first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorTexts {
    /// `code`, `error.code`, `details[].code`, `innererror.code`, and the same in members that contain JSON or `Code="..."`.
    pub codes: Vec<String>,
    /// Messages that are not JSON, in no particular order.
    pub messages: Vec<String>,
}

impl ErrorTexts {
    #[must_use]
    pub fn of(error: &Value) -> Self {
        let mut found = Self::default();
        found.walk(error, 0);
        found
    }

    fn walk(&mut self, value: &Value, depth: usize) {
        if depth > MAX_DEPTH || self.codes.len() >= MAX_CODES {
            return;
        }
        match value {
            Value::Object(members) => {
                self.add(members.get("code").and_then(Value::as_str));
                for inner in NESTED.iter().filter_map(|name| members.get(*name)) {
                    self.walk(inner, depth + 1);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.walk(item, depth + 1)),
            Value::String(text) => self.walk_text(text, depth),
            _ => {}
        }
    }

    fn add(&mut self, code: Option<&str>) {
        let room = self.codes.len() < MAX_CODES;
        self.codes.extend(code.filter(|code| room && !code.is_empty()).map(str::to_owned));
    }

    /// Reads JSON in a text, and errors printed by Go clients: `Code="X" Message="..."`.
    fn walk_text(&mut self, text: &str, depth: usize) {
        let trimmed = text.trim_start();
        if trimmed.starts_with(['{', '[']) {
            if let Ok(inner) = serde_json::from_str::<Value>(trimmed) {
                self.walk(&inner, depth + 1);
            }
            return;
        }
        for rest in text.split("Code=\"").skip(1) {
            self.add(rest.split_once('"').map(|(code, _)| code));
        }
        if !trimmed.is_empty() && self.messages.len() < MAX_CODES {
            self.messages.push(text.chars().take(MAX_MESSAGE).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn codes(error: &Value) -> Vec<String> {
        ErrorTexts::of(error).codes
    }

    #[test]
    fn code_is_found_at_any_depth() {
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
    fn messages_are_found_at_any_depth_and_cut() {
        let error = json!({"error": {"message": "outer", "details": [{"message": "{\"message\": \"inner\"}"}]}});
        assert_eq!(ErrorTexts::of(&error).messages, ["inner", "outer"]);
        let long = ErrorTexts::of(&json!({"message": "ä".repeat(5000)}));
        assert_eq!(long.messages[0].chars().count(), MAX_MESSAGE);
        let many: Vec<_> = (0..200).map(|_| json!({"message": "m"})).collect();
        assert_eq!(ErrorTexts::of(&json!({"details": many})).messages.len(), MAX_CODES);
    }

    #[test]
    fn hostile_error_is_read_to_a_limit() {
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
            // A text is a level, and so is its content.
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
