//! The parts of Nodes that are used, from JSON and from the binary format of the API server.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use mooring_k8s::protobuf::{FieldValue, fields, object};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::claim::vm_id::Interner;
use crate::unregistered::{NodeState, UnregisteredNode};

/// Labels of a Node that are used. A Node has dozens.
const LABELS: [&str; 7] = [
    "karpenter.sh/nodepool",
    "karpenter.sh/registered",
    "kubernetes.azure.com/agentpool",
    "kubernetes.azure.com/node-image-version",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// Values of [`LABELS`], in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Labels([Option<Arc<str>>; LABELS.len()]);

impl Labels {
    /// Adds a label if it is one of those that are used.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        if let Some(index) = LABELS.iter().position(|label| *label == name) {
            self.0[index] = Some(value).filter(|value| !value.is_empty()).map(Arc::from);
        }
    }

    fn get(&self, name: &str) -> Option<&Arc<str>> {
        let index = LABELS.iter().position(|label| *label == name)?;
        self.0[index].as_ref()
    }
}

/// A Node.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "Object")]
pub struct NodeItem {
    pub name: String,
    pub uid: String,
    pub resource_version: String,
    pub provider_id: String,
    pub created: Option<Timestamp>,
    pub(crate) labels: Labels,
    pub is_ready: bool,
    pub is_unschedulable: bool,
    pub is_deleted: bool,
    /// Since when the condition `Ready` is true.
    pub ready_since: Option<Timestamp>,
    /// Message of the condition `Ready`, and since when, while it is not true.
    pub not_ready: Option<(String, Option<Timestamp>)>,
}

impl NodeItem {
    pub fn parse(json: &RawValue) -> Option<Self> {
        serde_json::from_str(json.get()).ok()
    }

    /// Returns a Node of a NodePool; none without one.
    pub fn of_node_pool(&self) -> Option<UnregisteredNode> {
        let pool = self.label("karpenter.sh/nodepool")?;
        Some(UnregisteredNode {
            name: self.name.clone(),
            uid: self.uid.clone(),
            pool: pool.to_owned(),
            created: self.created?,
            state: self.state(),
        })
    }

    /// Returns a Node of a NodePool that Karpenter cannot register, since it has no providerID.
    pub fn lost(&self, now: Timestamp) -> Option<UnregisteredNode> {
        let is_registered = self.label("karpenter.sh/registered") == Some("true");
        self.of_node_pool().filter(|node| !is_registered && node.is_lost(now))
    }

    /// Returns the state of a Node whose NodeClaim is not registered.
    pub fn state(&self) -> NodeState {
        match (self.provider_id.is_empty(), self.is_ready) {
            (true, _) => NodeState::NoProviderId,
            (false, true) => NodeState::Ready,
            (false, false) => NodeState::NotReady,
        }
    }

    /// Returns the region of the VM.
    pub fn region(&self) -> Option<String> {
        self.label("topology.kubernetes.io/region").map(str::to_owned)
    }

    /// Returns the resource ID of the VM.
    pub fn vm_id(&self) -> Option<String> {
        let id = self.provider_id.strip_prefix("azure://")?;
        id.starts_with("/subscriptions/").then(|| id.to_owned())
    }

    /// Returns the number of an instance of a scale set.
    pub fn instance_id(&self) -> Option<&str> {
        let (rest, instance) = self.provider_id.rsplit_once('/')?;
        let is_instance = rest.to_ascii_lowercase().contains("/virtualmachinescalesets/");
        (is_instance && !instance.is_empty()).then_some(instance)
    }

    /// Returns a label that is used and not empty.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.get(name).map(AsRef::as_ref)
    }

    /// Returns the same to share it.
    pub(crate) fn shared_label(&self, name: &str) -> Option<Arc<str>> {
        self.labels.get(name).cloned()
    }

    /// Shares the values of labels with other Nodes.
    pub fn intern(&mut self, interner: &mut Interner) {
        for value in self.labels.0.iter_mut().flatten() {
            *value = interner.intern(value);
        }
    }
}

