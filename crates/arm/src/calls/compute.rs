//! VMs, scale sets and their instances, and what they may use.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::lists::or_default;
use crate::client::Client;
use crate::error::Error;
use crate::path::resource_id::ResourceId;
use crate::request::Call;

/// A virtual machine, or an instance of a scale set.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Vm {
    pub id: Option<ResourceId>,
    pub name: String,
    /// Number of an instance.
    pub instance_id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub properties: VmProperties,
    #[serde(deserialize_with = "or_default")]
    pub resources: Vec<VmExtension>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VmProperties {
    #[serde(deserialize_with = "or_default")]
    pub provisioning_state: String,
    pub instance_view: Option<InstanceView>,
    /// Contains the node name.
    pub os_profile: Option<OsProfile>,
    pub storage_profile: Option<StorageProfile>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OsProfile {
    pub computer_name: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct StorageProfile {
    pub image_reference: Option<ImageReference>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ImageReference {
    /// Image of a private or shared gallery.
    pub id: Option<String>,
    pub community_gallery_image_id: Option<String>,
}

/// An extension as a resource of its VM, which may be named `vm/extension`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VmExtension {
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    #[serde(deserialize_with = "or_default")]
    pub properties: VmExtensionProperties,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VmExtensionProperties {
    #[serde(deserialize_with = "or_default")]
    pub publisher: String,
    #[serde(deserialize_with = "or_default", rename = "type")]
    pub kind: String,
    #[serde(deserialize_with = "or_default")]
    pub provisioning_state: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct InstanceView {
    /// `ProvisioningState/…` and `PowerState/…`.
    #[serde(deserialize_with = "or_default")]
    pub statuses: Vec<VmStatus>,
    pub vm_agent: Option<VmAgent>,
    #[serde(deserialize_with = "or_default")]
    pub extensions: Vec<ExtensionView>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VmAgent {
    #[serde(deserialize_with = "or_default")]
    pub statuses: Vec<VmStatus>,
    #[serde(deserialize_with = "or_default")]
    pub extension_handlers: Vec<ExtensionHandler>,
}

/// What the VM agent says of an extension's type.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ExtensionHandler {
    #[serde(deserialize_with = "or_default", rename = "type")]
    pub kind: String,
    #[serde(deserialize_with = "or_default")]
    pub status: VmStatus,
}

/// An extension as it reports itself.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ExtensionView {
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    #[serde(deserialize_with = "or_default", rename = "type")]
    pub kind: String,
    #[serde(deserialize_with = "or_default")]
    pub statuses: Vec<VmStatus>,
    #[serde(deserialize_with = "or_default")]
    pub substatuses: Vec<VmStatus>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VmStatus {
    /// For example `ProvisioningState/failed/50`.
    #[serde(deserialize_with = "or_default")]
    pub code: String,
    #[serde(deserialize_with = "or_default")]
    pub display_status: String,
    /// Untrusted text from a script on the node.
    #[serde(deserialize_with = "or_default")]
    pub message: String,
    #[serde(deserialize_with = "or_default")]
    pub time: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ScaleSet {
    pub id: Option<ResourceId>,
    pub name: String,
    /// AKS stores the pool's name in `aks-managed-poolName`.
    #[serde(deserialize_with = "or_default")]
    pub tags: BTreeMap<String, String>,
}

impl Client {
    /// Returns a VM or an instance of a scale set with its view: state, extensions and their messages in one read.
    pub async fn vm<T: DeserializeOwned>(&self, vm: &ResourceId) -> Result<T, Error> {
        let call = Call::get(vm.as_str(), self.versions.compute)?;
        self.read(call.query("$expand", "instanceView")).await
    }

    pub async fn scale_sets<T: DeserializeOwned>(
        &self,
        subscription: &str,
        resource_group: &str,
    ) -> Result<Vec<T>, Error> {
        // Parsed as an ID, so that a name cannot add segments to the path.
        let kind = "virtualMachineScaleSets/x";
        let sample = ResourceId::of(subscription, resource_group, "Microsoft.Compute", kind)?;
        let path = sample.as_str().trim_end_matches("/x");
        self.list(Call::get(path, self.versions.compute)?).await
    }

    /// Returns the instances of a scale set with instance views.
    pub async fn scale_set_vms<T: DeserializeOwned>(
        &self,
        scale_set: &ResourceId,
    ) -> Result<Vec<T>, Error> {
        let path = format!("{scale_set}/virtualMachines");
        self.list(Call::get(&path, self.versions.compute)?.query("$expand", "instanceView")).await
    }

    /// Returns usage and limits of a region by name (`cores`, and one per VM family).
    pub async fn vm_usages(&self, subscription: &str, location: &str) -> Result<Vec<Value>, Error> {
        // Parsed as an ID, so that the name cannot add segments to the path.
        let path = format!(
            "/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{location}"
        );
        let path = format!("{}/usages", ResourceId::parse(&path)?);
        self.list(Call::get(&path, self.versions.compute)?).await
    }

    /// Returns the VM sizes of a region with capabilities and restrictions.
    pub async fn vm_sizes(&self, subscription: &str, location: &str) -> Result<Vec<Value>, Error> {
        let scope = ResourceId::parse(&format!("/subscriptions/{subscription}"))?;
        let path = format!("{scope}/providers/Microsoft.Compute/skus");
        let filter = format!("location eq '{}'", location.replace('\'', "''"));
        // This list has its own api-versions.
        self.list(Call::get(&path, "2021-07-01")?.query("$filter", &filter)).await
    }
}
