//! Patches of four kinds, and what the server makes of their results.

mod json;
mod merge;
mod strategic;

use http::StatusCode;
use jiff::Timestamp;
use serde_json::Value;

use strategic::ListRule;

use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{Call, ResourceTarget, converted, to_stored};
use crate::kubernetes::api::state::{ApiServer, FieldError, ListType, Resource, StatusError};
use crate::kubernetes::api::write::metadata;
use crate::kubernetes::api::write::rules;
use crate::kubernetes::store::objects::{self, Key};

/// How a patch is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchKind {
    Json,
    Merge,
    Strategic,
}

/// Applies a patch to an object.
pub(crate) fn apply(
    kind: PatchKind,
    resource: &Resource,
    value: &mut Value,
    patch: &Value,
) -> Result<(), StatusError> {
    match kind {
        PatchKind::Json => json::apply(value, patch),
        PatchKind::Merge => {
            merge::apply(value, patch);
            Ok(())
        }
        PatchKind::Strategic => strategic::apply(resource, value, patch),
    }
}

/// How a list of a built-in object merges, by its name.
pub(crate) fn list_type(resource: &Resource, name: &str) -> ListType {
    match strategic::rule(resource, name) {
        ListRule::Replace => ListType::Atomic,
        ListRule::Set => ListType::Set,
        ListRule::Key(key) => ListType::Map(vec![key.to_owned()]),
    }
}

impl ApiServer {
    pub(crate) fn serve_patch(
        &mut self,
        call: &Call<'_>,
        target: &ResourceTarget,
        name: &str,
        now: Timestamp,
    ) -> Result<Response, StatusError> {
        let resource = &target.resource;
        let kind = match call.content_type() {
            "application/json-patch+json" => PatchKind::Json,
            "application/merge-patch+json" => PatchKind::Merge,
            "application/strategic-merge-patch+json" if resource.custom().is_none() => {
                PatchKind::Strategic
            }
            "application/apply-patch+yaml" | "application/apply-patch+cbor" => {
                return self.serve_apply(call, target, name, now);
            }
            _ => return Err(unknown_patch(resource)),
        };
        let patch = call.body()?;
        if kind != PatchKind::Json && !patch.is_object() {
            return Err(StatusError::unprocessable_patch());
        }
        let old = self.find(target, name)?;
        let mut value = converted(resource, &old.value);
        apply(kind, resource, &mut value, &patch)?;
        if !value.is_object() {
            return Err(StatusError::unprocessable_patch());
        }
        check_identity(resource, name, &value)?;
        self.check_unknown(call, resource, &value)?;
        let mut value = to_stored(resource, value);
        metadata::prune(resource, &mut value);
        rules::check_readable(resource, &value)?;
        let writer = call.writer("patch");
        let key = Key::new(target.namespace.as_deref(), name);
        let stored = self.replace(resource, &key, value, target.part(), &writer, now)?;
        Ok(crate::kubernetes::api::write::create::written(
            call,
            resource,
            &stored,
            StatusCode::OK,
            now,
        ))
    }
}

fn check_identity(resource: &Resource, name: &str, value: &Value) -> Result<(), StatusError> {
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
