//! Deployments, `ReplicaSets`, `StatefulSets` and `DaemonSets`.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kubernetes::api::state::{ApiServer, ChangeQueue, WriteContext};
use crate::kubernetes::api::write::create::suffix;
use crate::kubernetes::api::write::delete::DeleteOptions;
use crate::kubernetes::controllers::scheduler::tolerates;
use crate::kubernetes::store::objects::{self, number, text};

/// Handles workloads that were written, or whose objects were; a written node concerns every `DaemonSet`.
pub(crate) fn settle_workloads(api: &mut ApiServer, work: &ChangeQueue, now: Timestamp) {
    for table in ["deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps"] {
        let all: Vec<Value> = if table == "daemonsets.apps" && work.concerns("nodes") {
            api.objects(table, None).cloned().collect()
        } else {
            work.of(table).filter_map(|key| api.get(table, key)).cloned().collect()
        };
        for workload in all.iter().filter(|one| !objects::is_being_deleted(one)) {
            match table {
                "deployments.apps" => settle_deployment(api, workload, now),
                "daemonsets.apps" => settle_daemon_set(api, workload, now),
                _ => settle_replicas(api, table, workload, now),
            }
        }
    }
}

/// Returns the objects of a table with this owner.
fn owned_by<'a>(
    api: &'a ApiServer,
    owner: &Value,
    table: &'a str,
) -> impl Iterator<Item = &'a Value> {
    api.store
        .index()
        .dependents(objects::uid(owner))
        .filter(move |place| place.table == table)
        .filter_map(|place| api.get(&place.table, &place.key))
}

/// Keeps one `ReplicaSet` with the template and count of a Deployment.
fn settle_deployment(api: &mut ApiServer, deployment: &Value, now: Timestamp) {
    let namespace = objects::namespace(deployment).to_owned();
    let wanted = number(deployment, &["spec", "replicas"]).unwrap_or(1);
    let mine: Vec<Value> = owned_by(api, deployment, "replicasets.apps").cloned().collect();
    let template = &deployment["spec"]["template"];
    let current = mine.iter().find(|set| set["spec"]["template"] == *template);
    for old in mine.iter().filter(|set| set["spec"]["template"] != *template) {
        if number(old, &["spec", "replicas"]) != Some(0) {
            scale(api, old, 0, now);
        }
    }
    match current {
        None => {
            let name = format!("{}-{}", objects::name(deployment), suffix(&mut api.names));
            let set = json!({
                "apiVersion": "apps/v1", "kind": "ReplicaSet",
                "metadata": {
                    "name": name, "namespace": namespace, "labels": template["metadata"]["labels"],
                    "ownerReferences": [owner(deployment)],
                },
                "spec": {"replicas": wanted, "selector": deployment["spec"]["selector"], "template": template},
            });
            let _ = api.create(set, now);
        }
        Some(set) if number(set, &["spec", "replicas"]) != Some(wanted) => {
            scale(api, set, wanted, now);
        }
        Some(set) => {
            let count = |name: &str| number(set, &["status", name]).unwrap_or(0);
            let status = json!({
                "observedGeneration": deployment["metadata"]["generation"],
                "replicas": count("replicas"), "updatedReplicas": count("replicas"),
                "readyReplicas": count("readyReplicas"), "availableReplicas": count("readyReplicas"),
            });
            set_status(api, "deployments.apps", deployment, &status, now);
        }
    }
}

fn scale(api: &mut ApiServer, set: &Value, replicas: i64, now: Timestamp) {
    let patch = json!({"spec": {"replicas": replicas}});
    // The next run retries what fails.
    let _ = api.change("replicasets.apps", &objects::key_of(set), &patch, now);
}

