//! Agent pools, and their machines: single nodes.

use http::Method;
use serde::Deserialize;

use super::page::or_default;
use crate::client::Client;
use crate::error::Error;
use crate::operation::{Started, WriteKind};
use crate::path::resource_id::ResourceId;
use crate::raw::{Raw, RawObject};
use crate::request::Call;
use crate::request_class::Class;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeletePool {
    /// Deletes nodes even if a PDB blocks the eviction of their pods.
    pub ignore_pod_disruption_budget: bool,
    /// eTag that the pool must have.
    pub if_match: Option<String>,
}

/// A single node of a pool.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Machine {
    pub name: String,
    #[serde(deserialize_with = "or_default")]
    pub properties: MachineProperties,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MachineProperties {
    #[serde(deserialize_with = "or_default")]
    pub provisioning_state: String,
    #[serde(deserialize_with = "or_default")]
    pub status: MachineState,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MachineState {
    pub provisioning_error: Option<ProvisioningError>,
}

/// An error, whose details contain what it summarizes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ProvisioningError {
    #[serde(deserialize_with = "or_default")]
    pub code: String,
    #[serde(deserialize_with = "or_default")]
    pub message: String,
    #[serde(deserialize_with = "or_default")]
    pub details: Vec<Self>,
}

impl Client {
    pub async fn agent_pools(&self, cluster: &ResourceId) -> Result<Vec<Raw<RawObject>>, Error> {
        self.list(Call::get(&format!("{cluster}/agentPools"), self.versions.aks)?).await
    }

    pub async fn agent_pool(&self, pool: &ResourceId) -> Result<Raw<RawObject>, Error> {
        self.read(Call::get(pool.as_str(), self.versions.aks)?).await
    }

    /// Creates a pool if none has its name. As with [`Client::put_agent_pool`], a retry may find the pool of the first
    /// request: a failed precondition whose write status is unknown.
    pub async fn create_agent_pool(
        &self,
        pool: &ResourceId,
        body: &RawObject,
    ) -> Result<Started, Error> {
        let call = Call::new(Method::PUT, Class::Idempotent, pool.as_str(), self.versions.aks)?
            .json(body)?
            .if_absent();
        self.begin(&call, WriteKind::Write).await
    }

    /// Creates or changes a pool.
    ///
    /// A PUT whose response was lost is retried. If the first one was applied, the retry conflicts with its
    /// operation: the write status is unknown, and the pool must be read.
    pub async fn put_agent_pool(
        &self,
        pool: &ResourceId,
        body: &RawObject,
        if_match: Option<&str>,
    ) -> Result<Started, Error> {
        let call = Call::new(Method::PUT, Class::Idempotent, pool.as_str(), self.versions.aks)?
            .json(body)?
            .if_match(if_match)?;
        self.begin(&call, WriteKind::Write).await
    }

    /// Deletes a pool. Succeeds if the pool does not exist.
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
        self.begin(&call, WriteKind::Delete).await
    }

    /// Aborts the running operation of a pool; see [`Client::abort_cluster`].
    pub async fn abort_agent_pool(&self, pool: &ResourceId) -> Result<Started, Error> {
        self.begin(&self.abort(pool)?, WriteKind::Abort).await
    }

    /// Returns all machines of a pool with one list, instead of one read per machine.
    pub async fn machines(&self, pool: &ResourceId) -> Result<Vec<Raw<Machine>>, Error> {
        self.list(Call::get(&format!("{pool}/machines"), self.versions.machines)?).await
    }

    pub async fn machine(&self, machine: &ResourceId) -> Result<Raw<Machine>, Error> {
        self.read(Call::get(machine.as_str(), self.versions.machines)?).await
    }
}
