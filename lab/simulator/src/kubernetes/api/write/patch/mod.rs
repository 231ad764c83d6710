//! Patches: JSON Patch, JSON merge patch, strategic merge patch.

mod json;
mod strategic;

use super::unknown_fields::check_unknown;
use http::StatusCode;
use serde_json::Value;

use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{ResourceRequest, converted, object_answer, to_stored};
use crate::kubernetes::api::state::{ApiResult, ApiServer, FieldError, Resource, StatusError};
use crate::kubernetes::api::write::pipeline::read_typed;
use crate::kubernetes::store::objects::{self, members};

impl ApiServer {
    pub(crate) fn serve_patch(&mut self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        let resource = call.resource();
        let kind = match call.content_type() {
            "application/json-patch+json" => PatchKind::Json,
            "application/merge-patch+json" => PatchKind::Merge,
            "application/strategic-merge-patch+json" if resource.custom().is_none() => {
                PatchKind::Strategic
            }
            _ => return Err(unknown_patch(resource)),
        };
        let patch = call.body()?;
        if kind != PatchKind::Json && !patch.is_object() {
            return Err(StatusError::bad_request("error decoding patch: it is no object"));
        }
        let old = self.find(call)?;
        let mut value = converted(resource, &old.value);
        apply(kind, resource, &mut value, &patch)?;
        if !value.is_object() {
            return Err(StatusError::unprocessable_patch());
        }
        check_identity(resource, call.name(), &value)?;
        check_unknown(call, &value)?;
        let mut value = to_stored(resource, value);
        read_typed(resource, &mut value)?;
        let writer = call.writer("patch");
        let stored = self.replace(resource, &call.key(), value, call.part(), &writer)?;
        Ok(object_answer(call, StatusCode::OK, &stored))
    }
}

fn check_identity(resource: &Resource, name: &str, value: &Value) -> ApiResult<()> {
    let (version, kind) = (objects::text(value, &["apiVersion"]), objects::text(value, &["kind"]));
    if version != resource.api_version() || kind != resource.kind {
        return Err(StatusError::bad_request(format!(
            "the patched object is {version}, Kind={kind}, expected {}, Kind={}",
            resource.api_version(),
            resource.kind
        )));
    }
    let own = objects::name(value);
    if own == name {
        return Ok(());
    }
    let error = FieldError::invalid("metadata.name", &own.into(), "field is immutable");
    Err(StatusError::invalid(resource, name, &[error]))
}

fn unknown_patch(resource: &Resource) -> StatusError {
    let mut accepted = vec!["application/json-patch+json", "application/merge-patch+json"];
    if resource.custom().is_none() {
        accepted.push("application/strategic-merge-patch+json");
    }
    accepted.push("application/apply-patch+yaml");
    StatusError::unsupported_media_type(&accepted)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchKind {
    Json,
    Merge,
    Strategic,
}

pub(crate) fn apply(
    kind: PatchKind,
    resource: &Resource,
    value: &mut Value,
    patch: &Value,
) -> ApiResult<()> {
    match kind {
        PatchKind::Json => json::apply(value, patch),
        PatchKind::Merge => {
            merge(value, patch);
            Ok(())
        }
        PatchKind::Strategic => strategic::apply(resource, value, patch),
    }
}

/// Applies a JSON merge patch: objects merge, null removes, everything else replaces.
fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *value = patch.clone();
        return;
    };
    let members = members(value);
    for (name, patch) in patch {
        if patch.is_null() {
            members.remove(name);
        } else {
            merge(members.entry(name).or_insert(Value::Null), patch);
        }
    }
}
