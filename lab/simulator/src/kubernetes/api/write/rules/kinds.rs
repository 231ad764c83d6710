//! Rules by kind.

use serde_json::Value;

use super::events::{self, Api};
use super::maps::of_map;
use crate::kubernetes::api::crd;
use crate::kubernetes::api::state::{CRDS, FieldError, Resource};
use crate::kubernetes::store::objects::{self, list, number, text};

/// Returns the errors of a built-in object.
pub(crate) fn check(
    resource: &Resource,
    old: Option<&Value>,
    value: &mut Value,
) -> Vec<FieldError> {
    match resource.qualified().as_str() {
        CRDS => crd::check_definition(value),
        "configmaps" | "secrets" => of_map(old, value),
        "pods" => of_pod(old, value),
        "nodes" => of_node(old, value),
        "events" => events::check(Api::Core, old, value),
        "events.events.k8s.io" => events::check(Api::New, old, value),
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
