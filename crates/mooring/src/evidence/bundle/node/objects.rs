//! NodeClaims and Nodes of the cluster: whole objects of the wanted nodes, and times of the others.

use jiff::Timestamp;
use mooring_controller::Settings;
use mooring_controller::run::{Api, ApiError};
use mooring_nodes::Scope;
use mooring_nodes::claim::intern::Interner;
use mooring_nodes::{ClaimItem, NodeItem};
use serde_json::Value;
use serde_json::value::RawValue;

use super::reason;
use crate::cluster::{NODES, find_scope, list};

const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";

#[derive(Debug, Clone, Default)]
pub(super) struct ClaimFacts {
    pub(super) name: String,
    /// Name of the VM, which is that of the Node.
    pub(super) node: String,
    pub(super) provider_id: String,
    pub(super) node_pool: Option<String>,
    pub(super) created: Option<Timestamp>,
    pub(super) launched: Option<Timestamp>,
    pub(super) registered: Option<Timestamp>,
    pub(super) initialized: Option<Timestamp>,
    /// The whole object, if it is wanted.
    pub(super) object: Option<Value>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct NodeFacts {
    pub(super) name: String,
    pub(super) provider_id: String,
    pub(super) agent_pool: Option<String>,
    pub(super) object: Option<Value>,
}

#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) claims: Vec<ClaimFacts>,
    pub(super) nodes: Vec<NodeFacts>,
    /// Why NodeClaims or Nodes were not read.
    pub(super) no_claims: Option<String>,
    pub(super) no_nodes: Option<String>,
    /// Why one of the two lists failed.
    pub(super) failed: Option<String>,
    /// The node resource group, by the nodes.
    pub(super) scope: Option<Scope>,
}

/// The name of the command line: of a node, a pool, or an instance of a pool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) name: &'a str,
    /// Pool and instance.
    pub(super) instance: Option<(&'a str, &'a str)>,
}

impl<'a> Wanted<'a> {
    pub(super) fn new(name: &'a str) -> Self {
        Self { name, instance: name.split_once('/') }
    }

    fn claim(&self, claim: &ClaimFacts) -> bool {
        claim.name == self.name
            || claim.node.eq_ignore_ascii_case(self.name)
            || claim.node_pool.as_deref() == Some(self.name)
    }

    fn node(&self, node: &NodeFacts) -> bool {
        let is_instance = |(pool, instance): (&str, &str)| {
            let last = node.provider_id.rsplit('/').next().unwrap_or_default();
            node.agent_pool.as_deref() == Some(pool) && (last == instance || node.name == instance)
        };
        node.name == self.name
            || node.agent_pool.as_deref() == Some(self.name)
            || self.instance.is_some_and(is_instance)
    }
}

impl Objects {
    pub(super) async fn read(api: &Api, wanted: Wanted<'_>) -> Self {
        let mut objects = Self::default();
        let condition_type = Settings::default().condition_type;
        let mut interner = Interner::default();
        let mut claim_items: Vec<ClaimItem> = Vec::new();
        let mut node_items: Vec<NodeItem> = Vec::new();
        let claims = list(api, CLAIMS, |raw: &RawValue| {
            claim_items.extend(ClaimItem::parse(raw, &condition_type, &mut interner));
            let object: Value = serde_json::from_str(raw.get()).ok()?;
            let mut claim = ClaimFacts::of(&object);
            claim.object =
                wanted.claim(&claim).then(|| typed(object, "karpenter.sh/v1", "NodeClaim"));
            Some(claim)
        });
        match claims.await {
            Ok(claims) => {
                objects.no_claims =
                    claims.is_none().then(|| "Karpenter is not installed".to_owned());
                objects.claims = claims.unwrap_or_default();
            }
            Err(error) => objects.no_claims = Some(objects.fail(&error)),
        }
        let of_claims: Vec<String> = objects
            .claims
            .iter()
            .filter(|claim| claim.object.is_some())
            .map(|claim| claim.node.clone())
            .collect();
        let nodes = list(api, NODES, |raw: &RawValue| {
            node_items.extend(NodeItem::parse(raw));
            let object: Value = serde_json::from_str(raw.get()).ok()?;
            let mut node = NodeFacts::of(&object);
            let is_wanted = wanted.node(&node) || of_claims.contains(&node.name);
            node.object = is_wanted.then(|| typed(object, "v1", "Node"));
            Some(node)
        });
        match nodes.await {
            Ok(nodes) => objects.nodes = nodes.unwrap_or_default(),
            Err(error) => objects.no_nodes = Some(objects.fail(&error)),
        }
        objects.scope = find_scope(&claim_items, &node_items);
        objects
    }

