//! `ConfigMap`s and Secrets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::kubernetes::api::state::{FieldError, Resource, StatusError};
use crate::kubernetes::store::objects::{self, flag};

/// Maximum bytes of a `ConfigMap` or Secret.
const MAX_DATA_BYTES: usize = 1024 * 1024;

/// Rejects bodies that cannot be decoded into their types.
pub(crate) fn check_readable(resource: &Resource, value: &Value) -> Result<(), StatusError> {
    let encoded: &[&str] = match resource.qualified().as_str() {
        "configmaps" => &["binaryData"],
        "secrets" => &["data"],
        _ => &[],
    };
    for member in encoded {
        for (key, text) in objects::pairs(value.get(member)) {
            if STANDARD.decode(text).is_err() {
                return Err(StatusError::bad_request(format!(
                    "{} in version {:?} cannot be handled as a {}: {member}[{key}]: illegal base64 data",
                    resource.kind, resource.version, resource.kind
                )));
            }
        }
    }
    Ok(())
}

pub(super) fn of_map(old: Option<&Value>, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut size = 0;
    for member in ["data", "binaryData"] {
        for (key, text) in objects::pairs(value.get(member)) {
            size += text.len();
            let fine =
                |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
            if key.is_empty() || key.len() > 253 || !key.bytes().all(fine) {
                let why =
                    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
                errors.push(FieldError::invalid(&format!("{member}[{key}]"), &key.into(), why));
            }
        }
    }
    if size > MAX_DATA_BYTES {
        let field = if value.get("type").is_some() { "data" } else { "[]" };
        errors.push(FieldError::too_long(field, MAX_DATA_BYTES as u64));
    }
    let Some(old) = old else { return errors };
    if flag(old, &["immutable"])
        && ["data", "binaryData", "immutable"].iter().any(|name| old.get(name) != value.get(name))
    {
        errors.push(FieldError::forbidden("data", "field is immutable when `immutable` is set"));
    }
    errors
}
