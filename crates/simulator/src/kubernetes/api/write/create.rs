//! Creating objects, and the last step that every write takes.

use http::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::exchange::Response;
use crate::kubernetes::api::crd;
use crate::kubernetes::api::negotiate::table;
use crate::kubernetes::api::negotiate::{Call, ResourceTarget, converted, json_answer, to_stored};
use crate::kubernetes::api::state::{ApiServer, CRDS, FieldError, Resource, StatusError, Writer};
use crate::kubernetes::api::write::apply;
use crate::kubernetes::api::write::defaults;
use crate::kubernetes::api::write::metadata;
use crate::kubernetes::api::write::rules;
use crate::kubernetes::store::objects::{self, Key};
use crate::random::Random;

impl ApiServer {
    pub(crate) fn serve_create(
        &mut self,
        call: &Call<'_>,
        target: &ResourceTarget,
        now: Timestamp,
    ) -> Result<Response, StatusError> {
        if target.resource.namespaced && target.namespace.is_none() {
            return Err(StatusError::page_not_found());
        }
        if self.removed_definitions.contains(&target.resource.table) {
            return Err(StatusError::method_not_allowed());
        }
        let body = call.body()?;
        self.check_unknown(call, &target.resource, &body)?;
        let writer = call.writer("create");
        self.check_grant(call, &target.resource, &body)?;
        let namespace = target.namespace.as_deref();
        let stored = self.create_object(&target.resource, namespace, body, &writer, now)?;
        Ok(written(call, &target.resource, &stored, StatusCode::CREATED, now))
    }

    /// Creates an object of this resource; what is given back is as it is stored.
    pub(crate) fn create_object(
        &mut self,
        resource: &Resource,
        namespace: Option<&str>,
        body: Value,
        writer: &Writer,
        now: Timestamp,
    ) -> Result<Value, StatusError> {
        let mut value = received(resource, body)?;
        self.settle_name(resource, namespace, &mut value)?;
        let key = objects::key_of(&value);
        self.check_namespace(resource, &key)?;
        self.check_denials(resource, "CREATE", &key.name)?;
        if !objects::text(&value, &["metadata", "resourceVersion"]).is_empty() {
            return Err(StatusError::new(
                500,
                "",
                "resourceVersion should not be set on objects to be created",
            ));
        }
        for gone in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"] {
            objects::remove(&mut value, &["metadata", gone]);
        }
        objects::set(&mut value, &["metadata", "uid"], uid(&mut self.uids));
        objects::set(&mut value, &["metadata", "creationTimestamp"], objects::time(now));
        if resource.generation || resource.custom().is_some() {
            objects::set(&mut value, &["metadata", "generation"], 1);
        }
        defaults::prepare_new(resource, &mut value, now);
        if resource.custom().is_some() && resource.status {
            objects::remove(&mut value, &["status"]);
        }
        check(resource, None, &mut value, self.options.old_server)?;
        if self.store.get(&resource.table, &key).is_some() {
            return Err(StatusError::already_exists(resource, &key.name));
        }
        if self.options.managed_fields && !writer.applies {
            apply::record_update(resource, None, &mut value, writer, now);
        }
        Ok(self.keep(resource, value, writer, now))
    }

    /// Gives the object its name and namespace, or says what is wrong with them.
    fn settle_name(
        &mut self,
        resource: &Resource,
        namespace: Option<&str>,
        value: &mut Value,
    ) -> Result<(), StatusError> {
        let own = objects::namespace(value);
        if !resource.namespaced {
            objects::remove(value, &["metadata", "namespace"]);
        } else if own.is_empty() {
            objects::set(value, &["metadata", "namespace"], namespace.unwrap_or("default"));
        } else if namespace.is_some_and(|namespace| namespace != own) {
            return Err(StatusError::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        if objects::name(value).is_empty() {
            let base = objects::text(value, &["metadata", "generateName"]).to_owned();
            if base.is_empty() {
                let error =
                    FieldError::required("metadata.name", "name or generateName is required");
                return Err(StatusError::invalid(resource, "", &[error]));
            }
            let name = format!("{base}{}", suffix(&mut self.names));
            objects::set(value, &["metadata", "name"], name);
        }
        let name = objects::name(value).to_owned();
        match defaults::bad_name(resource, &name) {
            Some(why) => {
                let error = FieldError::invalid("metadata.name", &name.clone().into(), why);
                Err(StatusError::invalid(resource, &name, &[error]))
            }
            None => Ok(()),
        }
    }

    /// Nothing is created in a namespace that is not there, or that is on its way out.
    fn check_namespace(&self, resource: &Resource, key: &Key) -> Result<(), StatusError> {
        if key.namespace.is_empty() {
            return Ok(());
        }
        let Some(namespace) = self.store.get("namespaces", &Key::new(None, &key.namespace)) else {
            return Err(StatusError::namespace_not_found(&key.namespace));
        };
        if !objects::is_being_deleted(&namespace.value) {
            return Ok(());
        }
        let why = format!(
            "unable to create new content in namespace {} because it is being terminated",
            key.namespace
        );
        let message = format!("namespace {} is being terminated", key.namespace);
        Err(StatusError::forbidden(resource, &key.name, &why).with_details(json!({
            "name": key.name, "group": resource.group, "kind": resource.plural,
            "causes": [{"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"}],
        })))
    }

    /// Stores an object unless the write is a rehearsal, and gives it back as stored.
    pub(crate) fn keep(
        &mut self,
        resource: &Resource,
        value: Value,
        writer: &Writer,
        now: Timestamp,
    ) -> Value {
        if writer.dry_run {
            return value;
        }
        self.store_object(&resource.table, value, now, Some(writer))
    }

    /// The one place where an object gets into the store.
    pub(crate) fn store_object(
        &mut self,
        table: &str,
        value: Value,
        now: Timestamp,
        writer: Option<&Writer>,
    ) -> Value {
        let change = self.store.put(table, value, now);
        self.publish(table, &change, now);
        self.note_write(table, &change, writer, now);
        self.note_work(table, &change);
        let stored = change.object.value.clone();
        if table == CRDS {
            self.definition_changed(&stored, now);
        }
        stored
    }

    /// The one place where an object leaves the store.
    pub(crate) fn erase(
        &mut self,
        table: &str,
        key: &Key,
        now: Timestamp,
        writer: Option<&Writer>,
    ) {
        let Some(change) = self.store.remove(table, key, now) else { return };
        self.publish(table, &change, now);
        self.note_write(table, &change, writer, now);
        self.note_work(table, &change);
        if table == CRDS {
            self.definition_gone(&change.object.value);
        }
    }
}

/// A random UUID of version 4.
fn uid(random: &mut Random) -> String {
    let (high, low) = (random.draw(), random.draw());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        (low >> 48) & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff
    )
}

