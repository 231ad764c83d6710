//! The columns of built-in resources.

use jiff::Timestamp;
use serde_json::Value;

use super::age::age;
use crate::kubernetes::api::state::Resource;
use crate::kubernetes::store::objects::{self, at, flag, list, number, text, time_at};

type Columns = &'static [(&'static str, &'static str, i64)];

const INT: &str = "integer";
const TEXT: &str = "string";

/// Returns name, type and priority of each column after the name.
pub(super) fn columns(resource: &Resource) -> Columns {
    match resource.qualified().as_str() {
        "pods" => &[
            ("Ready", TEXT, 0),
            ("Status", TEXT, 0),
            ("Restarts", TEXT, 0),
            ("Age", TEXT, 0),
            ("IP", TEXT, 1),
            ("Node", TEXT, 1),
        ],
        "nodes" => {
            &[("Status", TEXT, 0), ("Roles", TEXT, 0), ("Age", TEXT, 0), ("Version", TEXT, 0)]
        }
        "namespaces" => &[("Status", TEXT, 0), ("Age", TEXT, 0)],
        "configmaps" => &[("Data", INT, 0), ("Age", TEXT, 0)],
        "secrets" => &[("Type", TEXT, 0), ("Data", INT, 0), ("Age", TEXT, 0)],
        "events" | "events.events.k8s.io" => &[
            ("Last Seen", TEXT, 0),
            ("Type", TEXT, 0),
            ("Reason", TEXT, 0),
            ("Object", TEXT, 0),
            ("Message", TEXT, 0),
        ],
        "deployments.apps" => {
            &[("Ready", TEXT, 0), ("Up-to-date", INT, 0), ("Available", INT, 0), ("Age", TEXT, 0)]
        }
        "statefulsets.apps" => &[("Ready", TEXT, 0), ("Age", TEXT, 0)],
        "replicasets.apps" | "daemonsets.apps" => {
            &[("Desired", INT, 0), ("Current", INT, 0), ("Ready", INT, 0), ("Age", TEXT, 0)]
        }
        "poddisruptionbudgets.policy" => &[
            ("Min Available", TEXT, 0),
            ("Max Unavailable", TEXT, 0),
            ("Allowed Disruptions", INT, 0),
            ("Age", TEXT, 0),
        ],
        "leases.coordination.k8s.io" => &[("Holder", TEXT, 0), ("Age", TEXT, 0)],
        "customresourcedefinitions.apiextensions.k8s.io" => &[("Created At", "date", 0)],
        _ => &[("Age", TEXT, 0)],
    }
}

pub(super) fn cells(resource: &Resource, value: &Value, now: Timestamp) -> Vec<Value> {
    let created = time_at(value, &["metadata", "creationTimestamp"]);
    let old: Value = created.map_or("<unknown>".to_owned(), |then| age(then, now)).into();
    let count = |path: &[&str]| Value::from(number(value, path).unwrap_or(0));
    let size = |member: &str| {
        Value::from(value.get(member).and_then(Value::as_object).map_or(0, serde_json::Map::len))
    };
    let or = |path: &[&str], other: &str| match at(value, path) {
        Some(Value::String(text)) if !text.is_empty() => text.clone().into(),
        Some(Value::Number(number)) => number.to_string().into(),
        _ => Value::from(other),
    };
    let ready = |wanted: &[&str]| {
        let of = number(value, wanted).unwrap_or(0);
        Value::from(format!("{}/{of}", number(value, &["status", "readyReplicas"]).unwrap_or(0)))
    };
    match resource.qualified().as_str() {
        "pods" => {
            let all = list(value, &["spec", "containers"]).len();
            let containers = list(value, &["status", "containerStatuses"]);
            let up = containers.iter().filter(|one| flag(one, &["ready"])).count();
            let restarts: i64 =
                containers.iter().filter_map(|one| number(one, &["restartCount"])).sum();
            let status = if objects::is_being_deleted(value) {
                "Terminating".into()
            } else {
                or(&["status", "phase"], "Unknown")
            };
            vec![
                format!("{up}/{all}").into(),
                status,
                restarts.to_string().into(),
                old,
                or(&["status", "podIP"], "<none>"),
                or(&["spec", "nodeName"], "<none>"),
            ]
        }
        "nodes" => {
            let mut status = match objects::condition(value, "Ready") {
                Some("True") => "Ready".to_owned(),
                Some(_) => "NotReady".to_owned(),
                None => "Unknown".to_owned(),
            };
            if flag(value, &["spec", "unschedulable"]) {
                status.push_str(",SchedulingDisabled");
            }
            let roles: Vec<&str> = objects::labels(value)
                .filter_map(|(name, _)| name.strip_prefix("node-role.kubernetes.io/"))
                .collect();
            let roles = if roles.is_empty() { "<none>".to_owned() } else { roles.join(",") };
            vec![
                status.into(),
                roles.into(),
                old,
                or(&["status", "nodeInfo", "kubeletVersion"], ""),
            ]
        }
        "namespaces" => vec![or(&["status", "phase"], ""), old],
        "configmaps" => vec![size("data"), old],
        "secrets" => vec![or(&["type"], ""), size("data"), old],
        "events" | "events.events.k8s.io" => event(value, now),
        "deployments.apps" => vec![
            ready(&["spec", "replicas"]),
            count(&["status", "updatedReplicas"]),
            count(&["status", "availableReplicas"]),
            old,
        ],
        "statefulsets.apps" => vec![ready(&["spec", "replicas"]), old],
        "replicasets.apps" => vec![
            count(&["spec", "replicas"]),
            count(&["status", "replicas"]),
            count(&["status", "readyReplicas"]),
            old,
        ],
        "daemonsets.apps" => vec![
            count(&["status", "desiredNumberScheduled"]),
            count(&["status", "currentNumberScheduled"]),
            count(&["status", "numberReady"]),
            old,
        ],
        "poddisruptionbudgets.policy" => vec![
            or(&["spec", "minAvailable"], "N/A"),
            or(&["spec", "maxUnavailable"], "N/A"),
            count(&["status", "disruptionsAllowed"]),
            old,
        ],
        "leases.coordination.k8s.io" => vec![or(&["spec", "holderIdentity"], ""), old],
        "customresourcedefinitions.apiextensions.k8s.io" => {
            vec![value["metadata"]["creationTimestamp"].clone()]
        }
        _ => vec![old],
    }
}

fn event(value: &Value, now: Timestamp) -> Vec<Value> {
    let about = if value.get("regarding").is_some() { "regarding" } else { "involvedObject" };
    let message = if value.get("note").is_some() { "note" } else { "message" };
    let seen = [
        &["series", "lastObservedTime"][..],
        &["lastTimestamp"],
        &["deprecatedLastTimestamp"],
        &["eventTime"],
        &["metadata", "creationTimestamp"],
    ]
    .iter()
    .find_map(|path| time_at(value, path));
    let object = format!(
        "{}/{}",
        text(value, &[about, "kind"]).to_ascii_lowercase(),
        text(value, &[about, "name"])
    );
    vec![
        seen.map_or("<unknown>".to_owned(), |then| age(then, now)).into(),
        text(value, &["type"]).into(),
        text(value, &["reason"]).into(),
        object.into(),
        text(value, &[message]).trim().into(),
    ]
}
