//! Clusters, scale sets, instances, network interfaces, activity and operations.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::error_codes::{ErrorTexts, codes};
use super::json::{entries, text, texts, time};

#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    pub id: String,
    /// `provisioningState`; empty if it is not said.
    pub state: String,
    /// Where the scale sets live; a cluster that is being made has none yet.
    pub node_resource_group: Option<String>,
    /// The control plane's version.
    pub version: Option<String>,
    pub location: Option<String>,
    /// Tags of the cluster resource.
    pub tags: BTreeMap<String, String>,
    /// How many pools the cluster may have.
    pub max_pools: Option<i64>,
    /// Pods have addresses of a subnet, as nodes do; not so with an overlay.
    pub pods_in_subnet: bool,
    /// The id of what encrypts the disks of its nodes.
    pub disk_encryption_set: Option<String>,
    /// The id of the identity of its nodes.
    pub kubelet_identity: Option<String>,
}

impl Cluster {
    /// A cluster from its JSON.
    pub fn read(raw: &Value) -> Option<Self> {
        Some(Self {
            id: text(raw, "/id")?,
            state: text(raw, "/properties/provisioningState").unwrap_or_default(),
            node_resource_group: text(raw, "/properties/nodeResourceGroup"),
            version: text(raw, "/properties/currentKubernetesVersion"),
            location: text(raw, "/location"),
            tags: texts(raw, "/tags"),
            max_pools: raw.pointer("/properties/maxAgentPools").and_then(Value::as_i64),
            pods_in_subnet: is(raw, "/properties/networkProfile/networkPlugin", "azure")
                && !is(raw, "/properties/networkProfile/networkPluginMode", "overlay"),
            disk_encryption_set: text(raw, "/properties/diskEncryptionSetID"),
            kubelet_identity: text(raw, "/properties/identityProfile/kubeletidentity/resourceId"),
        })
    }
}

fn is(raw: &Value, pointer: &str, word: &str) -> bool {
    text(raw, pointer).is_some_and(|found| found.eq_ignore_ascii_case(word))
}

/// A virtual machine scale set of the node resource group.
#[derive(Debug, Clone, PartialEq)]
pub struct ScaleSet {
    pub id: String,
    pub name: String,
    /// The pool that it backs, by AKS's own tag and never by its name.
    pub pool: Option<String>,
    /// `provisioningState`.
    pub state: String,
    /// The wanted number of instances.
    pub capacity: Option<i64>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// Whether all its interfaces have accelerated networking; none if that is not said of any.
    pub accelerated: Option<bool>,
}

impl ScaleSet {
    /// A scale set from its JSON.
    pub fn read(raw: &Value) -> Option<Self> {
        Some(Self {
            id: text(raw, "/id")?,
            name: text(raw, "/name")?,
            pool: texts(raw, "/tags").remove("aks-managed-poolName"),
            state: text(raw, "/properties/provisioningState").unwrap_or_default(),
            capacity: raw.pointer("/sku/capacity").and_then(Value::as_i64),
            created: time(raw, "/properties/timeCreated"),
            accelerated: accelerated(raw),
        })
    }

    /// The scale sets of a list answer.
    pub fn read_list(body: &Value) -> Option<Vec<Self>> {
        entries(body, "/value", Self::read)
    }
}

/// What the interfaces of a scale set's model say of accelerated networking, as far as they say it.
fn accelerated(raw: &Value) -> Option<bool> {
    let configurations = raw.pointer(
        "/properties/virtualMachineProfile/networkProfile/networkInterfaceConfigurations",
    )?;
    let said = configurations.as_array()?.iter().filter_map(|configuration| {
        configuration.pointer("/properties/enableAcceleratedNetworking")?.as_bool()
    });
    said.reduce(|all, this| all && this)
}

/// One status of an instance view.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// For example `ProvisioningState/failed/NetworkingInternalOperationError`.
    pub code: String,
    pub at: Option<Timestamp>,
    /// What it says; empty if nothing.
    pub message: String,
}

impl Status {
    /// The error code of a failed provisioning.
    pub fn failure(&self) -> Option<&str> {
        let (start, code) = self.code.split_at_checked("ProvisioningState/failed/".len())?;
        start.eq_ignore_ascii_case("ProvisioningState/failed/").then_some(code)
    }
}

/// One virtual machine of a scale set.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Resource id; a node's `providerID` is this behind `azure://`.
    pub id: String,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// Statuses of its instance view, if they were asked for.
    pub statuses: Vec<Status>,
}

impl Instance {
    /// An instance from its JSON.
    pub fn read(raw: &Value) -> Option<Self> {
        let status = |raw: &Value| {
            Some(Status {
                code: text(raw, "/code")?,
                at: time(raw, "/time"),
                message: text(raw, "/message").unwrap_or_default(),
            })
        };
        Some(Self {
            id: text(raw, "/id")?,
            created: time(raw, "/properties/timeCreated"),
            statuses: entries(raw, "/properties/instanceView/statuses", status).unwrap_or_default(),
        })
    }

    /// The instances of a list answer.
    pub fn read_list(body: &Value) -> Option<Vec<Self>> {
        entries(body, "/value", Self::read)
    }
}