/// Five characters that spell no words.
pub(crate) fn suffix(random: &mut Random) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    (0..5)
        .map(|_| {
            let at = random.below(LETTERS.len() as u64);
            char::from(LETTERS[usize::try_from(at).unwrap_or_default()])
        })
        .collect()
}

/// The answer to a write: the object, or a table with it if the client asked for one.
pub(crate) fn written(
    call: &Call<'_>,
    resource: &Resource,
    stored: &Value,
    status: StatusCode,
    now: Timestamp,
) -> Response {
    let value = converted(resource, stored);
    if let Some(format) = table::wanted(call) {
        return json_answer(status, &table::of_value(resource, &value, format, now));
    }
    if table::wants_metadata(call) {
        return json_answer(status, &table::metadata_of(&value));
    }
    json_answer(status, &value)
}

/// The body of a write in the form that is stored.
pub(crate) fn received(resource: &Resource, body: Value) -> Result<Value, StatusError> {
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
    metadata::prune(resource, &mut value);
    rules::check_readable(resource, &value)?;
    Ok(value)
}

/// Prunes, defaults and validates an object.
pub(crate) fn check(
    resource: &Resource,
    old: Option<&Value>,
    value: &mut Value,
    old_server: bool,
) -> Result<(), StatusError> {
    let mut errors = metadata::check(value);
    errors.extend(match resource.custom() {
        Some(custom) => crd::check(&custom.schema, value),
        None => rules::check(resource, old, value, old_server),
    });
    let name = objects::name(value);
    if errors.is_empty() { Ok(()) } else { Err(StatusError::invalid(resource, name, &errors)) }
}
