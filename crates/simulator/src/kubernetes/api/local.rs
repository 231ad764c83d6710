//! The model from inside, for the glue between models and for tests: no requests, no rights, no faults.

use jiff::Timestamp;
use serde_json::Value;

use crate::faults::Rule;
use crate::kubernetes::api::negotiate::converted;
use crate::kubernetes::api::state::{ApiServer, CLUSTER, Part, StatusError, User, Write, Writer};
use crate::kubernetes::api::write::delete::DeleteOptions;
use crate::kubernetes::api::write::patch::{self, PatchKind};
use crate::kubernetes::store::objects::{self, Key};

impl ApiServer {
    /// Creates an object, of the resource that its `apiVersion` and `kind` name.
    pub fn create(&mut self, object: Value, now: Timestamp) -> Result<Value, StatusError> {
        self.create_by(CLUSTER, object, now)
    }

    /// Creates an object as this field manager.
    pub fn create_by(
        &mut self,
        manager: &str,
        object: Value,
        now: Timestamp,
    ) -> Result<Value, StatusError> {
        let (version, kind) =
            (objects::text(&object, &["apiVersion"]), objects::text(&object, &["kind"]));
        let resource =
            self.catalogue.of_kind(version, kind).ok_or_else(StatusError::no_such_resource)?;
        let namespace = objects::namespace(&object).to_owned();
        let namespace = (!namespace.is_empty()).then_some(namespace);
        let status = object.get("status").cloned();
        let writer = Writer::local(manager, now);
        let stored = self.create_object(&resource, namespace.as_deref(), object, &writer)?;
        // From inside, an object may come with its status.
        match status {
            Some(status) if stored.get("status") != Some(&status) => {
                let key = objects::key_of(&stored);
                let patch = serde_json::json!({"status": status});
                self.change_by(manager, &resource.qualified(), &key, &patch, now)
            }
            _ => Ok(converted(&resource, &stored)),
        }
    }

    /// An object, by `nodeclaims.karpenter.sh` or `pods` and its key.
    pub fn get(&self, resource: &str, key: &Key) -> Option<&Value> {
        self.store.get(resource, key).map(|object| &object.value)
    }

    /// All objects of a resource, or those of one namespace, in order.
    pub fn objects(&self, resource: &str, namespace: Option<&str>) -> impl Iterator<Item = &Value> {
        self.store.list(resource, namespace).map(|(_, object)| &object.value)
    }

    /// Changes an object by a merge patch, its status included.
    pub fn change(
        &mut self,
        resource: &str,
        key: &Key,
        patch: &Value,
        now: Timestamp,
    ) -> Result<Value, StatusError> {
        self.change_by(CLUSTER, resource, key, patch, now)
    }

    /// Changes an object by a merge patch, as this field manager.
    pub fn change_by(
        &mut self,
        manager: &str,
        resource: &str,
        key: &Key,
        patch: &Value,
        now: Timestamp,
    ) -> Result<Value, StatusError> {
        let resource = self.catalogue.named(resource).ok_or_else(StatusError::no_such_resource)?;
        let writer = Writer::local(manager, now);
        let mut parts = patch.clone();
        let status = parts.as_object_mut().and_then(|parts| parts.remove("status"));
        let mut result = None;
        let status = status.map(|status| serde_json::json!({"status": status}));
        let main = parts.as_object().is_some_and(|parts| !parts.is_empty()).then_some(parts);
        for (part, patch) in [(Part::Main, main), (Part::Status, status)] {
            let Some(patch) = patch else { continue };
            let part = if resource.status { part } else { Part::Main };
            let old = self.get(&resource.table, key);
            let mut value =
                old.cloned().ok_or_else(|| StatusError::not_found(&resource, &key.name))?;
            patch::apply(PatchKind::Merge, &resource, &mut value, &patch)?;
            result = Some(self.replace(&resource, key, value, part, &writer)?);
        }
        result.ok_or_else(|| StatusError::bad_request("the patch is empty"))
    }

    /// Deletes an object as the cluster would, its finalizers respected.
    pub fn delete(&mut self, resource: &str, key: &Key, now: Timestamp) -> Result<(), StatusError> {
        let resource = self.catalogue.named(resource).ok_or_else(StatusError::no_such_resource)?;
        let options = DeleteOptions::now();
        self.delete_object(&resource, key, &options, &Writer::cluster(now)).map(|_| ())
    }

    /// How many objects of a resource there are.
    pub fn count(&self, resource: &str) -> usize {
        self.store.count(resource)
    }

    /// How many objects there are in all.
    pub fn total(&self) -> usize {
        self.store.total()
    }

    /// About how many bytes of memory the objects take, with the remembered changes.
    pub fn memory(&self) -> usize {
        self.store.memory()
    }

    pub fn revision(&self) -> u64 {
        self.store.revision()
    }

    /// The writes that took effect, oldest first.
    pub fn writes(&self) -> impl Iterator<Item = &Write> {
        self.writes.iter()
    }

    /// The writes to one object, whatever its uid.
    pub fn writes_to(&self, resource: &str, key: &Key) -> impl Iterator<Item = &Write> {
        self.writes.iter().filter(move |write| write.resource == resource && write.key == *key)
    }

    /// Adds a fault rule behind the others.
    pub fn add_fault(&mut self, rule: Rule) {
        self.faults.add(rule);
    }

    /// Number of faults that the rules have made.
    pub fn faults_made(&self) -> u32 {
        self.faults.made()
    }

    /// Removes every fault rule.
    pub fn clear_faults(&mut self) {
        self.faults.clear();
    }

    /// Lets a token in as this user.
    pub fn add_token(&mut self, token: &str, user: User) {
        self.tokens.insert(token.to_owned(), user);
    }

    /// Forgets every change: whatever resumes from before now is told 410 Gone.
    pub fn forget_history(&mut self) {
        self.store.forget();
    }

    /// The API server restarts: every watch ends, and nothing can resume from before.
    pub fn restart(&mut self) {
        self.end_watches();
        self.store.forget();
    }
}
