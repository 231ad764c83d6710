//! Deployments, replica sets, stateful sets and daemon sets: as many pods as are wanted.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::delete::DeleteOptions;
use super::inside::Writer;
use super::model::Kubernetes;
use super::objects::{self, number, text};
use super::scheduler::tolerates;
use super::settle::Work;

impl Kubernetes {
    /// Workloads that were written, or something of theirs; a node that was written concerns every daemon set.
    pub(crate) fn settle_workloads(&mut self, work: &Work, now: Timestamp) {
        for table in
            ["deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps"]
        {
            let all: Vec<Value> = if table == "daemonsets.apps" && work.concerns("nodes") {
                self.objects(table, None).cloned().collect()
            } else {
                work.of(table).filter_map(|key| self.get(table, key)).cloned().collect()
            };
            for workload in all.iter().filter(|one| !objects::is_being_deleted(one)) {
                match table {
                    "deployments.apps" => self.settle_deployment(workload, now),
                    "daemonsets.apps" => self.settle_daemon_set(workload, now),
                    _ => self.settle_replicas(table, workload, now),
                }
            }
        }
    }

    /// The objects of a table that name this one as an owner.
    fn owned_by(&self, owner: &Value, table: &str) -> impl Iterator<Item = &Value> {
        self.store
            .index()
            .dependents(objects::uid(owner))
            .filter(move |place| place.table == table)
            .filter_map(|place| self.get(&place.table, &place.key))
    }

    /// A deployment has one replica set with its template and its count.
    fn settle_deployment(&mut self, deployment: &Value, now: Timestamp) {
        let namespace = objects::namespace(deployment).to_owned();
        let wanted = number(deployment, &["spec", "replicas"]).unwrap_or(1);
        let mine: Vec<Value> = self.owned_by(deployment, "replicasets.apps").cloned().collect();
        let template = &deployment["spec"]["template"];
        let current = mine.iter().find(|set| set["spec"]["template"] == *template);
        for old in mine.iter().filter(|set| set["spec"]["template"] != *template) {
            if number(old, &["spec", "replicas"]) != Some(0) {
                let patch = json!({"spec": {"replicas": 0}});
                // The next look at it tries again what fails.
                let _ = self.change("replicasets.apps", &objects::key_of(old), &patch, now);
            }
        }
        match current {
            None => {
                let name = format!(
                    "{}-{}",
                    objects::name(deployment),
                    super::create::suffix(&mut self.names)
                );
                let set = json!({
                    "apiVersion": "apps/v1", "kind": "ReplicaSet",
                    "metadata": {
                        "name": name, "namespace": namespace, "labels": template["metadata"]["labels"],
                        "ownerReferences": [owner(deployment)],
                    },
                    "spec": {"replicas": wanted, "selector": deployment["spec"]["selector"], "template": template},
                });
                let _ = self.create(set, now);
            }
            Some(set) if number(set, &["spec", "replicas"]) != Some(wanted) => {
                let patch = json!({"spec": {"replicas": wanted}});
                let _ = self.change("replicasets.apps", &objects::key_of(set), &patch, now);
            }
            Some(set) => {
                let count = |name: &str| number(set, &["status", name]).unwrap_or(0);
                let status = json!({
                    "observedGeneration": deployment["metadata"]["generation"],
                    "replicas": count("replicas"), "updatedReplicas": count("replicas"),
                    "readyReplicas": count("readyReplicas"), "availableReplicas": count("readyReplicas"),
                });
                self.tell_status("deployments.apps", deployment, &status, now);
            }
        }
    }

    /// A replica set has as many pods as it says; a stateful set has them by number.
    fn settle_replicas(&mut self, table: &str, set: &Value, now: Timestamp) {
        let wanted = usize::try_from(number(set, &["spec", "replicas"]).unwrap_or(1)).unwrap_or(0);
        let mut pods = self.pods_of(set);
        let numbered = table == "statefulsets.apps";
        // The newest go first when there are too many: those that do not run yet.
        pods.sort_by_key(|pod| (!is_ready(pod), objects::name(pod).to_owned()));
        let living: Vec<&Value> =
            pods.iter().filter(|pod| !objects::is_being_deleted(pod)).collect();
        if numbered {
            let taken: BTreeSet<&str> = pods.iter().map(objects::name).collect();
            for n in 0..wanted {
                let name = format!("{}-{n}", objects::name(set));
                if !taken.contains(name.as_str()) {
                    self.start_pod(set, Some(name), None, now);
                }
            }
        } else {
            for _ in living.len()..wanted {
                self.start_pod(set, None, None, now);
            }
        }
        for pod in living.iter().skip(wanted) {
            self.stop_pod(pod, now);
        }
        let ready = living.iter().filter(|pod| is_ready(pod)).count();
        let status = json!({
            "observedGeneration": set["metadata"]["generation"],
            "replicas": living.len(), "readyReplicas": ready, "availableReplicas": ready,
        });
        self.tell_status(table, set, &status, now);
    }

    /// A daemon set has a pod on every node that it tolerates.
    fn settle_daemon_set(&mut self, set: &Value, now: Timestamp) {
        let pods = self.pods_of(set);
        let template = &set["spec"]["template"];
        let nodes: Vec<String> = self
            .objects("nodes", None)
            .filter(|node| !objects::is_being_deleted(node) && tolerates(template, node, true))
            .map(|node| objects::name(node).to_owned())
            .collect();
        for node in &nodes {
            if !pods.iter().any(|pod| text(pod, &["spec", "nodeName"]) == node) {
                self.start_pod(set, None, Some(node), now);
            }
        }
        let ready = pods.iter().filter(|pod| is_ready(pod)).count();
        let status = json!({
            "observedGeneration": set["metadata"]["generation"],
            "desiredNumberScheduled": nodes.len(), "currentNumberScheduled": nodes.len(),
            "numberReady": ready, "numberAvailable": ready, "numberMisscheduled": 0,
        });
        self.tell_status("daemonsets.apps", set, &status, now);
    }

    /// The pods that belong to a workload and have not ended.
    fn pods_of(&self, workload: &Value) -> Vec<Value> {
        self.owned_by(workload, "pods")
            .filter(|pod| !matches!(text(pod, &["status", "phase"]), "Succeeded" | "Failed"))
            .cloned()
            .collect()
    }

    fn start_pod(&mut self, set: &Value, name: Option<String>, node: Option<&str>, now: Timestamp) {
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
        let _ = self.create(pod, now);
    }

    fn stop_pod(&mut self, pod: &Value, now: Timestamp) {
        let Some(pods) = self.catalogue.named("pods") else { return };
        let options = DeleteOptions::background();
        let key = objects::key_of(pod);
        let _ = self.delete_object(&pods, &key, &options, &Writer::cluster(), now);
    }

    fn tell_status(&mut self, table: &str, object: &Value, status: &Value, now: Timestamp) {
        let mut value = object.clone();
        for (name, status) in status.as_object().into_iter().flatten() {
            objects::set(&mut value, &["status", name], status.clone());
        }
        if value != *object {
            self.store_object(table, value, now, None);
        }
    }
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
