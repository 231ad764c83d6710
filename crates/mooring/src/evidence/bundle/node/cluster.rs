//! Files of the cluster: NodeClaim, NodePool, AKSNodeClass, Node, events and the log of the controller.

use std::collections::BTreeSet;

use mooring_workflow::plural::counted;
use serde_json::{Value, json};

use super::super::archive::{Contents, FileOrigin};
use super::files::FileTarget;
use super::names::{file_name, is_name};
use super::source::Sources;
use super::subject::BundledNode;
use crate::output::failure::CommandFailure;

/// Events of one object; the API server keeps them for an hour.
const MAX_EVENTS: usize = 500;
const MAX_LOG_LINES: usize = 2000;

/// Adds the NodeClaim and the Node.
pub(super) fn add_objects(
    subject: &BundledNode,
    contents: &mut Contents,
) -> Result<(), CommandFailure> {
    for (object, label, file) in
        [(&subject.claim, "NodeClaim", "nodeclaim.yaml"), (&subject.object, "node", "node.yaml")]
    {
        let path = subject.path(file);
        let why = "object of the cluster, with its conditions";
        let target = FileTarget { part: FileOrigin::Cluster, label, path: &path, why };
        let read = object.as_ref().map(without_managed_fields).map_err(Clone::clone);
        target.add_yaml(read, contents)?;
    }
    Ok(())
}

/// Adds the NodePool and the AKSNodeClass of the nodes.
pub(super) async fn add_pools(
    sources: &Sources<'_>,
    subjects: &[BundledNode],
    contents: &mut Contents,
) -> Result<(), CommandFailure> {
    let pools: BTreeSet<&String> =
        subjects.iter().filter_map(|one| one.node_pool.as_ref()).collect();
    let classes: BTreeSet<&String> =
        subjects.iter().filter_map(|one| one.node_class.as_ref()).collect();
    for (label, names, api) in [
        ("NodePool", pools, "/apis/karpenter.sh/v1/nodepools"),
        ("AKSNodeClass", classes, "/apis/karpenter.azure.com/v1beta1/aksnodeclasses"),
    ] {
        let has_karpenter = sources.has_karpenter();
        if !has_karpenter || names.is_empty() {
            let why =
                if has_karpenter { "the node has none" } else { "Karpenter is not installed" };
            let path = format!("{}.yaml", label.to_ascii_lowercase());
            contents.skip_as(&path, label, sources.missing(why, None));
            continue;
        }
        for name in names.into_iter().filter(|name| is_name(name)) {
            let path = format!("{}-{}.yaml", label.to_ascii_lowercase(), file_name(name));
            let why = "object of the cluster";
            let target = FileTarget { part: FileOrigin::Cluster, label, path: &path, why };
            let read = sources.get(&format!("{api}/{name}")).await;
            target.add_yaml(read.map(|object| without_managed_fields(&object)), contents)?;
        }
    }
    Ok(())
}

/// Adds the events of the NodeClaim and of the Node.
pub(super) async fn add_events(
    sources: &Sources<'_>,
    subject: &BundledNode,
    contents: &mut Contents,
) -> Result<(), CommandFailure> {
    let path = subject.path("events.yaml");
    let mut events = Vec::new();
    let named = [("NodeClaim", subject.claim_name.as_ref()), ("Node", Some(&subject.node))];
    // Names of the record go into a path.
    let named = named.into_iter().filter_map(|(kind, name)| Some((kind, name?)));
    for (kind, name) in named.filter(|(_, name)| is_name(name)) {
        let selector = format!("involvedObject.kind%3D{kind}%2CinvolvedObject.name%3D{name}");
        let path_of_api = format!("/api/v1/events?limit={MAX_EVENTS}&fieldSelector={selector}");
        match sources.get(&path_of_api).await {
            Ok(list) => events.extend(list["items"].as_array().cloned().unwrap_or_default()),
            Err(why) => {
                let label = format!("events of the {kind}");
                sources.fail(format!("{label}: {why}"));
                contents.skip_as(&path, &label, why);
            }
        }
    }
    // Items of a list do not have their type.
    let typed = |event: &Value| {
        let mut event = without_managed_fields(event);
        (event["apiVersion"], event["kind"]) = ("v1".into(), "Event".into());
        event
    };
    let events = events.iter().map(typed);
    let events: Vec<Value> = events.collect();
    if events.is_empty() {
        if !contents.skipped.iter().any(|one| one.path == path) {
            contents.skip_as(&path, "events", "none exist; they expire after an hour");
        }
        return Ok(());
    }
    let label = counted(events.len(), "event");
    let why = "events of the NodeClaim and of the node";
    let target = FileTarget { part: FileOrigin::Cluster, label: &label, path: &path, why };
    let list = json!({"apiVersion": "v1", "kind": "List", "items": sorted(events)});
    contents.entries.push(target.yaml(&list)?);
    Ok(())
}

/// Sorts events by time; the API server has no order.
fn sorted(mut events: Vec<Value>) -> Vec<Value> {
    events.sort_by_key(|event| {
        let time =
            ["lastTimestamp", "eventTime"].map(|name| event[name].as_str().map(str::to_owned));
        let [last, own] = time;
        (last.or(own), event["metadata"]["name"].as_str().map(str::to_owned))
    });
    events
}

/// Reads the last lines of the controller's log.
pub(super) async fn read_controller_log(sources: &Sources<'_>) -> Result<String, String> {
    let facts = sources.facts().map_err(Clone::clone)?;
    let namespace = &facts.controller.namespace;
    if let Some(why) = &facts.controller.error {
        let why = format!("the Lease was not read: {why}");
        sources.fail(why.clone());
        return Err(why);
    }
    let leader = facts.controller.leader.as_deref().filter(|leader| is_name(leader));
    let leader = leader.ok_or_else(|| format!("no controller leads in {namespace}"))?;
    let pod = format!("/api/v1/namespaces/{namespace}/pods/{leader}");
    let log = sources.get_text(&format!("{pod}/log?tailLines={MAX_LOG_LINES}")).await?;
    if log.is_empty() { Err(format!("the log of {leader} is empty")) } else { Ok(log) }
}

pub(super) fn add_controller_log(log: Result<String, String>, contents: &mut Contents) {
    let target = FileTarget {
        part: FileOrigin::Mooring,
        label: "controller's log",
        path: "controller.log",
        why: "last lines of the log of the leader",
    };
    target.add_text(log, contents);
}

/// Removes bookkeeping of the API server, which is longer than the object.
fn without_managed_fields(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}
