//! Deletion of namespaces and CRDs: their contents first.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kubernetes::api::crd::definition::CLEANUP;
use crate::kubernetes::api::state::{ApiServer, CRDS, WriteContext};
use crate::kubernetes::store::objects::{self, Key};

/// Empties terminating namespaces, reports what remains, and finalizes empty ones.
pub(crate) fn settle_namespaces(api: &mut ApiServer, now: Timestamp) {
    let ending: Vec<Value> = api
        .store
        .index()
        .ending_namespaces()
        .filter_map(|key| api.get("namespaces", key))
        .cloned()
        .collect();
    for namespace in ending {
        // Objects that cannot be deleted now are reported as remaining.
        for resource in api.catalog.namespaced_tables() {
            api.delete_all(&resource, Some(objects::name(&namespace)), now);
        }
        let (contents, holders) = left_in(api, objects::name(&namespace));
        let mut value = namespace.clone();
        if contents.is_empty() {
            objects::set(&mut value, &["spec", "finalizers"], json!([]));
        } else {
            say_what_is_left(&mut value, &contents, &holders, now);
        }
        if value != namespace {
            api.finish("namespaces", value, &WriteContext::cluster(now));
        }
    }
}

/// Returns the remaining objects and their finalizers, counted and in words.
fn left_in(api: &ApiServer, namespace: &str) -> (Vec<String>, Vec<String>) {
    let mut contents = Vec::new();
    let mut holders: BTreeMap<&str, usize> = BTreeMap::new();
    for resource in api.catalog.namespaced_tables() {
        let found: Vec<&Value> = api.objects(&resource.table, Some(namespace)).collect();
        if found.is_empty() {
            continue;
        }
        contents.push(format!("{} has {} resource instances", resource.qualified(), found.len()));
        for finalizer in found.into_iter().flat_map(objects::finalizers) {
            *holders.entry(finalizer).or_default() += 1;
        }
    }
    let holders =
        holders.iter().map(|(name, count)| format!("{name} in {count} resource instances"));
    (contents, holders.collect())
}

fn say_what_is_left(
    namespace: &mut Value,
    contents: &[String],
    holders: &[String],
    now: Timestamp,
) {
    let remaining = format!("Some resources are remaining: {}", contents.join(", "));
    let held =
        format!("Some content in the namespace has finalizers remaining: {}", holders.join(", "));
    let finalizers = if holders.is_empty() {
        ("False", "ContentHasNoFinalizers", "All content-preserving finalizers finished")
    } else {
        ("True", "SomeFinalizersRemain", held.as_str())
    };
    for (kind, (status, reason, message)) in [
        (
            "NamespaceDeletionDiscoveryFailure",
            ("False", "ResourcesDiscovered", "All resources successfully discovered"),
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            ("False", "ParsedGroupVersions", "All legacy kube types successfully parsed"),
        ),
        (
            "NamespaceDeletionContentFailure",
            (
                "False",
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ),
        ),
        ("NamespaceContentRemaining", ("True", "SomeResourcesRemain", remaining.as_str())),
        ("NamespaceFinalizersRemaining", finalizers),
    ] {
        objects::set_condition(namespace, kind, status, reason, message, now);
    }
}

/// Deletes the objects of deleted CRDs, and then the CRDs.
pub(crate) fn settle_definitions(api: &mut ApiServer, now: Timestamp) -> bool {
    let mut changed = false;
    for table in api.removed_definitions.clone() {
        let key = Key::new(None, &table);
        let Some(resource) = api.catalog.named(&table) else { continue };
        changed |= api.delete_all(&resource, None, now);
        let Some(definition) = api.get(CRDS, &key) else { continue };
        if api.store.count(&table) > 0 || objects::finalizers(definition).all(|one| one != CLEANUP)
        {
            continue;
        }
        let mut value = definition.clone();
        objects::remove_finalizer(&mut value, CLEANUP);
        api.finish(CRDS, value, &WriteContext::controller(now));
        changed = true;
    }
    changed
}
