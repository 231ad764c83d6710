//! Nodes and pods.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{entries, flag, items, text, texts, time};

#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct Node {
    pub name: String,
    pub uid: String,
    pub pool: Option<String>,
    /// `azure://` and the resource id of the instance.
    pub provider_id: Option<String>,
    pub ready: bool,
    /// Last transition of the condition `Ready`.
    pub since: Option<Timestamp>,
    pub unschedulable: bool,
    pub deleting: bool,
    /// Has a taint, other than that of a cordon, that repels pods.
    pub tainted: bool,
}

impl Node {
    pub fn read(raw: &Value) -> Option<Self> {
        let labels = texts(raw, "/metadata/labels");
        let pool = labels.get("agentpool").or_else(|| labels.get("kubernetes.azure.com/agentpool"));
        Some(Self {
            name: text(raw, "/metadata/name")?,
            uid: text(raw, "/metadata/uid").unwrap_or_default(),
            pool: pool.cloned(),
            provider_id: text(raw, "/spec/providerID"),
            ready: condition(raw, "Ready"),
            since: conditions(raw, "Ready").find_map(|c| time(c, "/lastTransitionTime")),
            unschedulable: flag(raw, "/spec/unschedulable"),
            deleting: text(raw, "/metadata/deletionTimestamp").is_some(),
            tainted: is_tainted(raw),
        })
    }

    pub fn read_list(body: &Value) -> Option<Vec<Self>> {
        entries(body, "/items", Self::read)
    }

    pub fn is_of(&self, pool: &str) -> bool {
        self.pool.as_deref() == Some(pool)
    }

    /// Returns true if the node is Ready and schedulable.
    pub fn usable(&self) -> bool {
        self.ready && !self.unschedulable && !self.deleting
    }

    /// Returns true if the node was not Ready for so long that its pods do not run, and no kubelet confirms their deletion.
    pub fn is_dead(&self, now: Timestamp) -> bool {
        !self.ready && self.since.is_none_or(|since| now.duration_since(since) >= NOT_READY_TIMEOUT)
    }

    pub fn is_on(&self, instance: &str) -> bool {
        self.instance().is_some_and(|id| id.eq_ignore_ascii_case(instance))
    }

    fn instance(&self) -> Option<&str> {
        self.provider_id.as_deref()?.strip_prefix("azure://")
    }
}

/// Kubernetes evicts the pods of a node after this time.
const NOT_READY_TIMEOUT: SignedDuration = SignedDuration::from_mins(5);

/// Returns a pool node whose instance is not in this resource group: the API is that of another cluster.
pub fn foreign_node<'n>(nodes: &'n [Node], group: &str) -> Option<&'n Node> {
    let group = format!("{}/", group.to_ascii_lowercase());
    let is_outside = |id: &str| !id.to_ascii_lowercase().starts_with(&group);
    nodes.iter().find(|node| node.pool.is_some() && node.instance().is_some_and(is_outside))
}

fn condition(raw: &Value, kind: &str) -> bool {
    conditions(raw, kind).any(|c| c["status"].as_str() == Some("True"))
}

fn conditions<'a>(raw: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    items(raw, "/status/conditions").filter(move |c| c["type"].as_str() == Some(kind))
}

/// Desired replicas of a `ReplicaSet` or `StatefulSet`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replicas {
    pub uid: String,
    pub wanted: usize,
}

impl Replicas {
    pub fn read(raw: &Value) -> Option<Self> {
        let wanted = raw.pointer("/spec/replicas")?.as_u64()?;
        Some(Self { uid: text(raw, "/metadata/uid")?, wanted: usize::try_from(wanted).ok()? })
    }
}

/// The controller that recreates a pod.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodController {
    /// For example `ReplicaSet`.
    pub kind: String,
    pub name: String,
    pub uid: String,
}

#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct Pod {
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub node: Option<String>,
    /// `Pending`, `Running`, `Succeeded`, `Failed`, `Unknown`.
    pub phase: String,
    pub ready: bool,
    pub deleting: Option<Timestamp>,
    pub controller: Option<PodController>,
    /// Mirror pod of a static pod: cannot be evicted.
    pub mirror: bool,
    /// Has an `emptyDir`, which is lost with the pod.
    pub local_data: bool,
    pub labels: BTreeMap<String, String>,
    /// Can be scheduled on a cordoned node.
    pub ignores_cordon: bool,
    /// Tolerates `CriticalAddonsOnly=true:NoSchedule`.
    pub tolerates_critical: bool,
    pub created: Option<Timestamp>,
}

impl Pod {
    pub fn read(raw: &Value) -> Option<Self> {
        let mut owners = items(raw, "/metadata/ownerReferences");
        let controller = owners.find(|owner| flag(owner, "/controller"));
        Some(Self {
            namespace: text(raw, "/metadata/namespace")?,
            name: text(raw, "/metadata/name")?,
            uid: text(raw, "/metadata/uid").unwrap_or_default(),
            node: text(raw, "/spec/nodeName"),
            phase: text(raw, "/status/phase").unwrap_or_default(),
            ready: condition(raw, "Ready"),
            deleting: time(raw, "/metadata/deletionTimestamp"),
            controller: controller.and_then(|owner| {
                Some(PodController {
                    kind: text(owner, "/kind")?,
                    name: text(owner, "/name")?,
                    uid: text(owner, "/uid")?,
                })
            }),
            mirror: !raw["metadata"]["annotations"]["kubernetes.io/config.mirror"].is_null(),
            local_data: items(raw, "/spec/volumes").any(|v| !v["emptyDir"].is_null()),
            labels: texts(raw, "/metadata/labels"),
            ignores_cordon: tolerates(raw, UNSCHEDULABLE, ""),
            tolerates_critical: tolerates(raw, "CriticalAddonsOnly", "true"),
            created: time(raw, "/metadata/creationTimestamp"),
        })
    }

