//! Virtual machines, their instance views and extensions.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use super::lenient::{ProvisioningState, or_default, time};
use crate::client::Client;
use crate::error::Error;
use crate::raw::Raw;
use crate::request::Call;
use crate::resource_id::ResourceId;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Vm {
    pub id: Option<ResourceId>,
    pub name: String,
    pub location: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub tags: BTreeMap<String, String>,
    /// Its extensions: publisher, type and state, without messages.
    #[serde(deserialize_with = "or_default")]
    pub resources: Vec<Extension>,
    pub properties: VmProperties,
}

/// What is inside `properties` of a VM.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VmProperties {
    pub provisioning_state: Option<ProvisioningState>,
    /// The id that a new VM of the same name does not share.
    pub vm_id: Option<String>,
    #[serde(deserialize_with = "time")]
    pub time_created: Option<Timestamp>,
    /// Its disks and image.
    pub storage_profile: Option<StorageProfile>,
    pub instance_view: Option<InstanceView>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct StorageProfile {
    pub image_reference: Option<ImageReference>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ImageReference {
    /// Of a private or shared gallery.
    pub id: Option<String>,
    pub community_gallery_image_id: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct InstanceView {
    /// `ProvisioningState/…` and `PowerState/…`.
    #[serde(deserialize_with = "or_default")]
    pub statuses: Vec<VmStatus>,
    /// What the extensions report, with messages.
    #[serde(deserialize_with = "or_default")]
    pub extensions: Vec<ExtensionView>,
    pub vm_agent: Option<VmAgent>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VmAgent {
    pub vm_agent_version: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub statuses: Vec<VmStatus>,
}

/// A state with a message.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VmStatus {
    /// `ProvisioningState/failed/50`.
    pub code: Option<String>,
    /// `Info`, `Warning`, `Error`.
    pub level: Option<String>,
    /// The code for people.
    pub display_status: Option<String>,
    /// What happened. Hostile text: a script on the node wrote it.
    pub message: Option<String>,
    #[serde(deserialize_with = "time")]
    pub time: Option<Timestamp>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ExtensionView {
    pub name: Option<String>,
    /// Publisher and type: `Microsoft.Azure.Extensions.CustomScript`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub type_handler_version: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub statuses: Vec<VmStatus>,
    /// Further states, such as `ErrorClarification`.
    #[serde(deserialize_with = "or_default")]
    pub substatuses: Vec<VmStatus>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Extension {
    pub id: Option<ResourceId>,
    pub name: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub properties: ExtensionProperties,
}

/// What is inside `properties` of an extension. Its settings are not looked at: they may hold secrets.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ExtensionProperties {
    /// `Microsoft.Azure.Extensions`.
    pub publisher: Option<String>,
    /// `CustomScript`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub type_handler_version: Option<String>,
    pub provisioning_state: Option<ProvisioningState>,
    pub instance_view: Option<ExtensionView>,
}

impl Client {
    /// A VM with its instance view: state, extensions and their messages in one read.
    pub async fn vm(&self, vm: &ResourceId) -> Result<Raw<Vm>, Error> {
        let call = Call::get(vm.as_str(), self.versions.compute)?.query("$expand", "instanceView");
        self.send(&call).await?.parse(call.path())
    }

    /// The extensions of a VM, with instance views.
    pub async fn vm_extensions(&self, vm: &ResourceId) -> Result<Vec<Raw<Extension>>, Error> {
        let path = format!("{vm}/extensions");
        self.list(Call::get(&path, self.versions.compute)?.query("$expand", "instanceView")).await
    }

    /// One extension of a VM, with its instance view.
    pub async fn vm_extension(&self, vm: &ResourceId, name: &str) -> Result<Raw<Extension>, Error> {
        let extension = vm.child("extensions", name)?;
        let call =
            Call::get(extension.as_str(), self.versions.compute)?.query("$expand", "instanceView");
        self.send(&call).await?.parse(call.path())
    }
}