impl From<Object> for NodeItem {
    fn from(object: Object) -> Self {
        let Object { metadata, spec, status } = object;
        let ready = status.conditions.iter().flatten().find(|one| one.kind == "Ready");
        let is_ready = ready.is_some_and(|one| one.status == "True");
        let mut labels = Labels::default();
        for (name, value) in &metadata.labels {
            labels.add(name, value);
        }
        Self {
            name: metadata.name,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
            provider_id: spec.provider_id,
            created: metadata.creation_timestamp,
            labels,
            is_ready,
            is_unschedulable: spec.unschedulable,
            is_deleted: metadata.deletion_timestamp.is_some(),
            ready_since: ready.filter(|_| is_ready).and_then(|one| one.last_transition_time),
            not_ready: ready
                .filter(|_| !is_ready)
                .map(|one| (one.message.clone(), one.last_transition_time)),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Object {
    metadata: Metadata,
    spec: Spec,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: String,
    uid: String,
    resource_version: String,
    creation_timestamp: Option<Timestamp>,
    deletion_timestamp: Option<Timestamp>,
    labels: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Spec {
    #[serde(rename = "providerID")]
    provider_id: String,
    unschedulable: bool,
}

#[derive(Debug, Default, Deserialize)]
struct Status {
    conditions: Option<Vec<Condition>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
    last_transition_time: Option<Timestamp>,
}

/// A page of a list of Nodes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NodePage {
    pub nodes: Vec<NodeItem>,
    /// Token of the next page; empty for the last one.
    pub next: String,
    /// Version of the list.
    pub version: String,
}

impl NodePage {
    /// Reads a page; none if it is broken or in another format.
    pub fn decode(response: &[u8]) -> Option<Self> {
        let mut page = Self::default();
        for (field, value) in fields(object(response)?)? {
            match field {
                1 => {
                    page.version = text(value, 2).ok()?;
                    page.next = text(value, 3).ok()?;
                }
                2 => page.nodes.push(node(value).ok()?),
                _ => {}
            }
        }
        Some(page)
    }
}

/// A message that is not complete.
struct Broken;

fn message(field: FieldValue<'_>) -> Result<Vec<(u64, FieldValue<'_>)>, Broken> {
    field.message().ok_or(Broken)
}

fn node(node: FieldValue<'_>) -> Result<NodeItem, Broken> {
    let mut item = NodeItem::default();
    for (field, part) in message(node)? {
        match field {
            1 => metadata(&mut item, part)?,
            2 => {
                item.provider_id = text(part, 3)?;
                item.is_unschedulable = find(part, 4)? == Some(FieldValue::Number(1));
            }
            3 => status(&mut item, part)?,
            _ => {}
        }
    }
    Ok(item)
}

fn metadata(item: &mut NodeItem, metadata: FieldValue<'_>) -> Result<(), Broken> {
    for (field, value) in message(metadata)? {
        match field {
            1 => value.text().clone_into(&mut item.name),
            5 => value.text().clone_into(&mut item.uid),
            6 => value.text().clone_into(&mut item.resource_version),
            8 => item.created = time(value)?,
            9 => item.is_deleted = true,
            11 => item.labels.add(&text(value, 1)?, &text(value, 2)?),
            _ => {}
        }
    }
    Ok(())
}

fn status(item: &mut NodeItem, status: FieldValue<'_>) -> Result<(), Broken> {
    for (field, condition) in message(status)? {
        if field == 4 && text(condition, 1)? == "Ready" {
            item.is_ready = text(condition, 2)? == "True";
            let changed = match find(condition, 4)? {
                Some(changed) => time(changed)?,
                None => None,
            };
            item.ready_since = changed.filter(|_| item.is_ready);
            item.not_ready = (!item.is_ready).then_some((text(condition, 6)?, changed));
        }
    }
    Ok(())
}

/// Returns a field of a message.
fn find(field: FieldValue<'_>, number: u64) -> Result<Option<FieldValue<'_>>, Broken> {
    let found = message(field)?.into_iter().find(|(field, _)| *field == number);
    Ok(found.map(|(_, value)| value))
}

/// Returns a text of a message; empty if it has none.
fn text(field: FieldValue<'_>, number: u64) -> Result<String, Broken> {
    Ok(find(field, number)?.map(FieldValue::text).unwrap_or_default().to_owned())
}

/// Returns a time in seconds.
fn time(time: FieldValue<'_>) -> Result<Option<Timestamp>, Broken> {
    let Some(FieldValue::Number(seconds)) = find(time, 1)? else { return Ok(None) };
    Ok(Timestamp::from_second(seconds.cast_signed()).ok())
}