    fn fail(&mut self, error: &ApiError) -> String {
        let why = reason::of_cluster(error);
        self.failed = Some(why.clone());
        why
    }
}

/// Adds the type, which items of a list do not have.
pub(super) fn typed(mut object: Value, version: &str, kind: &str) -> Value {
    object["apiVersion"] = version.into();
    object["kind"] = kind.into();
    object
}

impl ClaimFacts {
    fn of(object: &Value) -> Self {
        let text = |pointer: &str| {
            let value = object.pointer(pointer).and_then(Value::as_str);
            value.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let conditions = object["status"]["conditions"].as_array();
        let since = |kind: &str| -> Option<Timestamp> {
            let is_it = |one: &&Value| one["type"] == kind && one["status"] == "True";
            conditions?.iter().find(is_it)?["lastTransitionTime"].as_str()?.parse().ok()
        };
        let name = text("/metadata/name").unwrap_or_default();
        let provider_id = text("/status/providerID").unwrap_or_default();
        let vm = provider_id.rsplit('/').next().filter(|vm| !vm.is_empty()).map(str::to_owned);
        Self {
            node: text("/status/nodeName").or(vm).unwrap_or_else(|| format!("aks-{name}")),
            node_pool: text("/metadata/labels/karpenter.sh~1nodepool"),
            created: text("/metadata/creationTimestamp").and_then(|at| at.parse().ok()),
            launched: since("Launched"),
            registered: since("Registered"),
            initialized: since("Initialized"),
            object: None,
            name,
            provider_id,
        }
    }
}

impl NodeFacts {
    fn of(object: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let labels = &object["metadata"]["labels"];
        let pool = labels["kubernetes.azure.com/agentpool"].as_str().map(str::to_owned);
        Self {
            name: text(&object["metadata"]["name"]),
            provider_id: text(&object["spec"]["providerID"]),
            agent_pool: pool.filter(|_| labels["karpenter.sh/nodepool"].is_null()),
            object: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn claim_has_times_of_true_conditions_and_the_name_of_its_vm() {
        let condition = |kind: &str, status: &str, time: &str| json!({"type": kind, "status": status, "lastTransitionTime": time});
        let mut object = json!({
            "metadata": {"name": "c", "creationTimestamp": "2026-11-17T09:00:00Z"},
            "status": {"providerID": "azure:///x/virtualMachines/vm-1", "conditions": [
                condition("Registered", "False", "2026-11-17T09:01:00Z"),
                condition("Launched", "True", "2026-11-17T09:02:00Z"),
                condition("Initialized", "True", "2026-11-17T09:03:00Z"),
            ]},
        });
        let claim = ClaimFacts::of(&object);
        let at = |text: &str| text.parse::<Timestamp>().ok();
        assert_eq!((claim.node.as_str(), claim.node_pool), ("vm-1", None));
        assert_eq!(claim.created, at("2026-11-17T09:00:00Z"));
        let times = (claim.launched, claim.registered, claim.initialized);
        assert_eq!(times, (at("2026-11-17T09:02:00Z"), None, at("2026-11-17T09:03:00Z")));
        object["status"]["nodeName"] = "n".into();
        assert_eq!(ClaimFacts::of(&object).node, "n");
        object["status"] = json!({"nodeName": "", "providerID": ""});
        assert_eq!(ClaimFacts::of(&object).node, "aks-c");
    }

    #[test]
    fn every_name_of_a_node_finds_it() {
        let claim = ClaimFacts::of(&json!({
            "metadata": {"name": "default-1", "labels": {"karpenter.sh/nodepool": "default"}},
            "status": {"providerID": "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/aks-default-1"},
        }));
        for name in ["default-1", "aks-default-1", "AKS-default-1", "default"] {
            assert!(Wanted::new(name).claim(&claim), "{name}");
        }
        assert!(!Wanted::new("default-2").claim(&claim));
        let node = NodeFacts::of(&json!({
            "metadata": {"name": "aks-system-1-vmss000003", "labels": {"kubernetes.azure.com/agentpool": "system"}},
            "spec": {"providerID": "azure:///x/virtualMachineScaleSets/aks-system-1-vmss/virtualMachines/3"},
        }));
        for name in
            ["aks-system-1-vmss000003", "system/3", "system/aks-system-1-vmss000003", "system"]
        {
            assert!(Wanted::new(name).node(&node), "{name}");
        }
        assert!(!Wanted::new("system/4").node(&node) && !Wanted::new("user/3").node(&node));
    }
}
