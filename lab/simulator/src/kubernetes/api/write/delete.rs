//! Deletion: preconditions, finalizers, grace. Dependents go in the background, as all clients ask for.

use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{ResourceRequest, converted, json_answer};
use crate::kubernetes::api::state::{ApiResult, ApiServer, Resource, StatusError, WriteContext};
use crate::kubernetes::store::objects::{self, Key};

#[derive(Debug, Clone, Default)]
pub(crate) struct DeleteOptions {
    grace: Option<i64>,
    uid: Option<String>,
    version: Option<String>,
    pub(crate) dry_run: bool,
}

pub(crate) enum Deleted {
    /// Deleted; this was its last state.
    Gone(Value),
    /// Kept until its finalizers or its grace period allow the removal.
    Going(Value),
}

impl DeleteOptions {
    pub(crate) fn of(call: &ResourceRequest<'_>) -> ApiResult<Self> {
        let body = if call.request.body().is_empty() { Value::Null } else { call.body()? };
        Ok(Self::from_body(&body))
    }

    pub(crate) fn from_body(body: &Value) -> Self {
        let text =
            |path: &[&str]| objects::at(body, path).and_then(Value::as_str).map(str::to_owned);
        Self {
            grace: objects::number(body, &["gracePeriodSeconds"]),
            uid: text(&["preconditions", "uid"]),
            version: text(&["preconditions", "resourceVersion"]),
            dry_run: objects::list(body, &["dryRun"]).iter().any(|one| one == "All"),
        }
    }

    /// Returns options for immediate deletion, regardless of the object's grace period.
    pub(crate) fn now() -> Self {
        Self { grace: Some(0), ..Self::default() }
    }

    fn check(&self, resource: &Resource, name: &str, object: &Value) -> ApiResult<()> {
        let (uid, version) =
            (objects::uid(object), objects::text(object, &["metadata", "resourceVersion"]));
        if let Some(wanted) = self.uid.as_deref().filter(|wanted| *wanted != uid) {
            let why = format!(
                "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). The object \
                 might have been deleted and then recreated"
            );
            return Err(StatusError::precondition(resource, name, &why));
        }
        if let Some(wanted) = self.version.as_deref().filter(|wanted| *wanted != version) {
            let why = format!(
                "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in \
                 record ({version}). The object might have been modified"
            );
            return Err(StatusError::precondition(resource, name, &why));
        }
        Ok(())
    }

    /// Returns the grace period in seconds; only pods have one.
    fn grace_for(&self, resource: &Resource, object: &Value) -> i64 {
        if resource.qualified() != "pods" {
            return 0;
        }
        let own = objects::number(object, &["spec", "terminationGracePeriodSeconds"]).unwrap_or(30);
        let ended = matches!(objects::text(object, &["status", "phase"]), "Succeeded" | "Failed");
        if ended || objects::text(object, &["spec", "nodeName"]).is_empty() {
            return 0;
        }
        self.grace.filter(|grace| *grace >= 0).unwrap_or(own)
    }
}

impl ApiServer {
    pub(crate) fn serve_delete(&mut self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        let resource = call.resource();
        let options = DeleteOptions::of(call)?;
        let mut writer = call.writer("delete");
        writer.dry_run |= options.dry_run;
        match self.delete_object(resource, &call.key(), &options, &writer)? {
            Deleted::Gone(last) if !returns_object(resource) => {
                let mut details = json!({
                    "name": call.name(), "kind": resource.plural, "uid": objects::uid(&last),
                });
                if !resource.group.is_empty() {
                    details["group"] = resource.group.clone().into();
                }
                let status = json!({
                    "kind": "Status", "apiVersion": "v1", "metadata": {},
                    "status": "Success", "details": details,
                });
                Ok(json_answer(StatusCode::OK, &status))
            }
            Deleted::Gone(object) | Deleted::Going(object) => {
                Ok(json_answer(StatusCode::OK, &converted(resource, &object)))
            }
        }
    }

    /// Deletes the objects of a resource, or of one of its namespaces, that are not being deleted
    /// yet. Returns true if there were any.
    pub(crate) fn delete_all(
        &mut self,
        resource: &Resource,
        namespace: Option<&str>,
        now: Timestamp,
    ) -> bool {
        let living = self.store.list(&resource.table, namespace);
        let living = living.filter(|(_, object)| !objects::is_being_deleted(&object.value));
        let keys: Vec<Key> = living.map(|(key, _)| key.clone()).collect();
        let (options, writer) = (DeleteOptions::default(), WriteContext::cluster(now));
        let mut any = false;
        for key in keys {
            any |= self.delete_object(resource, &key, &options, &writer).is_ok();
        }
        any
    }

    pub(crate) fn delete_object(
        &mut self,
        resource: &Resource,
        key: &Key,
        options: &DeleteOptions,
        writer: &WriteContext,
    ) -> ApiResult<Deleted> {
        let old = self.stored(resource, key)?.value.clone();
        options.check(resource, &key.name, &old)?;
        self.admit(resource, "DELETE", &key.name)?;
        let mut object = old.clone();
        let is_namespace = resource.qualified() == "namespaces";
        // The cluster's own namespaces cannot be deleted.
        if is_namespace && matches!(key.name.as_str(), "default" | "kube-system" | "kube-public") {
            let why = "this namespace may not be deleted";
            return Err(StatusError::forbidden(resource, &key.name, why));
        }
        let was_going = objects::is_being_deleted(&old);
        let grace = options.grace_for(resource, &old);
        let left = objects::number(&old, &["metadata", "deletionGracePeriodSeconds"]);
        let waits = objects::finalizers(&object).next().is_some()
            || grace > 0
            || (is_namespace && !objects::list(&object, &["spec", "finalizers"]).is_empty());
        if !waits {
            if !writer.dry_run {
                self.erase(&resource.table, key, writer);
            }
            return Ok(Deleted::Gone(object));
        }
        // A second deletion can only shorten the grace period.
        if !was_going || left.is_some_and(|left| grace < left) {
            let ends = writer.now.checked_add(SignedDuration::from_secs(grace));
            let ends = ends.unwrap_or(writer.now);
            objects::set(&mut object, &["metadata", "deletionTimestamp"], objects::time(ends));
            objects::set(&mut object, &["metadata", "deletionGracePeriodSeconds"], grace);
        }
        if !was_going && let Some(generation) = objects::number(&old, &["metadata", "generation"]) {
            objects::set(&mut object, &["metadata", "generation"], generation + 1);
        }
        if is_namespace {
            objects::set(&mut object, &["status", "phase"], "Terminating");
            objects::remove(&mut object, &["metadata", "deletionGracePeriodSeconds"]);
        }
        if object == old {
            return Ok(Deleted::Going(object));
        }
        Ok(Deleted::Going(self.finish(&resource.table, object, writer)))
    }
}

/// Most resources respond to a deletion with a `Status`; these with the object.
fn returns_object(resource: &Resource) -> bool {
    matches!(
        resource.qualified().as_str(),
        "pods" | "serviceaccounts" | "persistentvolumeclaims" | "persistentvolumes"
    )
}
