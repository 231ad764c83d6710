//! The steps of every write: decode, default, validate, admit, store, notify.
//!
//! Verbs decode and find the object; `create_object`, `replace` and `delete_object` default, validate and admit; all end
//! in [`ApiServer::finish`].

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{metadata, rules};
use crate::kubernetes::api::crd;
use crate::kubernetes::api::negotiate::to_stored;
use crate::kubernetes::api::state::{
    ApiResult, ApiServer, CRDS, RecordedWrite, Resource, StatusError, WriteContext,
};
use crate::kubernetes::store::objects::{self, Key};
use crate::kubernetes::store::{ChangeKind, ObjectChange, ObjectKey, owners};

const WRITES: usize = 100_000;

pub(crate) fn decode(resource: &Resource, body: Value) -> ApiResult<Value> {
    if !body.is_object() {
        return Err(StatusError::bad_request(
            "the object provided is unrecognized (must be of type object)",
        ));
    }
    let version = objects::text(&body, &["apiVersion"]);
    let kind = objects::text(&body, &["kind"]);
    if !version.is_empty() && version != resource.api_version() {
        return Err(StatusError::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({})",
            resource.api_version()
        )));
    }
    if !kind.is_empty() && kind != resource.kind {
        return Err(StatusError::bad_request(format!(
            "the kind in the data ({kind}) does not match the expected kind ({})",
            resource.kind
        )));
    }
    let mut value = to_stored(resource, body);
    if !value.get("metadata").is_some_and(Value::is_object) {
        value["metadata"] = json!({});
    }
    read_typed(resource, &mut value)?;
    Ok(value)
}

/// Drops unknown members, and rejects values of a wrong type.
pub(crate) fn read_typed(resource: &Resource, value: &mut Value) -> ApiResult<()> {
    metadata::prune(resource, value);
    rules::check_readable(resource, value)
}

pub(crate) fn validate(
    resource: &Resource,
    old: Option<&Value>,
    value: &mut Value,
) -> ApiResult<()> {
    let errors = match resource.custom() {
        Some(custom) => crd::check(&custom.schema, value),
        None => rules::check(resource, old, value),
    };
    let name = objects::name(value);
    if errors.is_empty() { Ok(()) } else { Err(StatusError::invalid(resource, name, &errors)) }
}

/// Returns true if a deleted object has no finalizer left.
fn may_go(value: &Value) -> bool {
    objects::is_being_deleted(value)
        && objects::finalizers(value).next().is_none()
        && objects::number(value, &["metadata", "deletionGracePeriodSeconds"]).unwrap_or(0) == 0
        && objects::list(value, &["spec", "finalizers"]).is_empty()
}

impl ApiServer {
    /// Stores an object unless the write is a dry run, or removes it if nothing keeps it. Returns its final state.
    pub(crate) fn finish(&mut self, table: &str, value: Value, writer: &WriteContext) -> Value {
        if writer.dry_run {
            return value;
        }
        if may_go(&value) {
            self.erase(table, &objects::key_of(&value), writer);
            return value;
        }
        self.put(table, value, writer)
    }

    /// The only place where an object gets into the store.
    pub(crate) fn put(&mut self, table: &str, value: Value, writer: &WriteContext) -> Value {
        let change = self.store.put(table, value, writer.now);
        self.notify(table, &change, writer);
        let stored = change.object.value.clone();
        if table == CRDS {
            self.definition_changed(&stored, writer.now);
        }
        stored
    }

    /// The only place where an object leaves the store.
    pub(crate) fn erase(&mut self, table: &str, key: &Key, writer: &WriteContext) {
        let Some(change) = self.store.remove(table, key, writer.now) else { return };
        self.notify(table, &change, writer);
        if table == CRDS {
            self.definition_gone(&change.object.value);
        }
    }

    /// Stores an object as a controller changes it, if that changes anything.
    pub(crate) fn amend(
        &mut self,
        table: &str,
        object: &Value,
        now: Timestamp,
        change: impl FnOnce(&mut Value),
    ) {
        let mut value = object.clone();
        change(&mut value);
        if value != *object {
            self.put(table, value, &WriteContext::controller(now));
        }
    }

    /// Reports a change to watches, the log of writes and controllers: the object, its owners, and
    /// its dependents if it was deleted.
    fn notify(&mut self, table: &str, change: &ObjectChange, writer: &WriteContext) {
        self.publish(table, change, writer.now);
        if self.writes.len() == WRITES {
            self.writes.pop_front();
        }
        let value = &change.object.value;
        self.writes.push_back(RecordedWrite {
            at: writer.now,
            resource: table.to_owned(),
            key: change.key.clone(),
            uid: objects::uid(value).to_owned(),
            verb: writer.verb,
            subresource: writer.subresource.to_owned(),
            user: writer.user.clone(),
            manager: writer.manager.clone(),
            revision: change.revision(),
            removed: change.kind == ChangeKind::Deleted,
        });
        if !self.options.controllers {
            return;
        }
        let index = self.store.index();
        let queue = &mut self.changed.0;
        queue.insert(ObjectKey::new(table, &change.key));
        for object in change.previous.iter().chain([&change.object]) {
            queue.extend(owners(&object.value).filter_map(|uid| index.place_of(uid)).cloned());
        }
        if change.kind == ChangeKind::Deleted || objects::is_being_deleted(value) {
            queue.extend(index.dependents(objects::uid(value)).cloned());
        }
    }
}