    pub fn read_list(body: &Value) -> Option<Vec<Self>> {
        entries(body, "/items", Self::read)
    }

    /// Returns true if a drain must evict it: not a mirror, not of a `DaemonSet`, not finished.
    pub fn movable(&self) -> bool {
        let daemon = self.controller.as_ref().is_some_and(|owner| owner.kind == "DaemonSet");
        let has_ended = matches!(self.phase.as_str(), "Succeeded" | "Failed");
        !self.mirror && !daemon && !has_ended
    }

    pub fn is_on(&self, node: &Node) -> bool {
        self.node.as_deref() == Some(node.name.as_str())
    }

    /// Returns true if it is running, Ready and not being deleted.
    pub fn serving(&self) -> bool {
        self.phase == "Running" && self.ready && self.deleting.is_none()
    }
}

/// Taint of a cordoned node.
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

fn is_tainted(raw: &Value) -> bool {
    items(raw, "/spec/taints").any(|taint| {
        taint["key"] != UNSCHEDULABLE
            && matches!(taint["effect"].as_str(), Some("NoSchedule" | "NoExecute"))
    })
}

/// Returns true if a pod tolerates a taint of effect `NoSchedule`.
fn tolerates(raw: &Value, key: &str, value: &str) -> bool {
    items(raw, "/spec/tolerations").any(|toleration| {
        let own = |member: &str| toleration[member].as_str().unwrap_or_default();
        let exists = own("operator") == "Exists";
        let matches = (own("key").is_empty() && exists)
            || (own("key") == key && (exists || own("value") == value));
        matches && matches!(own("effect"), "" | "NoSchedule")
    })
}

/// Returns the pods that a drain of these nodes must evict, each with its node.
pub fn movable_on<'a>(pods: &'a [Pod], nodes: &[&'a Node]) -> Vec<(&'a Pod, &'a Node)> {
    let node_of = |pod: &Pod| nodes.iter().find(|node| pod.is_on(node)).copied();
    let movable = pods.iter().filter(|pod| pod.movable());
    movable.filter_map(|pod| Some((pod, node_of(pod)?))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(pool: Option<&str>, group: Option<&str>) -> Node {
        let id = group.map(|group| {
            format!("azure:///subscriptions/s/resourceGroups/{group}/providers/x/y/z")
        });
        let labels = pool.map(|pool| json!({"agentpool": pool}));
        Node::read(&json!({
            "metadata": {"name": "n", "labels": labels}, "spec": {"providerID": id},
        }))
        .unwrap()
    }

    #[test]
    fn node_is_dead_after_five_minutes_not_ready() {
        let now: Timestamp = "2026-05-26T20:40:00Z".parse().unwrap();
        let dead = |status: &str, since: Option<&str>| {
            let condition = json!({"type": "Ready", "status": status, "lastTransitionTime": since});
            let raw = json!({"metadata": {"name": "n"}, "status": {"conditions": [condition]}});
            Node::read(&raw).unwrap().is_dead(now)
        };
        assert!(dead("Unknown", Some("2026-05-26T20:35:00Z")));
        assert!(dead("False", Some("2026-05-26T20:00:00Z")));
        assert!(!dead("Unknown", Some("2026-05-26T20:35:01Z")), "a kubelet may come back");
        assert!(!dead("True", Some("2026-05-26T20:00:00Z")));
        assert!(dead("False", None), "it never reported");
    }

    #[test]
    fn toleration_ignores_a_cordon() {
        let ignores = |toleration: Value| {
            let raw = json!({"metadata": {"namespace": "n", "name": "p"}, "spec": {"tolerations": [toleration]}});
            Pod::read(&raw).unwrap().ignores_cordon
        };
        let key = "node.kubernetes.io/unschedulable";
        assert!(ignores(json!({"operator": "Exists"})));
        assert!(ignores(json!({"key": key, "operator": "Exists", "effect": "NoSchedule"})));
        assert!(!ignores(json!({"operator": "Exists", "effect": "NoExecute"})));
        assert!(!ignores(json!({"key": "CriticalAddonsOnly", "operator": "Exists"})));
    }

    #[test]
    fn node_in_another_resource_group_is_foreign() {
        let group = "/subscriptions/s/resourceGroups/MC_g_c_uksouth";
        let found = |node: Node| foreign_node(&[node], group).is_some();
        let elsewhere = foreign_node(
            &[node(Some("system"), Some("MC_g_c_uksouth"))],
            "/subscriptions/other/resourceGroups/MC_g_c_uksouth",
        )
        .is_some();
        assert!(elsewhere, "the same names in another subscription are another cluster");
        assert!(found(node(Some("system"), Some("MC_g_other_uksouth"))));
        assert!(
            found(node(Some("system"), Some("MC_g_c_uksouth2"))),
            "a longer name is a different group"
        );
        assert!(!found(node(Some("system"), Some("mc_G_c_uksouth"))), "case does not matter");
        assert!(!found(node(Some("system"), None)), "a new node has no providerID yet");
        assert!(!found(node(None, Some("elsewhere"))), "a node without a pool may be anywhere");
    }
}
