//! One call on its way through the model.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::error::ArmError;
use super::path::ArmPath;
use super::reply::Reply;
use crate::faults::OperationFault;

/// A request, taken apart.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: http::Method,
    pub(crate) path: ArmPath,
    pub(crate) query: BTreeMap<String, String>,
    pub(crate) body: Option<Value>,
    /// Scheme and authority, for links in answers.
    pub(crate) base: String,
    /// Who calls: the object id in the token.
    pub(crate) principal: String,
    pub(crate) correlation: String,
    pub(crate) if_match: Option<String>,
    pub(crate) if_none_match: Option<String>,
    pub(crate) now: Timestamp,
    /// How a fault rule ends the operation that this call starts.
    pub(crate) fate: Option<OperationFault>,
    /// Whether a fault rule hides the operation that this call starts.
    pub(crate) hidden: bool,
}

impl Call {
    pub(crate) fn api_version(&self) -> &str {
        self.query.get("api-version").map_or("", String::as_str)
    }

    /// Whether the query asks for this part in `$expand`.
    pub(crate) fn expands(&self, part: &str) -> bool {
        self.query.get("$expand").is_some_and(|value| {
            value.split(',').any(|word| word.trim().eq_ignore_ascii_case(part))
        })
    }

    /// The body, which must be an object.
    pub(crate) fn object(&self) -> Result<&serde_json::Map<String, Value>, ArmError> {
        self.body.as_ref().and_then(Value::as_object).ok_or_else(|| {
            ArmError::bad_body("The request content was invalid and could not be deserialized.")
        })
    }

    /// Segment `index` as it was sent.
    pub(crate) fn name(&self, index: usize) -> &str {
        self.path.segments.get(index).map_or("", String::as_str)
    }
}

/// An answer or a refusal.
pub(crate) type ArmResult = Result<Reply, ArmError>;
