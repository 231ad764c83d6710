//! What the server itself knows of built-in resources: a few defaults and rules that clients rely on.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::crd;
use super::objects::{self, flag, number, text};
use super::resources::Resource;
use super::status_error::FieldError;
use super::update::Part;

/// Resources whose updates must name the version that they replace.
pub(crate) fn needs_version(resource: &Resource) -> bool {
    resource.custom().is_some()
        || matches!(
            resource.plural.as_str(),
            "leases" | "poddisruptionbudgets" | "customresourcedefinitions" | "volumeattachments"
        )
}

/// Resources that an update creates when they are not there.
pub(crate) fn created_by_update(resource: &Resource) -> bool {
    matches!(
        resource.plural.as_str(),
        "events"
            | "leases"
            | "endpoints"
            | "roles"
            | "rolebindings"
            | "clusterroles"
            | "clusterrolebindings"
    )
}

/// Why a name is not valid, if it is not.
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
    let one_label = matches!(resource.qualified().as_str(), "namespaces");
    if one_label {
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

/// What the server adds to a new object, or takes from it.
pub(crate) fn prepare_new(resource: &Resource, value: &mut Value, now: Timestamp) {
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
        "events" if text(value, &["metadata", "creationTimestamp"]).is_empty() => {
            objects::set(value, &["metadata", "creationTimestamp"], objects::time(now));
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
        crd::TABLE => {
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
}

fn default(value: &mut Value, path: &[&str], default: impl Into<Value>) {
    if objects::at(value, path).is_none_or(Value::is_null) {
        objects::set(value, path, default);
    }
}

/// `stringData` is a way in, not a member.
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

/// What a change of a built-in object leaves as it was.
pub(crate) fn prepare_changed(resource: &Resource, value: &mut Value, old: &Value, part: Part) {
    from_plain_secret(resource, value);
    if resource.qualified() == "namespaces" && part == Part::Main {
        // Only the subresource `finalize` changes these.
        let was = objects::at(old, &["spec", "finalizers"]).cloned().unwrap_or(json!([]));
        objects::set(value, &["spec", "finalizers"], was);
    }
}

/// What is wrong with a built-in object, as far as clients meet it.
pub(crate) fn check(
    resource: &Resource,
    old: Option<&Value>,
    value: &mut Value,
) -> Vec<FieldError> {
    match (resource.qualified().as_str(), old) {
        (crd::TABLE, _) => crd::check_definition(value),
        ("configmaps" | "secrets", Some(old)) if flag(old, &["immutable"]) => {
            let same = ["data", "binaryData", "immutable"]
                .iter()
                .all(|name| old.get(name) == value.get(name));
            let why = "field is immutable when `immutable` is set";
            if same { Vec::new() } else { vec![FieldError::forbidden("data", why)] }
        }
        ("pods", None) if objects::list(value, &["spec", "containers"]).is_empty() => {
            vec![FieldError::required("spec.containers", "")]
        }
        ("leases.coordination.k8s.io", _) => {
            match number(value, &["spec", "leaseDurationSeconds"]) {
                Some(seconds) if seconds <= 0 => vec![FieldError::invalid(
                    "spec.leaseDurationSeconds",
                    &seconds.into(),
                    "must be greater than 0",
                )],
                _ => Vec::new(),
            }
        }
        (
            "deployments.apps" | "replicasets.apps" | "statefulsets.apps" | "daemonsets.apps",
            Some(old),
        ) if old["spec"]["selector"] != value["spec"]["selector"] => {
            let why = "field is immutable";
            vec![FieldError::invalid("spec.selector", &value["spec"]["selector"], why)]
        }
        _ => Vec::new(),
    }
}
