//! Unknown fields: dropped, or rejected with `fieldValidation=Strict`.

use serde_json::Value;

use super::metadata;
use crate::kubernetes::api::crd;
use crate::kubernetes::api::negotiate::ResourceRequest;
use crate::kubernetes::api::state::{ApiResult, StatusError};

/// Rejects unknown fields if the client requires it.
pub(crate) fn check_unknown(call: &ResourceRequest<'_>, value: &Value) -> ApiResult<()> {
    let resource = call.resource();
    if call.query.get("fieldValidation") != "Strict" {
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

/// Collects the paths that only the first value has.
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
