//! Clusters, scale sets, instances, network interfaces, activity and operations.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::{ErrorTexts, items, text, texts, time};

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
    pub created: Option<Timestamp>,
    /// All its interfaces have accelerated networking; none if no interface reports it.
    pub accelerated: Option<bool>,
}

impl ScaleSet {
    pub fn read(raw: &Value) -> Option<Self> {
        let interfaces =
            "/properties/virtualMachineProfile/networkProfile/networkInterfaceConfigurations";
        let accelerated = |interface: &Value| {
            interface.pointer("/properties/enableAcceleratedNetworking")?.as_bool()
        };
        Some(Self {
            id: text(raw, "/id")?,
            name: text(raw, "/name")?,
            pool: texts(raw, "/tags").remove("aks-managed-poolName"),
            state: text(raw, "/properties/provisioningState").unwrap_or_default(),
            created: time(raw, "/properties/timeCreated"),
            accelerated: items(raw, interfaces)
                .filter_map(accelerated)
                .reduce(|all, this| all && this),
        })
    }
}

/// A virtual machine of a scale set.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Resource id; a node's `providerID` is `azure://` and this id.
    pub id: String,
    pub created: Option<Timestamp>,
    /// Failed provisioning in its instance view, if requested.
    pub failures: Vec<Failure>,
}

/// A failed provisioning of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub at: Option<Timestamp>,
    pub error: ErrorTexts,
}

impl Instance {
    pub fn read(raw: &Value) -> Option<Self> {
        Some(Self {
            id: text(raw, "/id")?,
            created: time(raw, "/properties/timeCreated"),
            failures: items(raw, "/properties/instanceView/statuses")
                .filter_map(Failure::read)
                .collect(),
        })
    }
}

impl Failure {
    /// Reads a status whose code is `ProvisioningState/failed/ERROR`.
    fn read(status: &Value) -> Option<Self> {
        const FAILED: &str = "ProvisioningState/failed/";
        let code = text(status, "/code")?;
        let (start, code) = code.split_at_checked(FAILED.len())?;
        let message = text(status, "/message").unwrap_or_default();
        let error = ErrorTexts { codes: vec![code.to_owned()], messages: vec![message] };
        start.eq_ignore_ascii_case(FAILED).then(|| Self { at: time(status, "/time"), error })
    }
}

/// IP addresses of a network interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    /// The list is null or absent, which proves nothing.
    Unknown,
    /// The list is empty: the interface has no IP address.
    Empty,
    Some,
}

/// A network interface of a scale set.
#[derive(Debug, Clone, PartialEq)]
pub struct Nic {
    /// Resource id of its instance.
    pub instance: Option<String>,
    pub addresses: Addresses,
}

impl Nic {
    /// Returns none without a name.
    pub fn read(raw: &Value) -> Option<Self> {
        text(raw, "/name")?;
        let list = raw.pointer("/properties/ipConfigurations").and_then(Value::as_array);
        let addresses = match list {
            None => Addresses::Unknown,
            Some(list) if list.is_empty() => Addresses::Empty,
            Some(_) => Addresses::Some,
        };
        Some(Self { instance: text(raw, "/properties/virtualMachine/id"), addresses })
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
    pub errors: ErrorTexts,
}

impl ActivityEvent {
    /// Returns none without a time, operation or resource.
    pub fn read(raw: &Value) -> Option<Self> {
        let id = text(raw, "/eventDataId");
        let message = raw.pointer("/properties/statusMessage");
        Some(Self {
            operation_id: text(raw, "/operationId"),
            correlation: text(raw, "/correlationId").or_else(|| id.clone()).unwrap_or_default(),
            operation: text(raw, "/operationName/value")?,
            resource: text(raw, "/resourceId")?,
            status: text(raw, "/status/value").unwrap_or_default(),
            at: time(raw, "/eventTimestamp")?,
            errors: message.map(ErrorTexts::of).unwrap_or_default(),
            id,
        })
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

/// A running operation of the operations endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct AksOperation {
    pub name: String,
    pub started: Option<Timestamp>,
    /// Pool that it changes, if any.
    pub pool: Option<String>,
}

impl AksOperation {
    /// Returns none if it has ended.
    pub fn read(raw: &Value) -> Option<Self> {
        let status = text(raw, "/status")?;
        let has_ended = matches!(status.as_str(), "Succeeded" | "Failed" | "Canceled")
            || time(raw, "/endTime").is_some();
        let id = text(raw, "/id").unwrap_or_default();
        let pool = id.rsplit_once("/agentPools/").and_then(|(_, rest)| rest.split('/').next());
        let operation = Self {
            name: text(raw, "/name")?,
            started: time(raw, "/startTime"),
            pool: pool.filter(|name| !name.is_empty()).map(str::to_owned),
        };
        (!has_ended).then_some(operation)
    }
}
