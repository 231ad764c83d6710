//! Fields that a schema does not have: dropped, and with `fieldValidation=Strict` refused.

use serde_json::Value;

use super::metadata;
use crate::kubernetes::api::crd;
use crate::kubernetes::api::negotiate::Call;
use crate::kubernetes::api::state::{ApiResult, ApiServer, StatusError};

impl ApiServer {
    /// Refuses what would be dropped, if the client asked for that. Servers of 1.20 do not know the question.
    pub(crate) fn check_unknown(&self, call: &Call<'_>, value: &Value) -> ApiResult<()> {
        let resource = call.resource();
        if self.options.old_server || call.query.get("fieldValidation") != "Strict" {
            return Ok(());
        }
        let mut kept = value.clone();
        metadata::prune(resource, &mut kept);
        if let Some(custom) = resource.custom() {
            crd::prune(&custom.schema, &mut kept);
        }
        let mut unknown = Vec::new();
        compare(value, &kept, "", &mut unknown);
        if unknown.is_empty() {
            return Ok(());
        }
        let fields: Vec<String> =
            unknown.iter().map(|field| format!("unknown field {field:?}")).collect();
        let (kind, version) = (&resource.kind, &resource.version);
        Err(StatusError::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: strict decoding error: {}",
            fields.join(", ")
        )))
    }
}

/// Collects the paths of what is in one value and no longer in the other.
fn compare(before: &Value, after: &Value, path: &str, gone: &mut Vec<String>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            for (name, value) in before {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match after.get(name) {
                    Some(after) => compare(value, after, &path, gone),
                    None => gone.push(path),
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            for (n, (before, after)) in before.iter().zip(after).enumerate() {
                compare(before, after, &format!("{path}[{n}]"), gone);
            }
        }
        _ => {}
    }
}
