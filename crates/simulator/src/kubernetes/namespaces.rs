//! Namespaces that end: their contents first, then they.

use http::{Method, StatusCode};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::delete::DeleteOptions;
use super::inside::Writer;
use super::model::Kubernetes;
use super::objects::{self, Key};
use super::request::{Call, ResourceTarget};
use super::resources::Resource;
use super::status_error::StatusError;
use crate::exchange::Response;

/// The cluster's own namespaces stay.
pub(crate) fn check_deletable(resource: &Resource, key: &Key) -> Result<(), StatusError> {
    if matches!(key.name.as_str(), "default" | "kube-system" | "kube-public") {
        return Err(StatusError::forbidden(
            resource,
            &key.name,
            "this namespace may not be deleted",
        ));
    }
    Ok(())
}

impl Kubernetes {
    /// The subresource by which a namespace's own finalizers are changed.
    pub(crate) fn finalize_namespace(
        &mut self,
        call: &Call<'_>,
        target: &ResourceTarget,
        now: Timestamp,
    ) -> Result<Response, StatusError> {
        if *call.request.method() != Method::PUT {
            return Err(StatusError::method_not_allowed());
        }
        let name = target.name.as_deref().unwrap_or_default();
        let body = call.body()?;
        let mut value = self.find(target, name)?.value.clone();
        let finalizers = objects::list(&body, &["spec", "finalizers"]).to_vec();
        objects::set(&mut value, &["spec", "finalizers"], finalizers);
        let writer = Writer::of(call, "update");
        let stored = self.keep_or_end(&value, &writer, now);
        Ok(super::create::written(call, &target.resource, &stored, StatusCode::OK, now))
    }

    fn keep_or_end(&mut self, value: &Value, writer: &Writer, now: Timestamp) -> Value {
        let done = objects::is_being_deleted(value)
            && objects::list(value, &["spec", "finalizers"]).is_empty()
            && objects::finalizers(value).next().is_none();
        if done && !writer.dry_run {
            self.erase("namespaces", &objects::key_of(value), now, Some(writer));
            return value.clone();
        }
        if writer.dry_run {
            return value.clone();
        }
        self.store_object("namespaces", value.clone(), now, Some(writer))
    }

    /// Empties namespaces that are being deleted, says what is left in them, and lets go of empty ones.
    pub(crate) fn settle_namespaces(&mut self, now: Timestamp) {
        let ending: Vec<Value> = self
            .store
            .index()
            .ending_namespaces()
            .filter_map(|key| self.get("namespaces", key))
            .cloned()
            .collect();
        for namespace in ending {
            self.empty(objects::name(&namespace), now);
            let left = self.left_in(objects::name(&namespace));
            let mut value = namespace.clone();
            if left.is_empty() {
                objects::set(&mut value, &["spec", "finalizers"], json!([]));
            } else {
                say_what_is_left(&mut value, &left, now);
            }
            if value != namespace {
                self.keep_or_end(&value, &Writer::cluster(), now);
            }
        }
    }

    fn empty(&mut self, namespace: &str, now: Timestamp) {
        for resource in self.catalogue.namespaced_tables() {
            let keys: Vec<Key> = self
                .store
                .list(&resource.table, Some(namespace))
                .filter(|(_, object)| !objects::is_being_deleted(&object.value))
                .map(|(key, _)| key.clone())
                .collect();
            for key in keys {
                let options = DeleteOptions::background();
                // What cannot go now is told as left.
                let _ = self.delete_object(&resource, &key, &options, &Writer::cluster(), now);
            }
        }
    }

    /// What is left: (resource, how many, their finalizers).
    fn left_in(&self, namespace: &str) -> Vec<(String, usize, Vec<String>)> {
        let mut left = Vec::new();
        for resource in self.catalogue.namespaced_tables() {
            let found: Vec<&Value> = self.objects(&resource.table, Some(namespace)).collect();
            if found.is_empty() {
                continue;
            }
            let finalizers = found
                .iter()
                .flat_map(|object| objects::finalizers(object))
                .map(str::to_owned)
                .collect();
            left.push((resource.qualified(), found.len(), finalizers));
        }
        left
    }
}

fn say_what_is_left(namespace: &mut Value, left: &[(String, usize, Vec<String>)], now: Timestamp) {
    let contents: Vec<String> = left
        .iter()
        .map(|(what, count, _)| format!("{what} has {count} resource instances"))
        .collect();
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for finalizer in left.iter().flat_map(|(_, _, finalizers)| finalizers) {
        *counts.entry(finalizer).or_default() += 1;
    }
    let holders: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{name} in {count} resource instances"))
        .collect();
    let quiet = [
        (
            "NamespaceDeletionDiscoveryFailure",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        (
            "NamespaceDeletionContentFailure",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
    ];
    for (kind, reason, message) in quiet {
        objects::set_condition(namespace, kind, "False", reason, message, now);
    }
    let message = format!("Some resources are remaining: {}", contents.join(", "));
    objects::set_condition(
        namespace,
        "NamespaceContentRemaining",
        "True",
        "SomeResourcesRemain",
        &message,
        now,
    );
    if holders.is_empty() {
        let message = "All content-preserving finalizers finished";
        objects::set_condition(
            namespace,
            "NamespaceFinalizersRemaining",
            "False",
            "ContentHasNoFinalizers",
            message,
            now,
        );
    } else {
        let message = format!(
            "Some content in the namespace has finalizers remaining: {}",
            holders.join(", ")
        );
        objects::set_condition(
            namespace,
            "NamespaceFinalizersRemaining",
            "True",
            "SomeFinalizersRemain",
            &message,
            now,
        );
    }
}
