//! Errors that Azure returned.

use std::fmt;

use serde_json::Value;

use crate::text::safe;

/// Nested details that are kept, over all levels.
const MAX_DETAILS: usize = 32;
const MAX_DEPTH: usize = 8;

/// An error that Azure returned, in any of the formats that its services use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AzureError {
    /// HTTP status; 0 if the error is part of a document.
    pub status: u16,
    pub code: Option<String>,
    pub message: String,
    /// Nested errors of `details` and `innererror`, flattened, outermost first: code and message.
    pub details: Vec<(Option<String>, String)>,
}

impl AzureError {
    /// Reads an error from any body. The header `x-ms-error-code` takes precedence.
    pub fn read(status: u16, header_code: Option<&str>, body: &[u8]) -> Self {
        // A document that is not an error may contain secrets and is not quoted; plain text from a proxy is.
        let mut refusal = match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::of(&value),
            Err(_) => Self {
                message: safe(&String::from_utf8_lossy(&body[..body.len().min(2048)])),
                ..Self::default()
            },
        };
        refusal.status = status;
        if let Some(code) = header_code {
            refusal.code = Some(safe(code));
        }
        refusal
    }

    /// Reads an error from a document: `{"error": {…}}`, the error itself, or a JSON string of either (as in
    /// `statusMessage` of the activity log).
    pub fn of(value: &Value) -> Self {
        if let Value::String(text) = value {
            return match serde_json::from_str::<Value>(text) {
                Ok(inner) if inner.is_object() => Self::of(&inner),
                _ => Self { message: safe(text), ..Self::default() },
            };
        }
        let error = value.get("error").filter(|error| error.is_object()).unwrap_or(value);
        let mut refusal = Self {
            status: 0,
            code: text_of(error, "code"),
            message: text_of(error, "message").unwrap_or_default(),
            details: Vec::new(),
        };
        nested(error, 0, &mut refusal.details);
        refusal
    }

    /// Returns all codes, outermost first.
    pub fn codes(&self) -> impl Iterator<Item = &str> {
        self.code
            .iter()
            .chain(self.details.iter().filter_map(|(code, _)| code.as_ref()))
            .map(String::as_str)
    }

    /// Returns the missing permission, if Azure denied access.
    pub fn missing_permission(&self) -> Option<MissingPermission> {
        const CODES: [&str; 2] = ["AuthorizationFailed", "LinkedAuthorizationFailed"];
        let is_one = |code: &Option<String>| {
            code.as_deref()
                .is_some_and(|code| CODES.iter().any(|one| one.eq_ignore_ascii_case(code)))
        };
        let own = std::iter::once((&self.code, &self.message));
        let nested = self.details.iter().map(|(code, message)| (code, message));
        let mut denials = own.chain(nested).filter(|(code, _)| is_one(code));
        denials.find_map(|(_, message)| MissingPermission::read(message))
    }

    pub fn has_code(&self, code: &str) -> bool {
        self.codes().any(|own| own.eq_ignore_ascii_case(code))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingPermission {
    pub action: String,
    /// Empty if Azure does not name it.
    pub scope: String,
}

impl MissingPermission {
    /// Parses Azure's message, which may first name an action that is allowed (if a linked resource is the cause).
    fn read(message: &str) -> Option<Self> {
        let (_, rest) = message.split_once("does not have ")?;
        let (_, rest) = rest.split_once("perform action")?;
        let mut quoted = rest.split('\'').skip(1).step_by(2);
        let action = quoted.next().filter(|action| !action.is_empty())?.to_owned();
        Some(Self { action, scope: quoted.next().unwrap_or_default().to_owned() })
    }
}

impl fmt::Display for MissingPermission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.action)?;
        if self.scope.is_empty() { Ok(()) } else { write!(f, " on {}", self.scope) }
    }
}

impl fmt::Display for AzureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.as_deref().unwrap_or("no code");
        if self.status != 0 {
            write!(f, "HTTP {} ", self.status)?;
        }
        f.write_str(code)?;
        if self.message.is_empty() { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}

