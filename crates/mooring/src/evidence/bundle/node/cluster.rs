//! Files of the cluster: NodeClaim, NodePool, AKSNodeClass, Node, events and the log of the controller.

use std::collections::BTreeSet;

use mooring_workflow::plural::counted;
use serde_json::{Value, json};

use super::super::archive::{Contents, FileOrigin};
use super::files::{FileContent, FileInfo, file_name, is_name};
use super::source::Sources;
use super::subject::BundledNode;

/// Events of one object; the API server keeps them for an hour.
const MAX_EVENTS: usize = 500;
const MAX_LOG_LINES: usize = 2000;

/// Adds the NodeClaim and the Node.
pub(super) fn add_objects(subject: &BundledNode, contents: &mut Contents) {
    let why = "object of the cluster, with its conditions";
    for (object, label, file) in
        [(&subject.claim, "NodeClaim", "nodeclaim.yaml"), (&subject.object, "node", "node.yaml")]
    {
        let info = FileInfo(FileOrigin::Cluster, label, why);
        contents.add(info, &subject.path(file), object.clone().map(yaml));
    }
}

/// Adds the NodePool and the AKSNodeClass of the nodes.
pub(super) async fn add_pools(
    sources: &Sources<'_>,
    subjects: &[BundledNode],
    contents: &mut Contents,
) {
    let pools: BTreeSet<_> = subjects.iter().filter_map(|one| one.node_pool.as_ref()).collect();
    let classes: BTreeSet<_> = subjects.iter().filter_map(|one| one.node_class.as_ref()).collect();
    for (label, names, api) in [
        ("NodePool", pools, "/apis/karpenter.sh/v1/nodepools"),
        ("AKSNodeClass", classes, "/apis/karpenter.azure.com/v1beta1/aksnodeclasses"),
    ] {
        let kind = label.to_ascii_lowercase();
        let has_karpenter = sources.has_karpenter();
        if !has_karpenter || names.is_empty() {
            let why =
                if has_karpenter { "the node has none" } else { "Karpenter is not installed" };
            contents.skip_as(&format!("{kind}.yaml"), label, sources.missing(why, None));
            continue;
        }
        for name in names.into_iter().filter(|name| is_name(name)) {
            let read = sources.get(&format!("{api}/{name}")).await;
            let info = FileInfo(FileOrigin::Cluster, label, "object of the cluster");
            contents.add(info, &format!("{kind}-{}.yaml", file_name(name)), read.map(yaml));
        }
    }
}

/// Adds the events of the NodeClaim and of the Node.
pub(super) async fn add_events(
    sources: &Sources<'_>,
    subject: &BundledNode,
    contents: &mut Contents,
) {
    let path = subject.path("events.yaml");
    let mut events = Vec::new();
    let mut is_unread = false;
    let named = [("NodeClaim", subject.claim_name.as_ref()), ("Node", Some(&subject.node))];
    // Names of the record go into a path.
    let named = named.into_iter().filter_map(|(kind, name)| Some((kind, name?)));
    for (kind, name) in named.filter(|(_, name)| is_name(name)) {
        let selector = format!("involvedObject.kind%3D{kind}%2CinvolvedObject.name%3D{name}");
        let path_of_api = format!("/api/v1/events?limit={MAX_EVENTS}&fieldSelector={selector}");
        let list = sources.get(&path_of_api).await;
        let items = list.and_then(|mut list| match list["items"].take() {
            Value::Array(items) => Ok(items),
            _ => Err("the response is not a list".to_owned()),
        });
        match items {
            Ok(items) => events.extend(items),
            Err(why) => {
                let label = format!("events of the {kind}");
                sources.fail(format!("{label}: {why}"));
                contents.skip_as(&path, &label, why);
                is_unread = true;
            }
        }
    }
    for event in &mut events {
        remove_managed_fields(event);
        // Items of a list do not have their type.
        (event["apiVersion"], event["kind"]) = ("v1".into(), "Event".into());
    }
    // The API server has no order.
    events.sort_by_key(|event| {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let time = text(&event["lastTimestamp"]).or_else(|| text(&event["eventTime"]));
        (time, text(&event["metadata"]["name"]))
    });
    if !events.is_empty() {
        let label = counted(events.len(), "event");
        let why = "events of the NodeClaim and of the node";
        let list = json!({"apiVersion": "v1", "kind": "List", "items": events});
        let info = FileInfo(FileOrigin::Cluster, &label, why);
        contents.add(info, &path, Ok(FileContent::Yaml(list)));
    } else if !is_unread {
        contents.skip_as(&path, "events", "none exist; they expire after an hour");
    }
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

fn yaml(mut object: Value) -> FileContent {
    remove_managed_fields(&mut object);
    FileContent::Yaml(object)
}

/// Removes bookkeeping of the API server, which is longer than the object.
fn remove_managed_fields(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}
