//! Rules by kind.

use serde_json::Value;

use super::events::{self, Api};
use super::maps::of_map;
use crate::kubernetes::api::crd;
use crate::kubernetes::api::state::{CRDS, FieldError, Resource};
use crate::kubernetes::store::objects::{list, number};

/// Returns the errors of a built-in object.
pub(crate) fn check(
    resource: &Resource,
    old: Option<&Value>,
    value: &mut Value,
) -> Vec<FieldError> {
    match resource.qualified().as_str() {
        CRDS => {
            crd::complete_definition(value);
            Vec::new()
        }
        "configmaps" | "secrets" => of_map(old, value),
        "pods" => of_pod(value),
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
        _ => Vec::new(),
    }
}

fn of_pod(value: &Value) -> Vec<FieldError> {
    let empty = list(value, &["spec", "containers"]).is_empty();
    if empty { vec![FieldError::required("spec.containers", "")] } else { Vec::new() }
}
