//! The model from inside, for other models and tests: no requests, no authorization, no faults.

use jiff::Timestamp;
use serde_json::Value;

use crate::faults::FaultRule;
use crate::kubernetes::api::negotiate::converted;
use crate::kubernetes::api::state::{
    ApiServer, CLUSTER, ObjectPart, RecordedWrite, StatusError, User, WriteContext,
};
use crate::kubernetes::api::write::delete::DeleteOptions;
use crate::kubernetes::api::write::patch::{self, PatchKind};
use crate::kubernetes::store::objects::{self, Key};

impl ApiServer {
    pub fn create(&mut self, object: Value, now: Timestamp) -> Result<Value, StatusError> {
        self.create_by(CLUSTER, object, now)
    }

    pub fn create_by(
        &mut self,
        manager: &str,
        object: Value,
        now: Timestamp,
    ) -> Result<Value, StatusError> {
        let (version, kind) =
            (objects::text(&object, &["apiVersion"]), objects::text(&object, &["kind"]));
        let resource =
            self.catalog.of_kind(version, kind).ok_or_else(StatusError::no_such_resource)?;
        let namespace = objects::namespace(&object).to_owned();
        let namespace = (!namespace.is_empty()).then_some(namespace);
        let status = object.get("status").cloned();
        let writer = WriteContext::local(manager, now);
        let stored = self.create_object(&resource, namespace.as_deref(), object, &writer)?;
        // A local create may set the status.
        match status {
            Some(status) if stored.get("status") != Some(&status) => {
                let key = objects::key_of(&stored);
                let patch = serde_json::json!({"status": status});
                self.change_by(manager, &resource.qualified(), &key, &patch, now)
            }
            _ => Ok(converted(&resource, &stored)),
        }
    }

    /// Returns an object by its key and a name such as `nodeclaims.karpenter.sh` or `pods`.
    pub fn get(&self, resource: &str, key: &Key) -> Option<&Value> {
        self.store.get(resource, key).map(|object| &object.value)
    }

    /// Returns all objects of a resource, or of one namespace, in order.
    pub fn objects(&self, resource: &str, namespace: Option<&str>) -> impl Iterator<Item = &Value> {
        self.store.list(resource, namespace).map(|(_, object)| &object.value)
    }

    /// Applies a merge patch, status included.
    pub fn change(
        &mut self,
        resource: &str,
        key: &Key,
        patch: &Value,
        now: Timestamp,
    ) -> Result<Value, StatusError> {
        self.change_by(CLUSTER, resource, key, patch, now)
    }

    /// Applies a merge patch as this field manager.
    pub fn change_by(
        &mut self,
        manager: &str,
        resource: &str,
        key: &Key,
        patch: &Value,
        now: Timestamp,
    ) -> Result<Value, StatusError> {
        let resource = self.catalog.named(resource).ok_or_else(StatusError::no_such_resource)?;
        let writer = WriteContext::local(manager, now);
        let mut parts = patch.clone();
        let status = parts.as_object_mut().and_then(|parts| parts.remove("status"));
        let mut result = None;
        let status = status.map(|status| serde_json::json!({"status": status}));
        let main = parts.as_object().is_some_and(|parts| !parts.is_empty()).then_some(parts);
        for (part, patch) in [(ObjectPart::Main, main), (ObjectPart::Status, status)] {
            let Some(patch) = patch else { continue };
            let part = if resource.status { part } else { ObjectPart::Main };
            let mut value = self.stored(&resource, key)?.value.clone();
            patch::apply(PatchKind::Merge, &resource, &mut value, &patch)?;
            result = Some(self.replace(&resource, key, value, part, &writer)?);
        }
        result.ok_or_else(|| StatusError::bad_request("the patch is empty"))
    }

    /// Deletes an object, honoring finalizers.
    pub fn delete(&mut self, resource: &str, key: &Key, now: Timestamp) -> Result<(), StatusError> {
        let resource = self.catalog.named(resource).ok_or_else(StatusError::no_such_resource)?;
        let options = DeleteOptions::now();
        self.delete_object(&resource, key, &options, &WriteContext::cluster(now)).map(|_| ())
    }

    pub fn count(&self, resource: &str) -> usize {
        self.store.count(resource)
    }

    pub fn total(&self) -> usize {
        self.store.total()
    }

    pub fn revision(&self) -> u64 {
        self.store.revision()
    }

    /// Returns the writes that took effect, oldest first.
    pub fn writes(&self) -> impl Iterator<Item = &RecordedWrite> {
        self.writes.iter()
    }

    pub fn add_fault(&mut self, rule: FaultRule) {
        self.faults.add(rule);
    }

    pub fn injected_faults(&self) -> u32 {
        self.faults.injected()
    }

    pub fn clear_faults(&mut self) {
        self.faults.clear();
    }

    pub fn add_token(&mut self, token: &str, user: User) {
        self.tokens.insert(token.to_owned(), user);
    }

    /// Drops the history: watches that resume from before now get 410 Gone.
    pub fn forget_history(&mut self) {
        self.store.forget();
    }

    /// Restarts the API server: every watch ends, and none can resume from before.
    pub fn restart(&mut self) {
        self.watches.clear();
        self.store.forget();
    }
}
