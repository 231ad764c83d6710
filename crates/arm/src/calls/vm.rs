//! Virtual machines and their instance views.

use serde::Deserialize;

use super::page::or_default;
use crate::client::Client;
use crate::error::Error;
use crate::path::resource_id::ResourceId;
use crate::raw::Raw;
use crate::request::Call;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Vm {
    pub properties: VmProperties,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VmProperties {
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
    /// Image of a private or shared gallery.
    pub id: Option<String>,
    pub community_gallery_image_id: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct InstanceView {
    /// `ProvisioningState/…` and `PowerState/…`.
    #[serde(deserialize_with = "or_default")]
    pub statuses: Vec<VmStatus>,
    pub vm_agent: Option<VmAgent>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VmAgent {
    #[serde(deserialize_with = "or_default")]
    pub statuses: Vec<VmStatus>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VmStatus {
    /// For example `ProvisioningState/failed/50`.
    pub code: Option<String>,
    pub display_status: Option<String>,
    /// Untrusted text from a script on the node.
    pub message: Option<String>,
}

impl Client {
    /// Returns a VM with its instance view: state, extensions and their messages in one read.
    pub async fn vm(&self, vm: &ResourceId) -> Result<Raw<Vm>, Error> {
        let call = Call::get(vm.as_str(), self.versions.compute)?;
        self.read(call.query("$expand", "instanceView")).await
    }
}