/// What a network interface says of its addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    /// The list is null or absent: the service did not say, so it proves nothing.
    Unsaid,
    /// The list is there and empty: the interface has no address.
    Empty,
    /// The list has this many entries.
    Some(usize),
}

/// A realised network interface of a scale set.
#[derive(Debug, Clone, PartialEq)]
pub struct Nic {
    pub name: String,
    /// The instance that it belongs to.
    pub instance: Option<String>,
    pub addresses: Addresses,
}

impl Nic {
    /// An interface from its JSON.
    pub fn read(raw: &Value) -> Option<Self> {
        let list = raw.pointer("/properties/ipConfigurations").and_then(Value::as_array);
        Some(Self {
            name: text(raw, "/name")?,
            instance: text(raw, "/properties/virtualMachine/id"),
            addresses: match list {
                None => Addresses::Unsaid,
                Some(list) if list.is_empty() => Addresses::Empty,
                Some(list) => Addresses::Some(list.len()),
            },
        })
    }

    /// The interfaces of a list answer.
    pub fn read_list(body: &Value) -> Option<Vec<Self>> {
        entries(body, "/value", Self::read)
    }
}

/// One record of the activity log.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivityEvent {
    /// The event's own id.
    pub id: Option<String>,
    /// The id of the operation that it belongs to; the events of one operation share it.
    pub operation_id: Option<String>,
    /// What one request caused carries the same id, operations of other resources and later retries included.
    pub correlation: String,
    /// For example `Microsoft.Compute/virtualMachineScaleSets/write`.
    pub operation: String,
    pub resource: String,
    /// `Started`, `Accepted`, `Succeeded`, `Failed`, …
    pub status: String,
    pub at: Timestamp,
    pub caller: Option<String>,
    /// Error codes and messages at any depth.
    pub errors: ErrorTexts,
}

impl ActivityEvent {
    /// An event from its JSON; one without a time, operation or resource cannot be used.
    pub fn read(raw: &Value) -> Option<Self> {
        let id = |pointer| text(raw, pointer).filter(|id: &String| !id.is_empty());
        Some(Self {
            id: id("/eventDataId"),
            operation_id: id("/operationId"),
            correlation: text(raw, "/correlationId")
                .or_else(|| text(raw, "/eventDataId"))
                .unwrap_or_default(),
            operation: text(raw, "/operationName/value")?,
            resource: text(raw, "/resourceId")?,
            status: text(raw, "/status/value").unwrap_or_default(),
            at: time(raw, "/eventTimestamp")?,
            caller: text(raw, "/caller"),
            errors: raw
                .pointer("/properties/statusMessage")
                .map(ErrorTexts::of)
                .unwrap_or_default(),
        })
    }

    /// The events of a list answer.
    pub fn read_list(body: &Value) -> Option<Vec<Self>> {
        entries(body, "/value", Self::read)
    }

    /// True if the event is of this operation, in any case and with blanks around it.
    pub fn is_operation(&self, name: &str) -> bool {
        self.operation.trim().eq_ignore_ascii_case(name)
    }

    /// What the event's operation is counted by: its id, else that of the event, else that of the request.
    pub fn operation_key(&self) -> &str {
        let id = self.operation_id.as_deref().or(self.id.as_deref());
        id.unwrap_or(&self.correlation)
    }

    /// True if both events are of one operation. A request's id alone does not show that: what it caused carries it, too.
    pub fn is_of_operation(&self, other: &Self) -> bool {
        let same_id = match (&self.operation_id, &other.operation_id) {
            (Some(own), Some(theirs)) => own == theirs,
            _ => self.correlation == other.correlation,
        };
        same_id && self.is_operation(other.operation.trim()) && self.is_about(&other.resource)
    }

    /// True if the event is about exactly this resource.
    pub fn is_about(&self, resource: &str) -> bool {
        self.resource.eq_ignore_ascii_case(resource)
    }
}

/// A long-running operation as a status endpoint describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    pub name: String,
    /// `InProgress`, `Succeeded`, `Failed`, `Canceled`.
    pub status: String,
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,
    /// The pool that it belongs to, if it belongs to one.
    pub pool: Option<String>,
    /// Error codes at any depth.
    pub codes: Vec<String>,
}

impl Operation {
    /// An operation from its JSON.
    pub fn read(raw: &Value) -> Option<Self> {
        Some(Self {
            name: text(raw, "/name")?,
            status: text(raw, "/status")?,
            started: time(raw, "/startTime"),
            ended: time(raw, "/endTime"),
            pool: text(raw, "/id").and_then(|id| {
                let (_, rest) = id.rsplit_once("/agentPools/")?;
                rest.split('/').next().filter(|name| !name.is_empty()).map(str::to_owned)
            }),
            codes: raw.get("error").map(codes).unwrap_or_default(),
        })
    }

    /// True if it has neither an end nor a final status.
    pub fn running(&self) -> bool {
        self.ended.is_none() && !matches!(self.status.as_str(), "Succeeded" | "Failed" | "Canceled")
    }
}
