//! Updates: what a write may change, and what it keeps.

use super::unknown_fields::check_unknown;
use std::sync::Arc;

use http::StatusCode;
use serde_json::{Map, Value};

use super::defaults;
use super::managers::{self, MANAGED_FIELDS};
use super::pipeline::{decode, validate};
use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{ResourceRequest, object_answer};
use crate::kubernetes::api::state::{
    ApiResult, ApiServer, FieldError, ObjectPart, Resource, StatusError, WriteContext,
};
use crate::kubernetes::store::objects::{self, Key};

impl ApiServer {
    pub(crate) fn serve_update(&mut self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        let (resource, namespace) = (call.resource(), call.namespace());
        let body = call.body()?;
        check_unknown(call, &body)?;
        let mut value = decode(resource, body)?;
        objects::set(&mut value, &["metadata", "name"], call.name());
        if resource.namespaced && objects::namespace(&value).is_empty() {
            objects::set(&mut value, &["metadata", "namespace"], namespace.unwrap_or("default"));
        }
        let writer = call.writer("update");
        let stored = self.replace(resource, &call.key(), value, call.part(), &writer)?;
        Ok(object_answer(call, StatusCode::OK, &stored))
    }

    /// Replaces an object, keeping what a write may not change.
    pub(crate) fn replace(
        &mut self,
        resource: &Resource,
        key: &Key,
        mut value: Value,
        part: ObjectPart,
        writer: &WriteContext,
    ) -> ApiResult<Value> {
        let old = Arc::clone(self.stored(resource, key)?);
        let old = &old.value;
        self.admit(resource, "UPDATE", &key.name)?;
        check_version(resource, key, old, &value)?;
        keep_metadata(&mut value, old);
        keep_other_part(resource, &mut value, old, part);
        check_finalizers(resource, key, old, &value)?;
        defaults::prepare_changed(resource, &mut value, old, part);
        validate(resource, Some(old), &mut value)?;
        if without_managed(&value) == without_managed(old) {
            return Ok(old.clone());
        }
        managers::record(resource, Some(old), &mut value, writer);
        count_generation(resource, &mut value, old, part);
        Ok(self.finish(&resource.table, value, writer))
    }
}

fn check_version(resource: &Resource, key: &Key, old: &Value, value: &Value) -> ApiResult<()> {
    let version = objects::text(value, &["metadata", "resourceVersion"]);
    if version.is_empty() {
        if defaults::needs_version(resource) {
            let message = "Invalid value: 0x0: must be specified for an update".to_owned();
            let error = FieldError::new("FieldValueInvalid", "metadata.resourceVersion", message);
            return Err(StatusError::invalid(resource, &key.name, &[error]));
        }
        return Ok(());
    }
    if version != objects::text(old, &["metadata", "resourceVersion"]) {
        return Err(StatusError::modified(resource, &key.name));
    }
    Ok(())
}

/// Keeps the metadata that only the server sets.
fn keep_metadata(value: &mut Value, old: &Value) {
    for name in [
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "generateName",
        "namespace",
        "selfLink",
    ] {
        put_back(value, old, &["metadata", name]);
    }
    if objects::at(value, &MANAGED_FIELDS).is_none() {
        put_back(value, old, &MANAGED_FIELDS);
    }
    for list in ["finalizers", "ownerReferences"] {
        if objects::at(value, &["metadata", list])
            .is_some_and(|list| list.as_array().is_none_or(Vec::is_empty))
        {
            objects::remove(value, &["metadata", list]);
        }
    }
}

/// A write of the status keeps the rest, and vice versa.
fn keep_other_part(resource: &Resource, value: &mut Value, old: &Value, part: ObjectPart) {
    if !resource.status {
        return;
    }
    match part {
        ObjectPart::Main => put_back(value, old, &["status"]),
        ObjectPart::Status if resource.custom().is_some() => {
            let new = std::mem::replace(value, old.clone());
            put_back(value, &new, &["status"]);
            put_back(value, &new, &MANAGED_FIELDS);
        }
        ObjectPart::Status => {
            let names: Vec<String> = old
                .as_object()
                .into_iter()
                .chain(value.as_object())
                .flat_map(Map::keys)
                .filter(|name| !matches!(name.as_str(), "status" | "metadata"))
                .cloned()
                .collect();
            for name in names {
                put_back(value, old, &[&name]);
            }
        }
    }
}

/// Sets a member as it is in another object, or removes it.
fn put_back(value: &mut Value, old: &Value, path: &[&str]) {
    match objects::at(old, path) {
        Some(was) => objects::set(value, path, was.clone()),
        None => {
            objects::remove(value, path);
        }
    }
}

fn check_finalizers(resource: &Resource, key: &Key, old: &Value, value: &Value) -> ApiResult<()> {
    if !objects::is_being_deleted(old) {
        return Ok(());
    }
    let new: Vec<&str> = objects::finalizers(value)
        .filter(|one| objects::finalizers(old).all(|other| other != *one))
        .collect();
    if new.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = new.iter().map(|one| format!("{one:?}")).collect();
    let detail = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
        shown.join(", ")
    );
    let error = FieldError::forbidden("metadata.finalizers", &detail);
    Err(StatusError::invalid(resource, &key.name, &[error]))
}

fn count_generation(resource: &Resource, value: &mut Value, old: &Value, part: ObjectPart) {
    if !resource.generation || part == ObjectPart::Status {
        return;
    }
    let wanted = |object: &Value| {
        let mut members = object.as_object().cloned().unwrap_or_default();
        members.remove("metadata");
        if resource.status {
            members.remove("status");
        }
        members
    };
    if wanted(value) != wanted(old) {
        let generation = objects::number(old, &["metadata", "generation"]).unwrap_or(0) + 1;
        objects::set(value, &["metadata", "generation"], generation);
    }
}

fn without_managed(value: &Value) -> Value {
    let mut value = value.clone();
    objects::remove(&mut value, &MANAGED_FIELDS);
    value
}
