//! Agent pools.

use std::collections::BTreeMap;

use http::Method;
use serde::Deserialize;

use super::cluster::code;
use super::lenient::{PoolMode, PowerState, ProvisioningState, or_default};
use crate::client::Client;
use crate::error::Error;
use crate::operation::{Kind, Started};
use crate::raw::{Document, Raw};
use crate::request::{Call, Class};
use crate::resource_id::ResourceId;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AgentPool {
    pub id: Option<ResourceId>,
    pub name: String,
    #[serde(deserialize_with = "or_default")]
    pub properties: AgentPoolProperties,
}

/// What is inside `properties` of a pool.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AgentPoolProperties {
    pub provisioning_state: Option<ProvisioningState>,
    #[serde(deserialize_with = "code")]
    pub power_state: Option<PowerState>,
    pub mode: Option<PoolMode>,
    pub count: Option<u32>,
    pub min_count: Option<u32>,
    pub max_count: Option<u32>,
    pub enable_auto_scaling: Option<bool>,
    /// The size of its VMs.
    pub vm_size: Option<String>,
    pub max_pods: Option<u32>,
    /// `VirtualMachineScaleSets`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The version asked for.
    pub orchestrator_version: Option<String>,
    pub current_orchestrator_version: Option<String>,
    pub node_image_version: Option<String>,
    /// `Linux` or `Windows`.
    pub os_type: Option<String>,
    /// `Ubuntu`, `AzureLinux` and so on.
    #[serde(rename = "osSKU")]
    pub os_sku: Option<String>,
    #[serde(rename = "vnetSubnetID")]
    pub vnet_subnet_id: Option<String>,
    #[serde(rename = "podSubnetID")]
    pub pod_subnet_id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub availability_zones: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub node_labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    pub node_taints: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub tags: BTreeMap<String, String>,
    /// Changes with every change.
    pub e_tag: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeletePool {
    /// Delete nodes although pods of disruption budgets are still there. Without it such a pod may block.
    pub ignore_pod_disruption_budget: bool,
    /// Only if the pool still has this tag.
    pub if_match: Option<String>,
}

impl Client {
    pub async fn agent_pools(&self, cluster: &ResourceId) -> Result<Vec<Raw<AgentPool>>, Error> {
        self.list(Call::get(&format!("{cluster}/agentPools"), self.versions.aks)?).await
    }

    pub async fn agent_pool(&self, pool: &ResourceId) -> Result<Raw<AgentPool>, Error> {
        let call = Call::get(pool.as_str(), self.versions.aks)?;
        self.send(&call).await?.parse(call.path())
    }

    /// Creates a pool, if there is none of its name. As with [`Client::put_agent_pool`], a repetition may meet what the
    /// first request made: a failed condition whose fate is unknown.
    pub async fn create_agent_pool(
        &self,
        pool: &ResourceId,
        body: &Document,
    ) -> Result<Started, Error> {
        let call = Call::new(Method::PUT, Class::Idempotent, pool.as_str(), self.versions.aks)?
            .json(body)?
            .if_absent();
        self.begin(&call, Kind::Write).await
    }

    /// Creates or changes a pool.
    ///
    /// A PUT whose answer was lost is repeated. If the first one had arrived, the repetition meets its own
    /// operation: that is a conflict whose fate is unknown, and the pool must be read.
    pub async fn put_agent_pool(
        &self,
        pool: &ResourceId,
        body: &Document,
        if_match: Option<&str>,
    ) -> Result<Started, Error> {
        let call = Call::new(Method::PUT, Class::Idempotent, pool.as_str(), self.versions.aks)?
            .json(body)?
            .if_match(if_match)?;
        self.begin(&call, Kind::Write).await
    }

    /// Deletes a pool. One that is not there is deleted.
    pub async fn delete_agent_pool(
        &self,
        pool: &ResourceId,
        how: &DeletePool,
    ) -> Result<Started, Error> {
        let mut call =
            Call::new(Method::DELETE, Class::Idempotent, pool.as_str(), self.versions.aks)?;
        if how.ignore_pod_disruption_budget {
            call = call.query("ignore-pod-disruption-budget", "true");
        }
        let call = call.if_match(how.if_match.as_deref())?;
        self.begin(&call, Kind::Delete).await
    }

    /// Stops what runs on a pool; see [`Client::abort_cluster`].
    pub async fn abort_agent_pool(&self, pool: &ResourceId) -> Result<Started, Error> {
        self.begin(&self.abort(pool)?, Kind::Abort).await
    }
}
