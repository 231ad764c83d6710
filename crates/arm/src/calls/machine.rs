//! Machines: single nodes of a pool, as AKS sees them.

use serde::Deserialize;
use serde_json::Value;

use super::lenient::{ProvisioningState, or_default};
use crate::client::Client;
use crate::error::{Error, Refusal};
use crate::raw::Raw;
use crate::request::Call;
use crate::resource_id::ResourceId;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Machine {
    pub id: Option<ResourceId>,
    pub name: String,
    #[serde(deserialize_with = "or_default")]
    pub properties: MachineProperties,
}

/// What is inside `properties` of a machine.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MachineProperties {
    /// The VM behind it.
    pub resource_id: Option<ResourceId>,
    pub provisioning_state: Option<ProvisioningState>,
    pub node_image_version: Option<String>,
    pub status: Option<MachineStatus>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MachineStatus {
    pub provisioning_error: Option<Value>,
    /// `Running` and so on.
    pub vm_state: Option<String>,
}

impl Machine {
    /// Why it could not be provisioned, if it was told.
    pub fn provisioning_error(&self) -> Option<Refusal> {
        self.properties.status.as_ref()?.provisioning_error.as_ref().map(Refusal::of)
    }
}

impl Client {
    /// All machines of a pool: one list, never one read per machine.
    pub async fn machines(&self, pool: &ResourceId) -> Result<Vec<Raw<Machine>>, Error> {
        self.list(Call::get(&format!("{pool}/machines"), self.versions.machines)?).await
    }

    pub async fn machine(&self, machine: &ResourceId) -> Result<Raw<Machine>, Error> {
        let call = Call::get(machine.as_str(), self.versions.machines)?;
        self.send(&call).await?.parse(call.path())
    }
}
