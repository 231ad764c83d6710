use http::StatusCode;
use serde_json::Value;

use super::kind::{PatchKind, apply};
use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{ResourceRequest, converted, object_answer, to_stored};
use crate::kubernetes::api::state::{ApiResult, ApiServer, FieldError, Resource, StatusError};
use crate::kubernetes::api::write::pipeline::read_typed;
use crate::kubernetes::store::objects;

impl ApiServer {
    pub(crate) fn serve_patch(&mut self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        let resource = call.resource();
        let kind = match call.content_type() {
            "application/json-patch+json" => PatchKind::Json,
            "application/merge-patch+json" => PatchKind::Merge,
            "application/strategic-merge-patch+json" if resource.custom().is_none() => {
                PatchKind::Strategic
            }
            "application/apply-patch+yaml" | "application/apply-patch+cbor" => {
                return self.serve_apply(call);
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
        self.check_unknown(call, &value)?;
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
