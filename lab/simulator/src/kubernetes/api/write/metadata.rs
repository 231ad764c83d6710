//! Metadata of all objects.

use serde_json::Value;

use crate::kubernetes::api::state::Resource;
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
