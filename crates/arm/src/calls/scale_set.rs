//! Scale sets and their instances.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use super::lenient::{ProvisioningState, or_default, time};
use super::vm::{Extension, InstanceView, StorageProfile};
use crate::client::Client;
use crate::error::Error;
use crate::operation::{Kind, Started};
use crate::raw::{Document, Raw};
use crate::request::{Call, Class};
use crate::resource_id::ResourceId;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ScaleSet {
    pub id: Option<ResourceId>,
    pub name: String,
    pub location: Option<String>,
    /// Its tags; AKS puts the pool's name there (`aks-managed-poolName`).
    #[serde(deserialize_with = "or_default")]
    pub tags: BTreeMap<String, String>,
    pub sku: Option<Sku>,
    pub properties: ScaleSetProperties,
}

/// Size and number of instances.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Sku {
    pub name: Option<String>,
    pub capacity: Option<u32>,
}

/// What is inside `properties` of a scale set.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ScaleSetProperties {
    pub provisioning_state: Option<ProvisioningState>,
    /// The id that a new scale set of the same name does not share.
    pub unique_id: Option<String>,
    #[serde(deserialize_with = "time")]
    pub time_created: Option<Timestamp>,
    pub virtual_machine_profile: Option<VmProfile>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct VmProfile {
    pub storage_profile: Option<StorageProfile>,
}

/// An instance of a scale set.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ScaleSetVm {
    pub id: Option<ResourceId>,
    pub name: String,
    pub instance_id: Option<String>,
    /// Its extensions: publisher, type and state, without messages.
    #[serde(deserialize_with = "or_default")]
    pub resources: Vec<Extension>,
    pub properties: ScaleSetVmProperties,
}

/// What is inside `properties` of an instance.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ScaleSetVmProperties {
    pub provisioning_state: Option<ProvisioningState>,
    /// The VM's own id.
    pub vm_id: Option<String>,
    /// Whether it is made of the newest model.
    pub latest_model_applied: Option<bool>,
    #[serde(deserialize_with = "time")]
    pub time_created: Option<Timestamp>,
    /// Its name for the operating system, which is the node's name.
    pub os_profile: Option<OsProfile>,
    pub storage_profile: Option<StorageProfile>,
    pub instance_view: Option<InstanceView>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OsProfile {
    pub computer_name: Option<String>,
}

impl Client {
    /// The scale sets of a resource group.
    pub async fn scale_sets(
        &self,
        subscription: &str,
        resource_group: &str,
    ) -> Result<Vec<Raw<ScaleSet>>, Error> {
        // Checked as an id, so that a name cannot leave its place in the path.
        let sample = ResourceId::of(
            subscription,
            resource_group,
            "Microsoft.Compute",
            "virtualMachineScaleSets/x",
        )?;
        let path = sample.as_str().trim_end_matches("/x");
        self.list(Call::get(path, self.versions.compute)?).await
    }

    pub async fn scale_set(&self, id: &ResourceId) -> Result<Raw<ScaleSet>, Error> {
        let call = Call::get(id.as_str(), self.versions.compute)?;
        self.send(&call).await?.parse(call.path())
    }

    /// Changes parts of a scale set. Never a full PUT: that asks for rights on the image.
    pub async fn patch_scale_set(
        &self,
        id: &ResourceId,
        changes: &Document,
    ) -> Result<Started, Error> {
        let call =
            Call::new(http::Method::PATCH, Class::Idempotent, id.as_str(), self.versions.compute)?
                .json(changes)?;
        self.begin(&call, Kind::Write).await
    }

    /// The instances of a scale set, with instance views.
    pub async fn scale_set_vms(
        &self,
        scale_set: &ResourceId,
    ) -> Result<Vec<Raw<ScaleSetVm>>, Error> {
        let path = format!("{scale_set}/virtualMachines");
        self.list(Call::get(&path, self.versions.compute)?.query("$expand", "instanceView")).await
    }

    /// One instance, with its instance view.
    pub async fn scale_set_vm(&self, instance: &ResourceId) -> Result<Raw<ScaleSetVm>, Error> {
        let call =
            Call::get(instance.as_str(), self.versions.compute)?.query("$expand", "instanceView");
        self.send(&call).await?.parse(call.path())
    }

    /// The instance view alone.
    pub async fn scale_set_vm_view(
        &self,
        instance: &ResourceId,
    ) -> Result<Raw<InstanceView>, Error> {
        let call = Call::get(&format!("{instance}/instanceView"), self.versions.compute)?;
        self.send(&call).await?.parse(call.path())
    }
}
