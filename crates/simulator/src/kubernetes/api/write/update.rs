//! Replacing objects: what a write may change, and what it leaves as it was.

use http::StatusCode;
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::exchange::Response;
use crate::kubernetes::api::negotiate::converted;
use crate::kubernetes::api::negotiate::{Call, ResourceTarget};
use crate::kubernetes::api::state::{ApiServer, FieldError, Resource, StatusError, Writer};
use crate::kubernetes::api::write::apply;
use crate::kubernetes::api::write::defaults;
use crate::kubernetes::store::objects::{self, Key};

/// Which part of an object a write is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// All but the status, where that is a part of its own.
    Main,
    Status,
}

impl ResourceTarget {
    pub(crate) fn part(&self) -> Part {
        if self.subresource.as_deref() == Some("status") { Part::Status } else { Part::Main }
    }
}

impl ApiServer {
    pub(crate) fn serve_update(
        &mut self,
        call: &Call<'_>,
        target: &ResourceTarget,
        name: &str,
        now: Timestamp,
    ) -> Result<Response, StatusError> {
        let resource = &target.resource;
        let body = call.body()?;
        self.check_unknown(call, resource, &body)?;
        let mut value = crate::kubernetes::api::write::create::received(resource, body)?;
        let own = objects::name(&value);
        if own.is_empty() {
            objects::set(&mut value, &["metadata", "name"], name);
        } else if own != name {
            return Err(StatusError::bad_request(format!(
                "the name of the object ({own}) does not match the name on the URL ({name})"
            )));
        }
        if resource.namespaced && objects::namespace(&value).is_empty() {
            let namespace = target.namespace.as_deref().unwrap_or("default");
            objects::set(&mut value, &["metadata", "namespace"], namespace);
        }
        let writer = call.writer("update");
        let key = Key::new(target.namespace.as_deref(), name);
        if self.store.get(&resource.table, &key).is_none() && defaults::created_by_update(resource)
        {
            objects::remove(&mut value, &["metadata", "resourceVersion"]);
            let namespace = target.namespace.as_deref();
            let body = converted(resource, &value);
            let stored = self.create_object(resource, namespace, body, &writer, now)?;
            return Ok(crate::kubernetes::api::write::create::written(
                call,
                resource,
                &stored,
                StatusCode::CREATED,
                now,
            ));
        }
        let stored = self.replace(resource, &key, value, target.part(), &writer, now)?;
        Ok(crate::kubernetes::api::write::create::written(
            call,
            resource,
            &stored,
            StatusCode::OK,
            now,
        ))
    }

    /// Puts a new value in the place of an object, with everything that a write may not change put back.
    pub(crate) fn replace(
        &mut self,
        resource: &Resource,
        key: &Key,
        mut value: Value,
        part: Part,
        writer: &Writer,
        now: Timestamp,
    ) -> Result<Value, StatusError> {
        let old = self
            .store
            .get(&resource.table, key)
            .ok_or_else(|| StatusError::not_found(resource, &key.name))?;
        let old = std::sync::Arc::clone(old);
        let old = &old.value;
        self.check_denials(resource, "UPDATE", &key.name)?;
        check_version(resource, key, old, &value)?;
        keep_metadata(&mut value, old);
        keep_other_part(resource, &mut value, old, part);
        check_finalizers(resource, key, old, &value)?;
        defaults::prepare_changed(resource, &mut value, old, part);
        crate::kubernetes::api::write::create::check(
            resource,
            Some(old),
            &mut value,
            self.options.old_server,
        )?;
        count_generation(resource, &mut value, old, part);
        if self.options.managed_fields && !writer.applies {
            apply::record_update(resource, Some(old), &mut value, writer, now);
        }
        let unchanged = without_managed(&value) == without_managed(old);
        if unchanged && (!writer.applies || value == *old) {
            return Ok(old.clone());
        }
        if may_go(&value) {
            if !writer.dry_run {
                self.erase(&resource.table, key, now, Some(writer));
            }
            return Ok(value);
        }
        Ok(self.keep(resource, value, writer, now))
    }
}