fn text_of(value: &Value, name: &str) -> Option<String> {
    let text = match value.get(name)? {
        Value::String(text) => safe(text),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn nested(error: &Value, depth: usize, found: &mut Vec<(Option<String>, String)>) {
    if depth >= MAX_DEPTH {
        return;
    }
    let details = error.get("details").and_then(Value::as_array).into_iter().flatten();
    let inner = ["innererror", "innerError"].iter().filter_map(|name| error.get(*name));
    for detail in details.chain(inner).filter(|detail| detail.is_object()) {
        if found.len() >= MAX_DETAILS {
            return;
        }
        found.push((text_of(detail, "code"), text_of(detail, "message").unwrap_or_default()));
        nested(detail, depth + 1, found);
    }
    // Services put another service's error as JSON text into their own message.
    if let Some(Value::String(message)) = error.get("message")
        && message.trim_start().starts_with('{')
        && let Ok(wrapped) = serde_json::from_str::<Value>(message)
        && found.len() < MAX_DETAILS
    {
        let wrapped = wrapped.get("error").cloned().unwrap_or(wrapped);
        found.push((text_of(&wrapped, "code"), text_of(&wrapped, "message").unwrap_or_default()));
        nested(&wrapped, depth + 1, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: Option<&str>, body: &str) -> AzureError {
        AzureError::read(400, header, body.as_bytes())
    }

    #[test]
    fn code_is_read_from_header_then_error_then_top_level() {
        for (header, body, code) in [
            (Some("H"), r#"{"error":{"code":"E"},"code":"T"}"#, Some("H")),
            (None, r#"{"error":{"code":"E"},"code":"T"}"#, Some("E")),
            (None, r#"{"code":"T","details":null,"message":"m","subcode":""}"#, Some("T")),
            (None, r#"{"error":{"code":429}}"#, Some("429")),
            (None, r#"{"error":{"code":""}}"#, None),
            (None, r#"{"error":{"code":["E"]}}"#, None),
            (None, "<html>gateway</html>", None),
            (None, "", None),
        ] {
            assert_eq!(read(header, body).code.as_deref(), code, "{body}");
        }
        assert_eq!(read(None, "<html>\u{1b}bad</html>").message, "<html>bad</html>");
    }

    #[test]
    fn nested_codes_are_kept_at_any_depth() {
        let body = r#"{"error":{"code":"A","message":"{\"error\":{\"code\":\"W\",\"message\":\"w\"}}","details":[{"code":"B","details":[{"code":"C"}]}],"innererror":{"code":"D"}}}"#;
        let refusal = read(None, body);
        assert_eq!(refusal.codes().collect::<Vec<_>>(), ["A", "B", "C", "D", "W"]);
        assert!(refusal.has_code("w") && refusal.has_code("A") && !refusal.has_code("x"));
    }

    #[test]
    fn missing_permission_is_the_one_of_the_linked_resource() {
        let of = |code: &str, message: &str| {
            let body = serde_json::json!({"error": {"code": code, "message": message}});
            AzureError::of(&body).missing_permission().map(|permission| permission.to_string())
        };
        let linked = |action: &str| {
            format!(
                "The client 'c' with object id 'o' has permission to perform action 'A/write' on scope '/p'; however, it does not have permission to perform {action} 'N/join/action' on the linked scope(s) '/net/s' or the linked scope(s) are invalid."
            )
        };
        for action in ["action", "action(s)"] {
            let permission = of("LinkedAuthorizationFailed", &linked(action));
            assert_eq!(permission.as_deref(), Some("N/join/action on /net/s"), "{action}");
        }
        let plain = "The client 'c' with object id 'o' does not have authorization to perform action 'A/read' over scope '/x' or the scope is invalid.";
        assert_eq!(of("AuthorizationFailed", plain).as_deref(), Some("A/read on /x"));
        assert_eq!(of("OperationNotAllowed", plain), None);
        assert_eq!(of("AuthorizationFailed", "No."), None);
        assert_eq!(of("AuthorizationFailed", "does not have x to perform action ''"), None);
    }

    #[test]
    fn error_in_json_text_is_read() {
        let value =
            Value::String(r#"{"status":"Failed","error":{"code":"X","message":"y"}}"#.to_owned());
        assert_eq!(AzureError::of(&value).to_string(), "X: y");
        for text in ["plain", "12", "[]"] {
            assert_eq!(AzureError::of(&Value::String(text.into())).message, text);
        }
    }

    #[test]
    fn document_that_is_not_an_error_is_not_quoted() {
        let text = |body: &str| AzureError::read(403, None, body.as_bytes()).to_string();
        assert_eq!(text(r#"{"kubeconfigs": [{"value": "CANARY"}]}"#), "HTTP 403 no code");
        assert_eq!(text("<h1>Bad gateway</h1>"), "HTTP 403 no code: <h1>Bad gateway</h1>");
        assert!(!text("<a href=\"https://host/?token=CANARY\">moved</a>").contains("CANARY"));
    }

    #[test]
    fn hostile_nesting_is_bounded() {
        let mut error = serde_json::json!({"code": "end"});
        for _ in 0..60 {
            error = serde_json::json!({"code": "n", "details": [error.clone(), {"code": "x"}]});
        }
        assert!(AzureError::of(&error).details.len() <= MAX_DETAILS);
    }

    #[test]
    fn details_are_kept_up_to_a_depth_and_a_number() {
        let count = |error: &Value| AzureError::of(error).details.len();
        let (mut inside, mut wrapped) = (serde_json::json!({}), serde_json::json!({}));
        for _ in 0..MAX_DEPTH + 2 {
            inside = serde_json::json!({"details": [inside]});
            wrapped = serde_json::json!({"message": wrapped.to_string()});
        }
        assert_eq!((count(&inside), count(&wrapped)), (MAX_DEPTH, MAX_DEPTH));
        for (number, kept) in [(1, 2), (MAX_DETAILS - 1, MAX_DETAILS), (MAX_DETAILS, MAX_DETAILS)] {
            let details = vec![serde_json::json!({"code": "d"}); number];
            let error = serde_json::json!({"details": details, "message": "{}"});
            assert_eq!(count(&error), kept, "{number}");
        }
        let details = vec![serde_json::json!({"code": "d"}); MAX_DETAILS + 1];
        assert_eq!(count(&serde_json::json!({ "details": details })), MAX_DETAILS);
    }
}
