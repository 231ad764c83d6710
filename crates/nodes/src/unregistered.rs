//! Nodes of NodePools that Karpenter has not registered.
//!
//! Karpenter finds a Node by its providerID. One without it never registers; and after a restart Karpenter
//! waits until it has found every Node with the label of a NodePool, so a single one blocks all provisioning
//! in the cluster until it is deleted.

use jiff::{SignedDuration, Timestamp};

/// Nodes of NodePools that Karpenter has not registered. Only these can lack a providerID, which never
/// changes, and only these belong to a NodeClaim that waits for one.
pub const SELECTOR: &str = "karpenter.sh/nodepool,karpenter.sh/registered!=true";
pub const REASON: &str = "NodeWithoutProviderID";
/// Nodes start without a providerID: cloud-node-manager sets it within seconds of the registration.
pub const PROVIDER_ID_TIMEOUT: SignedDuration = SignedDuration::from_mins(3);

/// The Node with the name of the VM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeState {
    /// Nodes could not be listed.
    #[default]
    Unknown,
    Absent,
    /// Karpenter finds a Node by its providerID.
    NoProviderId,
    NotReady,
    Ready,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnregisteredNode {
    pub name: String,
    pub uid: String,
    pub pool: String,
    pub created: Timestamp,
    pub state: NodeState,
}

impl UnregisteredNode {
    pub fn lacks_provider_id(&self) -> bool {
        self.state == NodeState::NoProviderId
    }

    /// Returns the time from which the missing providerID is a finding.
    pub fn due(&self) -> Timestamp {
        self.created.saturating_add(PROVIDER_ID_TIMEOUT).unwrap_or(Timestamp::MAX)
    }

    /// Returns true if the missing providerID is a finding.
    pub fn is_lost(&self, now: Timestamp) -> bool {
        self.lacks_provider_id() && self.due() <= now
    }

    /// Describes the finding, with the command that fixes it.
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
    use crate::NodeItem;

    fn node(change: impl FnOnce(&mut Value)) -> Option<UnregisteredNode> {
        let mut object = json!({
            "metadata": {
                "name": "aks-default-x1", "uid": "u1", "creationTimestamp": "2026-11-15T05:00:00Z",
                "labels": {"karpenter.sh/nodepool": "default"},
            },
            "spec": {},
        });
        change(&mut object);
        serde_json::from_value::<NodeItem>(object).unwrap().of_node_pool()
    }

    #[test]
    fn node_without_a_nodepool_is_ignored() {
        let found = node(|_| ()).unwrap();
        assert_eq!((&*found.name, &*found.pool), ("aks-default-x1", "default"));
        assert!(found.finding().ends_with("kubectl delete node aks-default-x1"));
        assert_eq!(node(|object| object["metadata"]["labels"] = json!({})), None);
        for (id, ready, expected) in [
            (json!(""), "True", NodeState::NoProviderId),
            (json!("azure:///x"), "False", NodeState::NotReady),
            (json!("azure:///x"), "True", NodeState::Ready),
        ] {
            let found = node(|object| {
                object["spec"]["providerID"] = id;
                object["status"]["conditions"] = json!([{"type": "Ready", "status": ready}]);
            });
            assert_eq!(found.unwrap().state, expected);
        }
        assert_eq!(found.state, NodeState::NoProviderId);
    }

    #[test]
    fn node_is_lost_after_a_time_without_a_provider_id() {
        let without = node(|_| ()).unwrap();
        let due = without.created + PROVIDER_ID_TIMEOUT;
        assert_eq!(without.due(), due);
        assert!(without.is_lost(due));
        assert!(!without.is_lost(due - jiff::SignedDuration::from_secs(1)));
        let with = node(|object| object["spec"]["providerID"] = json!("azure:///x")).unwrap();
        assert!(!with.is_lost(due));
    }

    #[test]
    fn other_conditions_than_ready_do_not_count() {
        for (kind, status, expected) in [
            ("Ready", "True", NodeState::Ready),
            ("Ready", "Unknown", NodeState::NotReady),
            ("MemoryPressure", "True", NodeState::NotReady),
        ] {
            let found = node(|object| {
                object["spec"]["providerID"] = json!("azure:///x");
                object["status"]["conditions"] = json!([{"type": kind, "status": status}]);
            });
            assert_eq!(found.unwrap().state, expected, "{kind} {status}");
        }
    }
}
