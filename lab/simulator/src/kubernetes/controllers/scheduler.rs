//! A minimal scheduler: a Ready node that fits and has the fewest pods.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kubernetes::api::state::{ApiServer, ChangeQueue};
use crate::kubernetes::store::objects::{self, flag, list, text};
use crate::kubernetes::store::{fits_label_selector, has_labels};

/// Schedules pending pods when capacity may have become available.
pub(crate) fn settle_scheduling(api: &mut ApiServer, work: &ChangeQueue, now: Timestamp) {
    if !work.concerns("pods") && !work.concerns("nodes") {
        return;
    }
    let index = api.store.index();
    let waiting: Vec<Value> = index
        .pods_on("")
        .filter_map(|key| api.get("pods", key))
        .filter(|pod| !objects::is_being_deleted(pod))
        .cloned()
        .collect();
    if waiting.is_empty() {
        return;
    }
    let nodes: Vec<Value> =
        api.objects("nodes", None).filter(|node| is_open(node)).cloned().collect();
    let mut load: BTreeMap<&str, usize> =
        nodes.iter().map(objects::name).map(|name| (name, index.load(name))).collect();
    for pod in waiting {
        let open = nodes.iter().filter(|node| {
            fits(&pod, node)
                && load.get(objects::name(node)).is_some_and(|pods| *pods < capacity(node))
        });
        match open.map(objects::name).min_by_key(|name| (load.get(name), *name)) {
            Some(name) => {
                *load.entry(name).or_default() += 1;
                place(api, &pod, name, now);
            }
            None => leave_unplaced(api, &pod, nodes.len(), now),
        }
    }
}

fn place(api: &mut ApiServer, pod: &Value, node: &str, now: Timestamp) {
    api.amend("pods", pod, now, |pod| {
        objects::set(pod, &["spec", "nodeName"], node);
        objects::set_condition(pod, "PodScheduled", "True", "", "", now);
    });
}

fn leave_unplaced(api: &mut ApiServer, pod: &Value, nodes: usize, now: Timestamp) {
    let message = format!("0/{nodes} nodes are available");
    api.amend("pods", pod, now, |pod| {
        objects::set_condition(pod, "PodScheduled", "False", "Unschedulable", &message, now);
    });
}

fn capacity(node: &Value) -> usize {
    let pods = objects::at(node, &["status", "allocatable", "pods"]);
    let pods =
        pods.and_then(|pods| pods.as_str().and_then(|text| text.parse().ok()).or(pods.as_u64()));
    pods.and_then(|pods| usize::try_from(pods).ok()).unwrap_or(110)
}

fn is_open(node: &Value) -> bool {
    objects::condition(node, "Ready") == Some("True")
        && !flag(node, &["spec", "unschedulable"])
        && !objects::is_being_deleted(node)
}

fn fits(pod: &Value, node: &Value) -> bool {
    has_labels(node, objects::at(pod, &["spec", "nodeSelector"]))
        && wanted_by_affinity(pod, node)
        && tolerates(pod, node, false)
}

/// Matches required node affinity: any of its terms.
fn wanted_by_affinity(pod: &Value, node: &Value) -> bool {
    let path = [
        "spec",
        "affinity",
        "nodeAffinity",
        "requiredDuringSchedulingIgnoredDuringExecution",
        "nodeSelectorTerms",
    ];
    let terms = list(pod, &path);
    terms.is_empty()
        || terms.iter().any(|term| {
            let selector = json!({"matchExpressions": term["matchExpressions"]});
            fits_label_selector(Some(&selector), node)
        })
}

/// Returns true if a pod, or a pod template, tolerates a node's taints. Daemon pods tolerate the
/// taints of node conditions.
pub(crate) fn tolerates(pod: &Value, node: &Value, daemon: bool) -> bool {
    let tolerations = list(pod, &["spec", "tolerations"]);
    list(node, &["spec", "taints"])
        .iter()
        .filter(|taint| text(taint, &["effect"]) != "PreferNoSchedule")
        .filter(|taint| !(daemon && text(taint, &["key"]).starts_with("node.kubernetes.io/")))
        .all(|taint| tolerations.iter().any(|toleration| accepts(toleration, taint)))
}

fn accepts(toleration: &Value, taint: &Value) -> bool {
    let effect = text(toleration, &["effect"]);
    let key = text(toleration, &["key"]);
    let exists = text(toleration, &["operator"]) == "Exists";
    (effect.is_empty() || effect == text(taint, &["effect"]))
        && ((key.is_empty() && exists) || key == text(taint, &["key"]))
        && (exists || text(toleration, &["value"]) == text(taint, &["value"]))
}
