//! Pods on nodes: they run a little after they were placed, and are gone a little after they were ended.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::builtin::NOT_READY;
use super::model::Kubernetes;
use super::objects::{self, Key, list, number, text, time_at};
use super::settle::Work;

/// What is due for a pod.
enum Next {
    /// It runs.
    Start,
    /// It is gone.
    End,
    /// Nothing before this time.
    At(Timestamp),
    /// Nothing, unless something changes.
    Nothing,
}

impl Kubernetes {
    /// A node that says it is ready loses the taint that keeps pods away, and gets it back when it is not.
    pub(crate) fn settle_nodes(&mut self, work: &Work, now: Timestamp) {
        for key in work.of("nodes") {
            let Some(node) = self.get("nodes", key) else { continue };
            let ready = objects::condition(node, "Ready") == Some("True");
            let mut taints = list(node, &["spec", "taints"]).to_vec();
            let tainted = taints.iter().any(|taint| text(taint, &["key"]) == NOT_READY);
            if ready != tainted {
                continue;
            }
            if ready {
                taints.retain(|taint| text(taint, &["key"]) != NOT_READY);
            } else {
                taints.push(json!({"key": NOT_READY, "effect": "NoSchedule"}));
            }
            let mut value = node.clone();
            if taints.is_empty() {
                objects::remove(&mut value, &["spec", "taints"]);
            } else {
                objects::set(&mut value, &["spec", "taints"], taints);
            }
            self.store_object("nodes", value, now, None);
        }
    }

    /// Pods that were written, whose time has come, or whose node was written.
    pub(crate) fn settle_pods(&mut self, work: &Work, now: Timestamp) {
        let index = self.store.index();
        let beside = work.of("nodes").flat_map(|node| index.pods_on(&node.name));
        let pods: BTreeSet<Key> = work.of("pods").chain(beside).cloned().collect();
        for key in pods {
            let next = self.get("pods", &key).map_or(Next::Nothing, |pod| self.next_of(pod, now));
            self.timers.pods.set(&key, if let Next::At(time) = next { Some(time) } else { None });
            match next {
                Next::Start => self.run_pod(&key, now),
                Next::End => self.end_pod(&key, now),
                Next::At(_) | Next::Nothing => {}
            }
        }
    }

    fn next_of(&self, pod: &Value, now: Timestamp) -> Next {
        let node = text(pod, &["spec", "nodeName"]);
        let at = |time: Timestamp, act: Next| if time <= now { act } else { Next::At(time) };
        if node.is_empty() {
            return Next::Nothing;
        }
        let Some(node) = self.node(node) else {
            // Nobody is left to run it or to end it.
            let held = objects::is_being_deleted(pod) && objects::finalizers(pod).next().is_some();
            return if held { Next::Nothing } else { Next::End };
        };
        let works = objects::condition(node, "Ready") == Some("True");
        if let Some(ends) = time_at(pod, &["metadata", "deletionTimestamp"]) {
            let grace = number(pod, &["metadata", "deletionGracePeriodSeconds"]).unwrap_or(0);
            if !works || grace == 0 {
                return Next::Nothing;
            }
            let began = ends.checked_sub(SignedDuration::from_secs(grace)).unwrap_or(ends);
            let stops = began.checked_add(self.options.delays.stop).unwrap_or(ends).min(ends);
            return at(stops, Next::End);
        }
        if text(pod, &["status", "phase"]) != "Pending" || !works {
            return Next::Nothing;
        }
        let placed = list(pod, &["status", "conditions"])
            .iter()
            .find(|one| text(one, &["type"]) == "PodScheduled")
            .and_then(|one| time_at(one, &["lastTransitionTime"]))
            .or_else(|| time_at(pod, &["metadata", "creationTimestamp"]))
            .unwrap_or(now);
        at(placed.checked_add(self.options.delays.start).unwrap_or(now), Next::Start)
    }

    fn run_pod(&mut self, key: &Key, now: Timestamp) {
        let Some(pod) = self.get("pods", key) else { return };
        let mut value = pod.clone();
        objects::set(&mut value, &["status", "phase"], "Running");
        objects::set(&mut value, &["status", "startTime"], objects::time(now));
        let states: Vec<Value> = list(&value, &["spec", "containers"])
            .iter()
            .map(|container| {
                json!({
                    "name": container["name"], "image": container["image"], "ready": true, "started": true,
                    "restartCount": 0, "state": {"running": {"startedAt": objects::time(now)}},
                })
            })
            .collect();
        objects::set(&mut value, &["status", "containerStatuses"], states);
        for kind in ["Initialized", "ContainersReady", "Ready", "PodScheduled"] {
            objects::set_condition(&mut value, kind, "True", "", "", now);
        }
        self.store_object("pods", value, now, None);
    }

    /// What a kubelet does when a pod's processes are gone: a deletion without grace, finalizers respected.
    fn end_pod(&mut self, key: &Key, now: Timestamp) {
        let Some(pod) = self.get("pods", key) else { return };
        if objects::finalizers(pod).next().is_none() {
            self.erase("pods", key, now, None);
            return;
        }
        let mut value = pod.clone();
        objects::set(&mut value, &["metadata", "deletionTimestamp"], objects::time(now));
        objects::set(&mut value, &["metadata", "deletionGracePeriodSeconds"], 0);
        self.store_object("pods", value, now, None);
    }
}
