use super::unknown_fields::check_unknown;
use http::StatusCode;
use serde_json::{Value, json};

use super::pipeline::{decode, validate};
use super::{defaults, managers};
use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{ResourceRequest, object_answer};
use crate::kubernetes::api::state::{
    ApiResult, ApiServer, FieldError, Resource, StatusError, WriteContext,
};
use crate::kubernetes::store::objects::{self, Key};
use crate::random::Random;

impl ApiServer {
    pub(crate) fn serve_create(&mut self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        let resource = call.resource();
        if resource.namespaced && call.namespace().is_none() {
            return Err(StatusError::page_not_found());
        }
        let body = call.body()?;
        check_unknown(call, &body)?;
        let stored =
            self.create_object(resource, call.namespace(), body, &call.writer("create"))?;
        Ok(object_answer(call, StatusCode::CREATED, &stored))
    }

    /// Creates an object of this resource and returns it in its stored form.
    pub(crate) fn create_object(
        &mut self,
        resource: &Resource,
        namespace: Option<&str>,
        body: Value,
        writer: &WriteContext,
    ) -> ApiResult<Value> {
        let now = writer.now;
        let mut value = decode(resource, body)?;
        self.settle_name(resource, namespace, &mut value)?;
        let key = objects::key_of(&value);
        self.check_namespace(resource, &key)?;
        self.admit(resource, "CREATE", &key.name)?;
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
        objects::set(&mut value, &["metadata", "uid"], self.uids.guid());
        objects::set(&mut value, &["metadata", "creationTimestamp"], objects::time(now));
        if resource.generation {
            objects::set(&mut value, &["metadata", "generation"], 1);
        }
        defaults::prepare_new(resource, &mut value);
        if resource.custom().is_some() && resource.status {
            objects::remove(&mut value, &["status"]);
        }
        validate(resource, None, &mut value)?;
        if self.store.get(&resource.table, &key).is_some() {
            return Err(StatusError::already_exists(resource, &key.name));
        }
        managers::record(resource, None, &mut value, writer);
        Ok(self.finish(&resource.table, value, writer))
    }

    /// Sets the object's name and namespace, or rejects them.
    fn settle_name(
        &mut self,
        resource: &Resource,
        namespace: Option<&str>,
        value: &mut Value,
    ) -> ApiResult<()> {
        let own = objects::namespace(value);
        if !resource.namespaced {
            objects::remove(value, &["metadata", "namespace"]);
        } else if own.is_empty() {
            objects::set(value, &["metadata", "namespace"], namespace.unwrap_or("default"));
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

    /// Rejects creation in a missing or terminating namespace.
    fn check_namespace(&self, resource: &Resource, key: &Key) -> ApiResult<()> {
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
}

/// Returns five characters that form no words.
pub(crate) fn suffix(random: &mut Random) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    (0..5)
        .map(|_| {
            let at = random.below(LETTERS.len() as u64);
            char::from(LETTERS[usize::try_from(at).unwrap_or_default()])
        })
        .collect()
}
