//! Responses.

use serde_json::{Value, json};

#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Option<Value>,
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl Reply {
    pub(crate) fn new(status: u16) -> Self {
        Self { status, body: None, headers: Vec::new() }
    }

    pub(crate) fn ok(body: Value) -> Self {
        Self::new(200).json(body)
    }

    pub(crate) fn list(items: impl Iterator<Item = Value>) -> Self {
        Self::ok(json!({"value": items.collect::<Vec<_>>()}))
    }

    pub(crate) fn json(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}
