//! Responses and assertions.

use std::fmt;

use serde_json::Value;

/// Response of a server.
pub(crate) struct Answer {
    what: String,
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn new(what: String, head: &http::response::Parts, body: &[u8]) -> Self {
        let body = serde_json::from_slice(body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).into_owned()));
        Self { what, status: head.status.as_u16(), body }
    }

    /// Returns the body of a response that must have this status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Value {
        assert!(self.status == status, "expected {status}: {self}");
        self.body
    }

    /// Returns the `Status` object of a response that must fail.
    #[track_caller]
    pub(crate) fn fails(self, status: u16, reason: &str) -> Value {
        assert!(self.status == status, "expected {status} {reason}: {self}");
        assert!(self.body["kind"] == "Status", "expected a Status: {self}");
        assert!(self.body["apiVersion"] == "v1", "expected a Status of v1: {self}");
        assert!(self.body["status"] == "Failure", "expected a Failure: {self}");
        assert!(self.body["code"] == status, "expected code {status}: {self}");
        assert!(self.body["reason"].as_str().unwrap_or("") == reason, "expected {reason}: {self}");
        self.body
    }

    /// Requires a failure whose message contains this text.
    #[track_caller]
    pub(crate) fn fails_saying(self, status: u16, reason: &str, words: &str) -> Value {
        let what = self.to_string();
        let body = self.fails(status, reason);
        let message = body["message"].as_str().unwrap_or_default();
        assert!(message.contains(words), "expected `{words}` in the message: {what}");
        body
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nanswered {}: {}", self.what, self.status, self.body)
    }
}

/// The cause by which a server tells that rules of the schema were not checked. 1.20 has no rules.
const UNCHECKED: (&str, &str) = ("FieldValueInvalid", "<nil>");

/// Returns the causes of an invalid object. The model has no rules, so it does not say that they were not checked.
pub(crate) fn causes_before_rules(status: &Value) -> Vec<(&str, &str)> {
    let mut causes = causes(status);
    causes.pop_if(|last| *last == UNCHECKED);
    causes
}

/// Returns the causes of a failure, as (reason, field).
pub(crate) fn causes(status: &Value) -> Vec<(&str, &str)> {
    let causes = status["details"]["causes"].as_array().map(Vec::as_slice).unwrap_or_default();
    causes
        .iter()
        .map(|cause| {
            (cause["reason"].as_str().unwrap_or(""), cause["field"].as_str().unwrap_or(""))
        })
        .collect()
}

/// Returns the string at a JSON pointer, which must exist.
#[track_caller]
pub(crate) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_else(|| panic!("no text at {pointer} of {object}"))
}

/// Returns the resource version as a number: opaque to clients, but the cases compare it.
#[track_caller]
pub(crate) fn version(object: &Value) -> u64 {
    text(object, "/metadata/resourceVersion").parse().unwrap()
}

/// Returns the names of a list's items, in order.
pub(crate) fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|item| text(item, "/metadata/name")).collect()
}
