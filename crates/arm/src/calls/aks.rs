//! AKS clusters, agent pools and their machines.

use std::collections::BTreeMap;

use base64::Engine;
use http::Method;
use mooring_redact::Secret;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::lists::or_default;
use crate::client::Client;
use crate::error::{Error, WriteStatus};
use crate::operation::{Started, WriteKind};
use crate::path::resource_id::ResourceId;
use crate::request::Call;
use crate::request_class::Class;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Cluster {
    pub name: String,
    pub properties: ClusterProperties,
}

/// A cluster that is being created lacks most properties.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ClusterProperties {
    #[serde(deserialize_with = "power_state")]
    pub power_state: Option<PowerState>,
    pub node_resource_group: Option<String>,
    /// Host name of the API server.
    pub fqdn: Option<String>,
    /// Host name of the API server in the virtual network.
    #[serde(rename = "privateFQDN")]
    pub private_fqdn: Option<String>,
    pub disable_local_accounts: Option<bool>,
    #[serde(deserialize_with = "or_default")]
    pub api_server_access_profile: ApiServerAccessProfile,
    /// Entra integration; its members are not read.
    pub aad_profile: Option<Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ApiServerAccessProfile {
    pub enable_private_cluster: Option<bool>,
    /// Allowed client addresses; empty means all.
    #[serde(rename = "authorizedIPRanges", deserialize_with = "or_default")]
    pub authorized_ip_ranges: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PowerState {
    Running,
    Stopped,
}

/// Reads `{"code": "Running"}`, ignoring case; an unknown state is `None`.
fn power_state<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PowerState>, D::Error> {
    #[derive(Deserialize)]
    struct PowerCode {
        code: Option<String>,
    }
    let code = Option::<PowerCode>::deserialize(deserializer)?.and_then(|state| state.code);
    Ok(match code.unwrap_or_default().to_ascii_lowercase().as_str() {
        "running" => Some(PowerState::Running),
        "stopped" => Some(PowerState::Stopped),
        _ => None,
    })
}

/// Sign-in method of a kubeconfig.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KubeconfigFormat {
    /// A command (`kubelogin`).
    Exec,
    /// The old `azure` plugin.
    Azure,
}

/// A kubeconfig, which may contain a client key.
#[derive(Debug, Clone)]
pub struct Kubeconfig {
    pub name: String,
    pub yaml: Secret,
}

impl Client {
    pub async fn cluster<T: DeserializeOwned>(&self, cluster: &ResourceId) -> Result<T, Error> {
        self.read(Call::get(cluster.as_str(), self.versions.aks)?).await
    }

    /// Aborts the running operation of a cluster. 409 means that it has ended already; after an error with unknown
    /// write status, read the state first.
    pub async fn abort_cluster(&self, cluster: &ResourceId) -> Result<Started, Error> {
        self.begin(&self.abort(cluster)?, WriteKind::Abort).await
    }

    pub(super) fn abort(&self, id: &ResourceId) -> Result<Call, Error> {
        Call::new(Method::POST, Class::Once, &format!("{id}/abort"), self.versions.aks)
    }

    pub async fn latest_operation(&self, cluster: &ResourceId) -> Result<Value, Error> {
        let path = format!("{cluster}/operations/latest");
        self.read(Call::get(&path, self.versions.aks_operations)?).await
    }

    /// Adds or changes tags of any resource, and keeps all others.
    pub async fn merge_tags(
        &self,
        resource: &ResourceId,
        tags: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, Error> {
        #[derive(Deserialize)]
        struct Tags {
            properties: Inner,
        }
        #[derive(Deserialize)]
        struct Inner {
            #[serde(default, deserialize_with = "or_default")]
            tags: BTreeMap<String, String>,
        }
        let path = format!("{resource}/providers/Microsoft.Resources/tags/default");
        let call = Call::new(Method::PATCH, Class::Idempotent, &path, self.versions.tags)?
            .json(&json!({"operation": "Merge", "properties": {"tags": tags}}))?;
        let response = self.send(&call).await?;
        let tags: Tags = response.parse(call.path()).map_err(|mut error| {
            // The write was accepted; only the returned list cannot be read.
            error.write_status = WriteStatus::Unknown;
            error.call.method = Method::PATCH;
            error
        })?;
        Ok(tags.properties.tags)
    }

    /// Returns the user kubeconfigs of a cluster, at least one.
    pub async fn user_credentials(
        &self,
        cluster: &ResourceId,
        format: Option<KubeconfigFormat>,
    ) -> Result<Vec<Kubeconfig>, Error> {
        #[derive(Deserialize)]
        struct Credentials {
            #[serde(default, deserialize_with = "or_default")]
            kubeconfigs: Vec<Credential>,
        }
        #[derive(Deserialize)]
        struct Credential {
            #[serde(default)]
            name: String,
            value: String,
        }
        let path = format!("{cluster}/listClusterUserCredential");
        // A POST that changes nothing.
        let mut call = Call::new(Method::POST, Class::Read, &path, self.versions.aks)?;
        if let Some(format) = format {
            let word = if format == KubeconfigFormat::Exec { "exec" } else { "azure" };
            call = call.query("format", word);
        }
        let response = self.send(&call).await?;
        let credentials: Credentials = response.parse(call.path())?;
        let malformed =
            |what| Error::malformed(Method::POST, &path, &response.correlation_id, what);
        if credentials.kubeconfigs.is_empty() {
            return Err(malformed("no kubeconfig"));
        }
        let decoded = credentials.kubeconfigs.into_iter().map(|credential| {
            let yaml = base64::engine::general_purpose::STANDARD.decode(&credential.value).ok();
            let yaml = yaml.and_then(|yaml| String::from_utf8(yaml).ok());
            let yaml = yaml.ok_or_else(|| malformed("kubeconfig is not base64-encoded text"))?;
            Ok(Kubeconfig { name: credential.name, yaml: Secret::from(yaml) })
        });
        decoded.collect()
    }
}

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
    pub async fn agent_pools(&self, cluster: &ResourceId) -> Result<Vec<Value>, Error> {
        self.list(Call::get(&format!("{cluster}/agentPools"), self.versions.aks)?).await
    }

    pub async fn agent_pool(&self, pool: &ResourceId) -> Result<Value, Error> {
        self.read(Call::get(pool.as_str(), self.versions.aks)?).await
    }

    /// Creates a pool if none has its name. As with [`Client::put_agent_pool`], a retry may find the pool of the first
    /// request: a failed precondition whose write status is unknown.
    pub async fn create_agent_pool(
        &self,
        pool: &ResourceId,
        body: &Value,
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
        body: &Value,
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
    pub async fn machines(&self, pool: &ResourceId) -> Result<Vec<Machine>, Error> {
        self.list(Call::get(&format!("{pool}/machines"), self.versions.machines)?).await
    }

    pub async fn machine(&self, machine: &ResourceId) -> Result<Machine, Error> {
        self.read(Call::get(machine.as_str(), self.versions.machines)?).await
    }
}
