//! Scale sets and their instances.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::page::or_default;
use super::vm::{InstanceView, Vm};
use crate::client::Client;
use crate::error::Error;
use crate::operation::{Started, WriteKind};
use crate::path::resource_id::ResourceId;
use crate::raw::{Raw, RawObject};
use crate::request::Call;
use crate::request_class::Class;

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
    pub async fn scale_sets(
        &self,
        subscription: &str,
        resource_group: &str,
    ) -> Result<Vec<Raw<ScaleSet>>, Error> {
        // Parsed as an ID, so that a name cannot add segments to the path.
        let kind = "virtualMachineScaleSets/x";
        let sample = ResourceId::of(subscription, resource_group, "Microsoft.Compute", kind)?;
        let path = sample.as_str().trim_end_matches("/x");
        self.list(Call::get(path, self.versions.compute)?).await
    }

    pub async fn scale_set(&self, id: &ResourceId) -> Result<Raw<ScaleSet>, Error> {
        self.read(Call::get(id.as_str(), self.versions.compute)?).await
    }

    /// Patches a scale set. A full PUT would require permissions on the image.
    pub async fn patch_scale_set(
        &self,
        id: &ResourceId,
        changes: &RawObject,
    ) -> Result<Started, Error> {
        let call =
            Call::new(http::Method::PATCH, Class::Idempotent, id.as_str(), self.versions.compute)?
                .json(changes)?;
        self.begin(&call, WriteKind::Write).await
    }

    /// Returns the instances of a scale set with instance views.
    pub async fn scale_set_vms(&self, scale_set: &ResourceId) -> Result<Vec<Raw<Vm>>, Error> {
        let path = format!("{scale_set}/virtualMachines");
        self.list(Call::get(&path, self.versions.compute)?.query("$expand", "instanceView")).await
    }

    pub async fn scale_set_vm(&self, instance: &ResourceId) -> Result<Raw<Vm>, Error> {
        let call = Call::get(instance.as_str(), self.versions.compute)?;
        self.read(call.query("$expand", "instanceView")).await
    }

    pub async fn scale_set_vm_view(
        &self,
        instance: &ResourceId,
    ) -> Result<Raw<InstanceView>, Error> {
        self.read(Call::get(&format!("{instance}/instanceView"), self.versions.compute)?).await
    }
}
