//! Virtual machines and their instance views.

use serde::Deserialize;

use super::page::or_default;
use crate::client::Client;
use crate::error::Error;
use crate::path::resource_id::ResourceId;
use crate::raw::Raw;
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

impl Client {
    /// Returns a VM with its instance view: state, extensions and their messages in one read.
    pub async fn vm(&self, vm: &ResourceId) -> Result<Raw<Vm>, Error> {
        let call = Call::get(vm.as_str(), self.versions.compute)?;
        self.read(call.query("$expand", "instanceView")).await
    }
}
