//! Pods on nodes: start and termination, with delays.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::kubernetes::api::state::{ApiServer, ChangeQueue, WriteContext};
use crate::kubernetes::api::write::defaults::NOT_READY;
use crate::kubernetes::store::objects::{self, Key, list, number, text, time_at};

enum Next {
    Start,
    End,
    /// Nothing before this time.
    At(Timestamp),
    /// Nothing, unless something changes.
    Nothing,
}

/// Removes the not-ready taint of a Ready node, and adds it otherwise.
pub(crate) fn settle_nodes(api: &mut ApiServer, work: &ChangeQueue, now: Timestamp) {
    for key in work.of("nodes") {
        let Some(node) = api.get("nodes", key) else { continue };
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
        let node = node.clone();
        api.amend("nodes", &node, now, |value| {
            objects::set_list(value, &["spec", "taints"], taints);
        });
    }
}

/// Handles pods that were written, are due, or whose node was written.
pub(crate) fn settle_pods(
    api: &mut ApiServer,
    pods: &mut PodTimes,
    work: &ChangeQueue,
    now: Timestamp,
) {
    let index = api.store.index();
    let beside = work.of("nodes").flat_map(|node| index.pods_on(&node.name));
    let due: BTreeSet<Key> = work.of("pods").chain(beside).cloned().collect();
    for key in due {
        let next = api.get("pods", &key).map_or(Next::Nothing, |pod| next_of(api, pod, now));
        pods.set(&key, if let Next::At(time) = next { Some(time) } else { None });
        match next {
            Next::Start => run_pod(api, &key, now),
            Next::End => end_pod(api, &key, now),
            Next::At(_) | Next::Nothing => {}
        }
    }
}

fn next_of(api: &ApiServer, pod: &Value, now: Timestamp) -> Next {
    let node = text(pod, &["spec", "nodeName"]);
    let at = |time: Timestamp, act: Next| if time <= now { act } else { Next::At(time) };
    if node.is_empty() {
        return Next::Nothing;
    }
    let Some(node) = api.get("nodes", &Key::new(None, node)) else {
        // No kubelet is left to run or end it.
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
        let stops = began.checked_add(api.options.delays.stop).unwrap_or(ends).min(ends);
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
    at(placed.checked_add(api.options.delays.start).unwrap_or(now), Next::Start)
}

fn run_pod(api: &mut ApiServer, key: &Key, now: Timestamp) {
    let Some(pod) = api.get("pods", key) else { return };
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
    api.put("pods", value, &WriteContext::controller(now));
}

/// Deletes a pod whose processes have ended, without grace, honoring finalizers.
fn end_pod(api: &mut ApiServer, key: &Key, now: Timestamp) {
    let Some(pod) = api.get("pods", key).cloned() else { return };
    if objects::finalizers(&pod).next().is_none() {
        api.erase("pods", key, &WriteContext::controller(now));
        return;
    }
    api.amend("pods", &pod, now, |value| {
        objects::set(value, &["metadata", "deletionTimestamp"], objects::time(now));
        objects::set(value, &["metadata", "deletionGracePeriodSeconds"], 0);
    });
}

#[derive(Debug, Default)]
pub(crate) struct PodTimes {
    by_pod: BTreeMap<Key, Timestamp>,
    by_time: BTreeSet<(Timestamp, Key)>,
}

impl PodTimes {
    pub(crate) fn set(&mut self, pod: &Key, time: Option<Timestamp>) {
        if let Some(old) = self.by_pod.remove(pod) {
            self.by_time.remove(&(old, pod.clone()));
        }
        if let Some(time) = time {
            self.by_pod.insert(pod.clone(), time);
            self.by_time.insert((time, pod.clone()));
        }
    }

    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(time, _)| *time)
    }

    pub(crate) fn take_due(&mut self, now: Timestamp) -> Vec<Key> {
        let mut due = Vec::new();
        while self.next().is_some_and(|time| time <= now)
            && let Some((_, pod)) = self.by_time.pop_first()
        {
            self.by_pod.remove(&pod);
            due.push(pod);
        }
        due
    }
}
