//! A parsed request.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::error::ArmError;
use super::error::Reply;
use super::path::ArmPath;
use crate::exchange::encode;
use crate::faults::OperationFault;

#[derive(Debug, Clone)]
pub(crate) struct ArmCall {
    pub(crate) method: http::Method,
    pub(crate) path: ArmPath,
    pub(crate) query: BTreeMap<String, String>,
    pub(crate) body: Option<Value>,
    /// Scheme and authority, for links in responses.
    pub(crate) base: String,
    /// Object id in the token.
    pub(crate) principal: String,
    pub(crate) correlation: String,
    pub(crate) if_match: Option<String>,
    pub(crate) if_none_match: Option<String>,
    pub(crate) now: Timestamp,
    /// Outcome that a fault rule sets for the operation of this call.
    pub(crate) operation_fault: Option<OperationFault>,
    /// A fault rule hides the operation of this call.
    pub(crate) hidden: bool,
}

impl ArmCall {
    pub(crate) fn api_version(&self) -> &str {
        self.query.get("api-version").map_or("", String::as_str)
    }

    pub(crate) fn query_is(&self, name: &str, value: &str) -> bool {
        self.query.get(name).is_some_and(|sent| sent.eq_ignore_ascii_case(value))
    }

    pub(crate) fn expands(&self, part: &str) -> bool {
        self.query.get("$expand").is_some_and(|value| {
            value.split(',').any(|word| word.trim().eq_ignore_ascii_case(part))
        })
    }

    /// Returns the body, which must be an object.
    pub(crate) fn object(&self) -> Result<&serde_json::Map<String, Value>, ArmError> {
        self.body.as_ref().and_then(Value::as_object).ok_or_else(|| {
            ArmError::bad_body("The request content was invalid and could not be deserialized.")
        })
    }

    /// Returns the query for the link to the next page.
    pub(crate) fn query_without_skip_token(&self) -> String {
        let pairs = self.query.iter().filter(|(name, _)| *name != "$skiptoken");
        let pairs: Vec<_> =
            pairs.map(|(name, value)| format!("{name}={}", encode(value))).collect();
        pairs.join("&")
    }

    pub(crate) fn name(&self, index: usize) -> &str {
        self.path.segments.get(index).map_or("", String::as_str)
    }
}

pub(crate) type ArmResult = Result<Reply, ArmError>;
