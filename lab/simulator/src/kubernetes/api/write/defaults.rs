//! Defaults and rules of built-in resources that clients rely on.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::kubernetes::api::state::{CRDS, ObjectPart, Resource};
use crate::kubernetes::store::objects::{self, flag, text};

/// Resources whose updates require a resourceVersion.
pub(crate) fn needs_version(resource: &Resource) -> bool {
    resource.custom().is_some()
        || matches!(
            resource.plural.as_str(),
            "leases" | "poddisruptionbudgets" | "customresourcedefinitions" | "volumeattachments"
        )
}

/// Returns the reason if a name is not valid.
pub(crate) fn bad_name(resource: &Resource, name: &str) -> Option<&'static str> {
    if resource.group == "rbac.authorization.k8s.io" {
        return name.contains(['/', '%']).then_some("may not contain '/' or '%'");
    }
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let label = |label: &str| {
        let bytes = label.as_bytes();
        matches!((bytes.first(), bytes.last()), (Some(first), Some(last)) if letter(*first) && letter(*last))
            && bytes.iter().all(|byte| letter(*byte) || *byte == b'-')
    };
    if resource.qualified() == "namespaces" {
        return (!label(name) || name.len() > 63).then_some(
            "a DNS-1123 label must consist of lower case alphanumeric characters or '-', and must start and \
             end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
        );
    }
    (!name.split('.').all(label) || name.len() > 253).then_some(
        "a DNS-1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start \
         and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
         '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    )
}

/// Taint of a `NotReady` node.
pub(crate) const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// Removes `unschedulable: false`.
fn drop_false(value: &mut Value) {
    if !flag(value, &["spec", "unschedulable"]) {
        objects::remove(value, &["spec", "unschedulable"]);
    }
}

/// Sets the server's members of a new object, or removes them.
pub(crate) fn prepare_new(resource: &Resource, value: &mut Value) {
    match resource.qualified().as_str() {
        "namespaces" => {
            objects::set(value, &["spec", "finalizers"], json!(["kubernetes"]));
            objects::set(value, &["status"], json!({"phase": "Active"}));
            let name = objects::name(value).to_owned();
            objects::set(value, &["metadata", "labels", "kubernetes.io/metadata.name"], name);
        }
        "pods" => {
            defaults_of_pod(value);
            objects::set(value, &["status"], json!({"phase": "Pending", "qosClass": "BestEffort"}));
        }
        "nodes" => {
            taint_new_node(value);
            drop_false(value);
        }
        "services" => default(value, &["spec", "type"], "ClusterIP"),
        "secrets" => default(value, &["type"], "Opaque"),
        "deployments.apps" | "statefulsets.apps" | "replicasets.apps" => {
            default(value, &["spec", "replicas"], 1);
            objects::set(value, &["status"], json!({}));
        }
        "daemonsets.apps" | "poddisruptionbudgets.policy" => {
            objects::set(value, &["status"], json!({}));
        }
        CRDS => {
            let empty = json!({"conditions": Value::Null, "acceptedNames": {"plural": "", "kind": ""},
                "storedVersions": Value::Null});
            objects::set(value, &["status"], empty);
        }
        _ => {}
    }
    from_plain_secret(resource, value);
}

fn defaults_of_pod(value: &mut Value) {
    default(value, &["spec", "terminationGracePeriodSeconds"], 30);
    default(value, &["spec", "restartPolicy"], "Always");
    default(value, &["spec", "dnsPolicy"], "ClusterFirst");
    default(value, &["spec", "schedulerName"], "default-scheduler");
    default(value, &["spec", "enableServiceLinks"], true);
    default(value, &["spec", "tolerations"], json!([]));
    if let Some(tolerations) = value["spec"]["tolerations"].as_array_mut() {
        for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
            if !tolerations.iter().any(|one| text(one, &["key"]) == key) {
                tolerations.push(json!({
                    "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300,
                }));
            }
        }
    }
    for kind in ["containers", "initContainers"] {
        let containers = value["spec"].get_mut(kind).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let image = text(container, &["image"]);
            let tag =
                image.rsplit('/').next().and_then(|last| last.split_once(':')).map(|(_, tag)| tag);
            let pull =
                if tag.is_none_or(|tag| tag == "latest") { "Always" } else { "IfNotPresent" };
            default(container, &["imagePullPolicy"], pull);
            default(container, &["terminationMessagePath"], "/dev/termination-log");
            default(container, &["terminationMessagePolicy"], "File");
            default(container, &["resources"], json!({}));
        }
    }
}

fn taint_new_node(value: &mut Value) {
    let mut taints = objects::list(value, &["spec", "taints"]).to_vec();
    if !taints.iter().any(|taint| text(taint, &["key"]) == NOT_READY) {
        taints.push(json!({"key": NOT_READY, "effect": "NoSchedule"}));
    }
    objects::set(value, &["spec", "taints"], taints);
}

fn default(value: &mut Value, path: &[&str], default: impl Into<Value>) {
    if objects::at(value, path).is_none_or(Value::is_null) {
        objects::set(value, path, default);
    }
}

/// `stringData` is write-only.
fn from_plain_secret(resource: &Resource, value: &mut Value) {
    if resource.qualified() != "secrets" {
        return;
    }
    if let Some(Value::Object(plain)) = objects::remove(value, &["stringData"]) {
        for (name, text) in plain {
            let encoded = STANDARD.encode(text.as_str().unwrap_or_default());
            objects::set(value, &["data", &name], encoded);
        }
    }
}

/// Restores members of a built-in object that an update cannot change.
pub(crate) fn prepare_changed(
    resource: &Resource,
    value: &mut Value,
    old: &Value,
    part: ObjectPart,
) {
    from_plain_secret(resource, value);
    if resource.qualified() == "nodes" {
        drop_false(value);
    }
    if resource.qualified() == "namespaces" && part == ObjectPart::Main {
        // Only the deletion of its contents changes these.
        let was = objects::at(old, &["spec", "finalizers"]).cloned().unwrap_or(json!([]));
        objects::set(value, &["spec", "finalizers"], was);
    }
}
