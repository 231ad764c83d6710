//! Errors as the API server words them: `Status` objects.

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use super::catalog::Resource;

#[derive(Debug, Clone, PartialEq)]
pub struct StatusError {
    pub code: u16,
    /// Machine-readable reason; some errors have none.
    pub reason: &'static str,
    pub message: String,
    details: Value,
}

pub(crate) type ApiResult<T> = Result<T, StatusError>;

/// Body for an unknown path.
const PAGE_NOT_FOUND: &str = "404 page not found\n";

/// An error of one field, and a cause in the details of a [`StatusError`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{field}: {message}")]
pub(crate) struct FieldError {
    reason: &'static str,
    pub(crate) field: String,
    pub(crate) message: String,
}

impl FieldError {
    pub(crate) fn new(reason: &'static str, field: &str, message: String) -> Self {
        Self { reason, field: field.to_owned(), message }
    }

    pub(crate) fn required(field: &str, detail: &str) -> Self {
        let colon = if detail.is_empty() { "" } else { ": " };
        Self::new("FieldValueRequired", field, format!("Required value{colon}{detail}"))
    }

    pub(crate) fn invalid(field: &str, value: &Value, detail: &str) -> Self {
        let message = format!("Invalid value: {}: {detail}", shown(value));
        Self::new("FieldValueInvalid", field, message)
    }

    pub(crate) fn too_long(field: &str, most: u64) -> Self {
        let message = format!("Too long: may not be more than {most} bytes");
        Self::new("FieldValueTooLong", field, message)
    }

    pub(crate) fn wrong_type(field: &str, value: &Value, wanted: &str) -> Self {
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let detail = format!("{field} in body must be of type {wanted}: \"{found}\"");
        // The validator names the type twice and shows no value.
        Self::new("FieldValueTypeInvalid", field, format!("Invalid value: \"{found}\": {detail}"))
    }

    pub(crate) fn unsupported(field: &str, value: &Value, allowed: &[Value]) -> Self {
        let allowed = allowed.iter().map(shown).collect::<Vec<_>>().join(", ");
        let message = format!("Unsupported value: {}: supported values: {allowed}", shown(value));
        Self::new("FieldValueNotSupported", field, message)
    }

    pub(crate) fn duplicate(field: &str, value: &Value) -> Self {
        Self::new("FieldValueDuplicate", field, format!("Duplicate value: {}", go_shown(value)))
    }

    pub(crate) fn forbidden(field: &str, detail: &str) -> Self {
        Self::new("FieldValueForbidden", field, format!("Forbidden: {detail}"))
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        other => other.to_string(),
    }
}

/// Formats keys of a map-typed list as Go prints a map.
fn go_shown(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("{name:?}:{}", shown(value))).collect();
            format!("map[string]interface {{}}{{{}}}", members.join(", "))
        }
        other => shown(other),
    }
}

impl StatusError {
    pub(crate) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self { code, reason, message: message.into(), details: Value::Null }
    }

    pub(crate) fn with_details(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    fn about(self, group: &str, kind: &str, name: &str) -> Self {
        let mut details = json!({"kind": kind});
        if !name.is_empty() {
            details["name"] = name.into();
        }
        if !group.is_empty() {
            details["group"] = group.into();
        }
        self.with_details(details)
    }

    fn of(self, resource: &Resource, name: &str) -> Self {
        self.about(&resource.group, &resource.plural, name)
    }

    pub(crate) fn not_found(resource: &Resource, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} {name:?} not found", resource.qualified()))
            .of(resource, name)
    }

    pub(crate) fn namespace_not_found(name: &str) -> Self {
        let message = format!("namespaces {name:?} not found");
        Self::new(404, "NotFound", message).about("", "namespaces", name)
    }

    pub(crate) fn no_such_resource() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
            .with_details(json!({}))
    }

    pub(crate) fn page_not_found() -> Self {
        Self::new(404, "", PAGE_NOT_FOUND)
    }

    /// Returns true if it is sent as plain text.
    pub(crate) fn is_page(&self) -> bool {
        self.code == 404 && self.message == PAGE_NOT_FOUND
    }

    pub(crate) fn already_exists(resource: &Resource, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{} {name:?} already exists", resource.qualified()))
            .of(resource, name)
    }

    pub(crate) fn modified(resource: &Resource, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        let message =
            format!("Operation cannot be fulfilled on {} {name:?}: {why}", resource.qualified());
        Self::new(409, "Conflict", message).of(resource, name)
    }

    /// Returns a failed precondition: named by kind, as the server does.
    pub(crate) fn precondition(resource: &Resource, name: &str, why: &str) -> Self {
        let kind = resource.qualified_kind();
        let message = format!("Operation cannot be fulfilled on {kind} {name:?}: {why}");
        Self::new(409, "Conflict", message).about(&resource.group, &resource.kind, name)
    }

    pub(crate) fn forbidden(resource: &Resource, name: &str, why: &str) -> Self {
        let what = resource.qualified();
        let what = if name.is_empty() { what } else { format!("{what} {name:?}") };
        Self::new(403, "Forbidden", format!("{what} is forbidden: {why}")).of(resource, name)
    }

    pub(crate) fn invalid(resource: &Resource, name: &str, errors: &[FieldError]) -> Self {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let all = match texts.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let message = format!("{} {name:?} is invalid: {all}", resource.qualified_kind());
        let mut error =
            Self::new(422, "Invalid", message).about(&resource.group, &resource.kind, name);
        error.details["causes"] = json!(errors);
        error
    }

    /// Returns the error for a patch that cannot be applied to this object: a failed test, a missing path.
    pub(crate) fn unprocessable_patch() -> Self {
        Self::new(422, "Invalid", "the server rejected our request due to an error in our request")
            .with_details(json!({}))
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(crate) fn method_not_allowed() -> Self {
        Self::new(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
        .with_details(json!({}))
    }

    pub(crate) fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    pub(crate) fn internal(message: &str) -> Self {
        Self::new(500, "InternalError", format!("Internal error occurred: {message}"))
            .with_details(json!({"causes": [{"message": message}]}))
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    pub fn object(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {},
            "status": "Failure", "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.into();
        }
        if !self.details.is_null() {
            status["details"] = self.details.clone();
        }
        status
    }

    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Returns the seconds for a `Retry-After` header from the details.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        self.details.get("retryAfterSeconds").and_then(Value::as_u64)
    }
}