/// Creates or deletes pods of a `ReplicaSet`, or of a `StatefulSet` by number.
fn settle_replicas(api: &mut ApiServer, table: &str, set: &Value, now: Timestamp) {
    let wanted = usize::try_from(number(set, &["spec", "replicas"]).unwrap_or(1)).unwrap_or(0);
    let mut pods = pods_of(api, set);
    let numbered = table == "statefulsets.apps";
    // Surplus pods are deleted newest first, those that do not run before others.
    pods.sort_by_key(|pod| (!is_ready(pod), objects::name(pod).to_owned()));
    let living: Vec<&Value> = pods.iter().filter(|pod| !objects::is_being_deleted(pod)).collect();
    if numbered {
        let taken: BTreeSet<&str> = pods.iter().map(objects::name).collect();
        for n in 0..wanted {
            let name = format!("{}-{n}", objects::name(set));
            if !taken.contains(name.as_str()) {
                start_pod(api, set, Some(name), None, now);
            }
        }
    } else {
        for _ in living.len()..wanted {
            start_pod(api, set, None, None, now);
        }
    }
    for pod in living.iter().skip(wanted) {
        stop_pod(api, pod, now);
    }
    let ready = living.iter().filter(|pod| is_ready(pod)).count();
    let status = json!({
        "observedGeneration": set["metadata"]["generation"],
        "replicas": living.len(), "readyReplicas": ready, "availableReplicas": ready,
    });
    set_status(api, table, set, &status, now);
}

/// Keeps a pod on every node that a `DaemonSet` tolerates.
fn settle_daemon_set(api: &mut ApiServer, set: &Value, now: Timestamp) {
    let pods = pods_of(api, set);
    let template = &set["spec"]["template"];
    let nodes: Vec<String> = api
        .objects("nodes", None)
        .filter(|node| !objects::is_being_deleted(node) && tolerates(template, node, true))
        .map(|node| objects::name(node).to_owned())
        .collect();
    for node in &nodes {
        if !pods.iter().any(|pod| text(pod, &["spec", "nodeName"]) == node) {
            start_pod(api, set, None, Some(node), now);
        }
    }
    let ready = pods.iter().filter(|pod| is_ready(pod)).count();
    let status = json!({
        "observedGeneration": set["metadata"]["generation"],
        "desiredNumberScheduled": nodes.len(), "currentNumberScheduled": nodes.len(),
        "numberReady": ready, "numberAvailable": ready, "numberMisscheduled": 0,
    });
    set_status(api, "daemonsets.apps", set, &status, now);
}

/// Returns the pods of a workload that have not ended.
fn pods_of(api: &ApiServer, workload: &Value) -> Vec<Value> {
    owned_by(api, workload, "pods")
        .filter(|pod| !matches!(text(pod, &["status", "phase"]), "Succeeded" | "Failed"))
        .cloned()
        .collect()
}

fn start_pod(
    api: &mut ApiServer,
    set: &Value,
    name: Option<String>,
    node: Option<&str>,
    now: Timestamp,
) {
    let template = &set["spec"]["template"];
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": template["metadata"], "spec": template["spec"],
    });
    if let Some(name) = name {
        objects::set(&mut pod, &["metadata", "name"], name);
    } else {
        let base = format!("{}-", objects::name(set));
        objects::set(&mut pod, &["metadata", "generateName"], base);
    }
    objects::set(&mut pod, &["metadata", "namespace"], objects::namespace(set));
    objects::set(&mut pod, &["metadata", "ownerReferences"], json!([owner(set)]));
    if let Some(node) = node {
        objects::set(&mut pod, &["spec", "nodeName"], node);
    }
    let _ = api.create(pod, now);
}

fn stop_pod(api: &mut ApiServer, pod: &Value, now: Timestamp) {
    let Some(pods) = api.catalog.named("pods") else { return };
    let (key, options) = (objects::key_of(pod), DeleteOptions::default());
    let _ = api.delete_object(&pods, &key, &options, &WriteContext::cluster(now));
}

fn set_status(api: &mut ApiServer, table: &str, object: &Value, status: &Value, now: Timestamp) {
    api.amend(table, object, now, |value| {
        for (name, status) in status.as_object().into_iter().flatten() {
            objects::set(value, &["status", name], status.clone());
        }
    });
}

pub(crate) fn is_ready(pod: &Value) -> bool {
    objects::condition(pod, "Ready") == Some("True") && !objects::is_being_deleted(pod)
}

fn owner(object: &Value) -> Value {
    json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"],
        "name": object["metadata"]["name"], "uid": object["metadata"]["uid"],
        "controller": true, "blockOwnerDeletion": true,
    })
}
