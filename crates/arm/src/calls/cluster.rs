//! Managed clusters.

use std::collections::BTreeMap;

use base64::Engine;
use http::Method;
use jiff::Timestamp;
use mooring_redact::Secret;
use serde::Deserialize;
use serde_json::{Value, json};

use super::lenient::{PowerState, ProvisioningState, or_default, time};
use crate::client::Client;
use crate::error::{Error, WriteStatus};
use crate::operation::{Kind, Started};
use crate::raw::Raw;
use crate::request::{Call, Class};
use crate::resource_id::ResourceId;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Cluster {
    pub id: Option<ResourceId>,
    pub name: String,
    pub location: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub tags: BTreeMap<String, String>,
    /// Changes with every change.
    pub e_tag: Option<String>,
    pub properties: ClusterProperties,
}

/// What is inside `properties` of a cluster. A cluster that is being created lacks most of it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ClusterProperties {
    pub provisioning_state: Option<ProvisioningState>,
    #[serde(deserialize_with = "code")]
    pub power_state: Option<PowerState>,
    /// The version asked for.
    pub kubernetes_version: Option<String>,
    pub current_kubernetes_version: Option<String>,
    pub node_resource_group: Option<String>,
    /// The API server's name.
    pub fqdn: Option<String>,
    /// The API server's name inside of the network.
    #[serde(rename = "privateFQDN")]
    pub private_fqdn: Option<String>,
    pub max_agent_pools: Option<u32>,
    pub disable_local_accounts: Option<bool>,
    #[serde(deserialize_with = "or_default")]
    pub api_server_access_profile: ApiServerAccessProfile,
    /// Its integration with Entra, if it has one. Its members are not needed.
    pub aad_profile: Option<Value>,
}

/// How the API server of a cluster is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ApiServerAccessProfile {
    /// Whether it is reached from the cluster's own network only.
    pub enable_private_cluster: Option<bool>,
    /// Whether a public name leads to its private address.
    #[serde(rename = "enablePrivateClusterPublicFQDN")]
    pub enable_private_cluster_public_fqdn: Option<bool>,
    /// The addresses that it admits; all if there are none.
    #[serde(rename = "authorizedIPRanges", deserialize_with = "or_default")]
    pub authorized_ip_ranges: Vec<String>,
}

/// `{"code": "Running"}`.
pub(crate) fn code<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<PowerState>, D::Error> {
    #[derive(Deserialize)]
    struct Code {
        code: Option<PowerState>,
    }
    Ok(Option::<Code>::deserialize(deserializer)?.and_then(|state| state.code))
}

/// What runs on a cluster or pool, or ran last.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct AksOperation {
    /// Its id; tells cluster or pool.
    pub id: Option<ResourceId>,
    pub name: Option<String>,
    /// `InProgress`, `Succeeded` and so on.
    pub status: String,
    pub percent_complete: Option<f64>,
    #[serde(deserialize_with = "time")]
    pub start_time: Option<Timestamp>,
    #[serde(deserialize_with = "time")]
    pub end_time: Option<Timestamp>,
    /// Why it failed; read it with [`Refusal::of`](crate::Refusal::of).
    pub error: Option<Value>,
}

/// How a kubeconfig wants its user to sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KubeconfigFormat {
    /// By a command (`kubelogin`).
    Exec,
    /// By the old `azure` plugin.
    Azure,
}

/// A kubeconfig, which may hold a client key.
#[derive(Debug, Clone)]
pub struct Kubeconfig {
    /// `clusterUser`.
    pub name: String,
    pub yaml: Secret,
}

impl Client {
    pub async fn cluster(&self, cluster: &ResourceId) -> Result<Raw<Cluster>, Error> {
        let call = Call::get(cluster.as_str(), self.versions.aks)?;
        self.send(&call).await?.parse(call.path())
    }

    /// Stops what runs on a cluster. 409 means that it had ended already; an error whose fate is unknown means
    /// that the state must be read before anything else.
    pub async fn abort_cluster(&self, cluster: &ResourceId) -> Result<Started, Error> {
        self.begin(&self.abort(cluster)?, Kind::Abort).await
    }

    pub(super) fn abort(&self, id: &ResourceId) -> Result<Call, Error> {
        Call::new(Method::POST, Class::Once, &format!("{id}/abort"), self.versions.aks)
    }

    /// What runs on a cluster, or ran last.
    pub async fn latest_operation(
        &self,
        cluster_or_pool: &ResourceId,
    ) -> Result<Raw<AksOperation>, Error> {
        let call = Call::get(
            &format!("{cluster_or_pool}/operations/latest"),
            self.versions.aks_operations,
        )?;
        self.send(&call).await?.parse(call.path())
    }

    /// Adds tags to any resource, or changes them. All other tags stay.
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
        let answer = self.send(&call).await?;
        let tags: Tags = answer.parse(call.path()).map_err(|mut error| {
            // It was accepted; only the list that came back cannot be read.
            error.write_status = WriteStatus::Unknown;
            error.call.method = Method::PATCH;
            error
        })?;
        Ok(tags.properties.tags)
    }

    /// The kubeconfigs of a cluster's user. None at all is an error: there is nothing to go on with.
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
        let answer = self.send(&call).await?;
        let credentials: Credentials = answer.parse(call.path())?;
        let malformed = |what| Error::malformed(Method::POST, &path, &answer.correlation_id, what);
        if credentials.kubeconfigs.is_empty() {
            return Err(malformed("holds no kubeconfig"));
        }
        let decoded = credentials.kubeconfigs.into_iter().map(|credential| {
            let yaml = base64::engine::general_purpose::STANDARD.decode(&credential.value).ok();
            let yaml = yaml.and_then(|yaml| String::from_utf8(yaml).ok());
            let yaml =
                yaml.ok_or_else(|| malformed("holds a kubeconfig that is not base64 of text"))?;
            Ok(Kubeconfig { name: credential.name, yaml: Secret::from(yaml) })
        });
        decoded.collect()
    }
}
