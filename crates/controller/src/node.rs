//! Nodes of a NodePool that have no providerID.
//!
//! Karpenter finds a Node by its providerID. One without it never registers; and after a restart Karpenter waits until
//! it knows every Node that carries the label of a NodePool, so that a single one stops all provisioning in the cluster
//! until it is deleted.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

const POOL: &str = "karpenter.sh/nodepool";
/// Nodes of NodePools that Karpenter has not registered: no others can lack a providerID, which never changes.
pub const SELECTOR: &str = "karpenter.sh/nodepool,karpenter.sh/registered!=true";
/// The reason of the event.
pub(crate) const REASON: &str = "NodeWithoutProviderID";
/// Every Node begins without one: the cloud's node manager sets it within seconds of the registration.
pub(crate) const PATIENCE: SignedDuration = SignedDuration::from_mins(3);

/// A Node as the API returns it.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Object {
    pub(crate) metadata: Metadata,
    #[serde(default)]
    spec: Spec,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Metadata {
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) resource_version: Option<String>,
    creation_timestamp: Option<Timestamp>,
    deletion_timestamp: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Spec {
    #[serde(default, rename = "providerID")]
    provider_id: String,
}

/// A Node of a NodePool without a providerID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// Its NodePool.
    pub pool: String,
    /// When it was created.
    pub created: Timestamp,
}

impl Node {
    /// Reads a Node. None if it has a providerID, has no NodePool, or is being deleted.
    #[must_use]
    pub fn of(object: Object) -> Option<Self> {
        let Metadata { name, uid, creation_timestamp, deletion_timestamp, mut labels, .. } =
            object.metadata;
        let pool = labels.remove(POOL)?;
        let lacks = object.spec.provider_id.is_empty() && deletion_timestamp.is_none();
        lacks.then(|| Self { name, uid, pool, created: creation_timestamp.unwrap_or_default() })
    }

    /// Returns when the missing providerID is a finding.
    pub(crate) fn due(&self) -> Timestamp {
        self.created.saturating_add(PATIENCE).unwrap_or(Timestamp::MAX)
    }

    /// Describes the finding, with the command that ends it.
    #[must_use]
    pub fn finding(&self) -> String {
        let Self { name, pool, .. } = self;
        format!(
            "Node {name} of NodePool {pool} has no providerID, so Karpenter cannot register it. From its next restart \
             on Karpenter provisions no node in the whole cluster while this Node exists. Delete it: kubectl delete \
             node {name}"
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn node(change: impl FnOnce(&mut Value)) -> Option<Node> {
        let mut object = json!({
            "metadata": {
                "name": "aks-default-x1", "uid": "u1", "creationTimestamp": "2026-11-15T05:00:00Z",
                "labels": {"karpenter.sh/nodepool": "default"},
            },
            "spec": {},
        });
        change(&mut object);
        Node::of(serde_json::from_value(object).unwrap())
    }

    #[test]
    fn only_a_node_of_a_pool_without_a_provider_id_counts() {
        let found = node(|_| ()).unwrap();
        assert_eq!((&*found.name, &*found.pool), ("aks-default-x1", "default"));
        assert!(found.finding().ends_with("kubectl delete node aks-default-x1"));
        assert_eq!(node(|object| object["spec"]["providerID"] = json!("azure:///x")), None);
        assert_eq!(node(|object| object["metadata"]["labels"] = json!({})), None);
        let at = json!("2026-11-15T05:00:00Z");
        assert_eq!(node(|object| object["metadata"]["deletionTimestamp"] = at), None);
        assert!(node(|object| object["spec"]["providerID"] = json!("")).is_some());
    }
}