/// Whether the last finalizer of a deleted object is off.
fn may_go(value: &Value) -> bool {
    objects::is_being_deleted(value)
        && objects::finalizers(value).next().is_none()
        && objects::number(value, &["metadata", "deletionGracePeriodSeconds"]).unwrap_or(0) == 0
        && objects::list(value, &["spec", "finalizers"]).is_empty()
}

fn check_version(
    resource: &Resource,
    key: &Key,
    old: &Value,
    value: &Value,
) -> Result<(), StatusError> {
    let uid = objects::uid(value);
    if !uid.is_empty() && uid != objects::uid(old) {
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            objects::uid(old)
        );
        return Err(StatusError::conflict(resource, &key.name, &why));
    }
    let version = objects::text(value, &["metadata", "resourceVersion"]);
    if version.is_empty() {
        if defaults::needs_version(resource) {
            let error = FieldError {
                reason: "FieldValueInvalid",
                field: "metadata.resourceVersion".to_owned(),
                message: "Invalid value: 0x0: must be specified for an update".to_owned(),
            };
            return Err(StatusError::invalid(resource, &key.name, &[error]));
        }
        return Ok(());
    }
    if version != objects::text(old, &["metadata", "resourceVersion"]) {
        return Err(StatusError::modified(resource, &key.name));
    }
    Ok(())
}

/// What the server sets, a client cannot change.
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
        match objects::at(old, &["metadata", name]) {
            Some(was) => objects::set(value, &["metadata", name], was.clone()),
            None => {
                objects::remove(value, &["metadata", name]);
            }
        }
    }
    if objects::at(value, &["metadata", "managedFields"]).is_none()
        && let Some(was) = objects::at(old, &["metadata", "managedFields"])
    {
        objects::set(value, &["metadata", "managedFields"], was.clone());
    }
    for list in ["finalizers", "ownerReferences"] {
        if objects::at(value, &["metadata", list])
            .is_some_and(|list| list.as_array().is_none_or(Vec::is_empty))
        {
            objects::remove(value, &["metadata", list]);
        }
    }
}

/// A write of the status leaves the rest alone, and the other way round.
fn keep_other_part(resource: &Resource, value: &mut Value, old: &Value, part: Part) {
    if !resource.status {
        return;
    }
    match part {
        Part::Main => put_back(value, old, "status"),
        Part::Status if resource.custom().is_some() => {
            let status = objects::members(value).remove("status");
            let managed = objects::remove(value, &["metadata", "managedFields"]);
            *value = old.clone();
            objects::members(value).remove("status");
            if let Some(status) = status {
                value["status"] = status;
            }
            if let Some(managed) = managed {
                objects::set(value, &["metadata", "managedFields"], managed);
            }
        }
        Part::Status => {
            let names: Vec<String> = old
                .as_object()
                .into_iter()
                .chain(value.as_object())
                .flat_map(Map::keys)
                .filter(|name| !matches!(name.as_str(), "status" | "metadata"))
                .cloned()
                .collect();
            for name in names {
                put_back(value, old, &name);
            }
        }
    }
}

fn put_back(value: &mut Value, old: &Value, name: &str) {
    match old.get(name) {
        Some(was) => value[name] = was.clone(),
        None => {
            objects::members(value).remove(name);
        }
    }
}

fn check_finalizers(
    resource: &Resource,
    key: &Key,
    old: &Value,
    value: &Value,
) -> Result<(), StatusError> {
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

/// A generation counts changes of what is wanted: neither metadata nor, where it is a part of its own, status.
fn count_generation(resource: &Resource, value: &mut Value, old: &Value, part: Part) {
    let counts = resource.generation || resource.custom().is_some();
    if !counts || part == Part::Status {
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
    objects::remove(&mut value, &["metadata", "managedFields"]);
    value
}
