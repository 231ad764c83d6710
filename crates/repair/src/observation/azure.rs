//! Clusters, scale sets, instances, network interfaces, activity and operations.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::error_codes::{ErrorTexts, codes};
use super::json::{entries, text, texts, time};

#[derive(Debug, Clone, PartialEq)]
pub struct ManagedCluster {
    pub id: String,
    /// `provisioningState`; empty if absent.
    pub state: String,
    /// Resource group of the scale sets; a cluster that is being created has none yet.
    pub node_resource_group: Option<String>,
    /// Version of the control plane.
    pub version: Option<String>,
    pub location: Option<String>,
    pub tags: BTreeMap<String, String>,
    pub max_pools: Option<i64>,
    /// Pods have IP addresses of the subnet, unlike with an overlay.
    pub pods_in_subnet: bool,
    pub disk_encryption_set: Option<String>,
    pub kubelet_identity: Option<String>,
}

impl ManagedCluster {
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
    /// Pool by AKS's tag, never by the scale set's name.
    pub pool: Option<String>,
    pub state: String,
    pub capacity: Option<i64>,
    pub created: Option<Timestamp>,
    /// All its interfaces have accelerated networking; none if no interface reports it.
    pub accelerated: Option<bool>,
}

impl ScaleSet {
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

    pub fn read_list(body: &Value) -> Option<Vec<Self>> {
        entries(body, "/value", Self::read)
    }
}

fn accelerated(raw: &Value) -> Option<bool> {
    let configurations = raw.pointer(
        "/properties/virtualMachineProfile/networkProfile/networkInterfaceConfigurations",
    )?;
    let reported = configurations.as_array()?.iter().filter_map(|configuration| {
        configuration.pointer("/properties/enableAcceleratedNetworking")?.as_bool()
    });
    reported.reduce(|all, this| all && this)
}

#[derive(Debug, Clone, PartialEq)]
pub struct InstanceStatus {
    /// For example `ProvisioningState/failed/NetworkingInternalOperationError`.
    pub code: String,
    pub at: Option<Timestamp>,
    pub message: String,
}

impl InstanceStatus {
    /// Returns the error code of a failed provisioning.
    pub fn failure(&self) -> Option<&str> {
        let (start, code) = self.code.split_at_checked("ProvisioningState/failed/".len())?;
        start.eq_ignore_ascii_case("ProvisioningState/failed/").then_some(code)
    }
}

/// A virtual machine of a scale set.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Resource id; a node's `providerID` is `azure://` and this id.
    pub id: String,
    pub created: Option<Timestamp>,
    /// Statuses of its instance view, if requested.
    pub statuses: Vec<InstanceStatus>,
}

impl Instance {
    pub fn read(raw: &Value) -> Option<Self> {
        let status = |raw: &Value| {
            Some(InstanceStatus {
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
}

/// IP addresses of a network interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    /// The list is null or absent, which proves nothing.
    Unknown,
    /// The list is empty: the interface has no IP address.
    Empty,
    Some(usize),
}

/// A network interface of a scale set.
#[derive(Debug, Clone, PartialEq)]
pub struct Nic {
    pub name: String,
    /// Resource id of its instance.
    pub instance: Option<String>,
    pub addresses: Addresses,
}

impl Nic {
    pub fn read(raw: &Value) -> Option<Self> {
        let list = raw.pointer("/properties/ipConfigurations").and_then(Value::as_array);
        Some(Self {
            name: text(raw, "/name")?,
            instance: text(raw, "/properties/virtualMachine/id"),
            addresses: match list {
                None => Addresses::Unknown,
                Some(list) if list.is_empty() => Addresses::Empty,
                Some(list) => Addresses::Some(list.len()),
            },
        })
    }
}

/// One record of the activity log.
#[derive(Debug, Clone, PartialEq)]
pub struct ActivityEvent {
    pub id: Option<String>,
    pub operation_id: Option<String>,
    /// Everything that a request causes has the same id, including operations on other resources and later retries.
    pub correlation: String,
    /// For example `Microsoft.Compute/virtualMachineScaleSets/write`.
    pub operation: String,
    pub resource: String,
    /// `Started`, `Accepted`, `Succeeded`, `Failed`, …
    pub status: String,
    pub at: Timestamp,
    pub caller: Option<String>,
    pub errors: ErrorTexts,
}

impl ActivityEvent {
    /// Returns none without a time, operation or resource.
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

    pub fn read_list(body: &Value) -> Option<Vec<Self>> {
        entries(body, "/value", Self::read)
    }

    /// Ignores case and surrounding whitespace.
    pub fn is_operation(&self, name: &str) -> bool {
        self.operation.trim().eq_ignore_ascii_case(name)
    }

    /// Returns the id to count the operation by: its own, else that of the event, else that of the request.
    pub fn operation_key(&self) -> &str {
        let id = self.operation_id.as_deref().or(self.id.as_deref());
        id.unwrap_or(&self.correlation)
    }

    /// Returns true if both events are of one operation. The correlation id alone does not show that.
    pub fn is_of_operation(&self, other: &Self) -> bool {
        let same_id = match (&self.operation_id, &other.operation_id) {
            (Some(own), Some(theirs)) => own == theirs,
            _ => self.correlation == other.correlation,
        };
        same_id && self.is_operation(other.operation.trim()) && self.is_about(&other.resource)
    }

    pub fn is_about(&self, resource: &str) -> bool {
        self.resource.eq_ignore_ascii_case(resource)
    }
}

/// A long-running operation of a status endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct AksOperation {
    pub name: String,
    /// `InProgress`, `Succeeded`, `Failed`, `Canceled`.
    pub status: String,
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,
    /// Pool that it changes, if any.
    pub pool: Option<String>,
    pub codes: Vec<String>,
}

impl AksOperation {
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

    pub fn running(&self) -> bool {
        self.ended.is_none() && !matches!(self.status.as_str(), "Succeeded" | "Failed" | "Canceled")
    }
}
