//! Validation of built-in objects, as far as clients meet it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::kubernetes::api::crd;
use crate::kubernetes::api::state::{CRDS, FieldError, Resource, StatusError};
use crate::kubernetes::store::objects::{self, flag, list, number, text};

mod events;

use events::Api;

/// Maximum bytes of a `ConfigMap` or Secret.
const MAX_DATA_BYTES: usize = 1024 * 1024;

/// Rejects bodies that cannot be decoded into their types.
pub(crate) fn check_readable(resource: &Resource, value: &Value) -> Result<(), StatusError> {
    let encoded: &[&str] = match resource.qualified().as_str() {
        "configmaps" => &["binaryData"],
        "secrets" => &["data"],
        _ => &[],
    };
    for member in encoded {
        for (key, text) in objects::pairs(value.get(member)) {
            if STANDARD.decode(text).is_err() {
                return Err(StatusError::bad_request(format!(
                    "{} in version {:?} cannot be handled as a {}: {member}[{key}]: illegal base64 data",
                    resource.kind, resource.version, resource.kind
                )));
            }
        }
    }
    Ok(())
}

/// Returns the errors of a built-in object.
pub(crate) fn check(
    resource: &Resource,
    old: Option<&Value>,
    value: &mut Value,
    old_server: bool,
) -> Vec<FieldError> {
    match resource.qualified().as_str() {
        CRDS => crd::check_definition(value),
        "configmaps" | "secrets" => of_map(old, value),
        "pods" => of_pod(old, value),
        "nodes" => of_node(old, value),
        "events" => events::check(Api { new: false, old_server }, old, value),
        "events.events.k8s.io" => events::check(Api { new: true, old_server }, old, value),
        "leases.coordination.k8s.io" => match number(value, &["spec", "leaseDurationSeconds"]) {
            Some(seconds) if seconds <= 0 => vec![FieldError::invalid(
                "spec.leaseDurationSeconds",
                &seconds.into(),
                "must be greater than 0",
            )],
            _ => Vec::new(),
        },
        "deployments.apps" | "replicasets.apps" | "statefulsets.apps" | "daemonsets.apps" => {
            match old {
                Some(old) if old["spec"]["selector"] != value["spec"]["selector"] => {
                    let selector = &value["spec"]["selector"];
                    vec![FieldError::invalid("spec.selector", selector, "field is immutable")]
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

fn of_map(old: Option<&Value>, value: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut size = 0;
    for member in ["data", "binaryData"] {
        for (key, text) in objects::pairs(value.get(member)) {
            size += text.len();
            let fine =
                |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
            if key.is_empty() || key.len() > 253 || !key.bytes().all(fine) {
                let why =
                    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
                errors.push(FieldError::invalid(&format!("{member}[{key}]"), &key.into(), why));
            }
        }
    }
    if size > MAX_DATA_BYTES {
        errors.push(FieldError {
            reason: "FieldValueTooLong",
            field: String::new(),
            message: format!("Too long: must have at most {MAX_DATA_BYTES} bytes"),
        });
    }
    let Some(old) = old else { return errors };
    if flag(old, &["immutable"])
        && ["data", "binaryData", "immutable"].iter().any(|name| old.get(name) != value.get(name))
    {
        errors.push(FieldError::forbidden("data", "field is immutable when `immutable` is set"));
    }
    if old.get("type") != value.get("type") {
        errors.push(FieldError::invalid("type", &value["type"], "field is immutable"));
    }
    errors
}

fn of_pod(old: Option<&Value>, value: &Value) -> Vec<FieldError> {
    let Some(old) = old else {
        let empty = list(value, &["spec", "containers"]).is_empty();
        return if empty { vec![FieldError::required("spec.containers", "")] } else { Vec::new() };
    };
    let fixed = |pod: &Value| {
        let mut spec = pod["spec"].clone();
        for name in ["activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"] {
            objects::members(&mut spec).remove(name);
        }
        for kind in ["containers", "initContainers"] {
            if let Some(containers) = spec.get_mut(kind).and_then(Value::as_array_mut) {
                for one in containers {
                    objects::members(one).remove("image");
                }
            }
        }
        spec
    };
    if fixed(old) == fixed(value) {
        return Vec::new();
    }
    let why = "pod updates may not change fields other than `spec.containers[*].image`, \
               `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only \
               additions to existing tolerations)";
    vec![FieldError::forbidden("spec", why)]
}

fn of_node(old: Option<&Value>, value: &Value) -> Vec<FieldError> {
    let was = old.map_or("", |old| text(old, &["spec", "providerID"]));
    if was.is_empty() || was == text(value, &["spec", "providerID"]) {
        return Vec::new();
    }
    vec![FieldError::forbidden(
        "spec.providerID",
        "node updates may not change providerID except from \"\" to valid",
    )]
}
