//! Metadata of all objects, and its validation.

use serde_json::Value;

use crate::kubernetes::api::state::{FieldError, Resource};
use crate::kubernetes::store::objects;

const MEMBERS: [&str; 15] = [
    "annotations",
    "clusterName",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "uid",
];

/// Drops unknown members, as a server does that decodes into types.
pub(crate) fn prune(resource: &Resource, value: &mut Value) {
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|name, _| MEMBERS.contains(&name.as_str()));
    }
    let own: &[&str] = match resource.qualified().as_str() {
        "configmaps" => &["data", "binaryData", "immutable"],
        "secrets" => &["data", "stringData", "type", "immutable"],
        "pods"
        | "nodes"
        | "namespaces"
        | "services"
        | "deployments.apps"
        | "replicasets.apps"
        | "daemonsets.apps"
        | "statefulsets.apps"
        | "poddisruptionbudgets.policy" => &["spec", "status"],
        "leases.coordination.k8s.io" => &["spec"],
        _ => return,
    };
    let kept =
        |name: &str| matches!(name, "apiVersion" | "kind" | "metadata") || own.contains(&name);
    objects::members(value).retain(|name, _| kept(name));
}

pub(crate) fn check(value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (name, label) in objects::labels(value) {
        if !is_qualified(name) {
            let why = "name part must consist of alphanumeric characters, '-', '_' or '.'";
            errors.push(FieldError::invalid("metadata.labels", &name.into(), why));
        }
        if !label.is_empty() && !is_name(label) {
            let why = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.'";
            errors.push(FieldError::invalid("metadata.labels", &label.into(), why));
        }
    }
    for finalizer in objects::finalizers(value).filter(|one| !is_qualified(one)) {
        let why = "name part must consist of alphanumeric characters, '-', '_' or '.'";
        errors.push(FieldError::invalid("metadata.finalizers", &finalizer.into(), why));
    }
    errors
}

fn is_qualified(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => {
            let letter = |byte: u8| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')
            };
            !prefix.is_empty() && prefix.bytes().all(letter) && is_name(name)
        }
        None => is_name(text),
    }
}

pub(super) fn is_name(text: &str) -> bool {
    is_word(text, 63, b"-_.")
}

/// Returns true for letters, digits and some others, with a letter or digit at both ends.
pub(super) fn is_word(text: &str, most: usize, others: &[u8]) -> bool {
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    text.len() <= most
        && ends.iter().all(|end| end.is_some_and(u8::is_ascii_alphanumeric))
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || others.contains(byte))
}
