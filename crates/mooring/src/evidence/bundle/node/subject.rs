//! The nodes that a name refers to.

use mooring_arm::ResourceId;
use mooring_arm::calls::{ScaleSet, Vm};
use mooring_nodes::record::FailureRecord;
use mooring_nodes::{Node, PoolKind};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::files::{file_name, is_name};
use super::source::{Azure, Sources};

/// Tag of a scale set with the name of its pool.
const POOL_TAG: &str = "aks-managed-poolName";
const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";
const NODES: &str = "/api/v1/nodes";
const NO_CLAIM: &str = "no NodeClaim has this VM";
const NO_NODE: &str = "no Node registered";
const OF_AGENT_POOL: &str = "the node belongs to an agent pool";

/// A node, in the cluster, only in Azure, or only in the failure record.
#[derive(Debug)]
pub(super) struct BundledNode {
    pub(super) node: String,
    pub(super) claim_name: Option<String>,
    /// The NodeClaim, or why there is none.
    pub(super) claim: Result<Value, String>,
    /// The Node, or why there is none.
    pub(super) object: Result<Value, String>,
    pub(super) node_pool: Option<String>,
    pub(super) agent_pool: Option<String>,
    pub(super) node_class: Option<String>,
    /// The VM, or why it is unknown.
    pub(super) vm: Option<Result<ResourceId, String>>,
    pub(super) entries: Vec<FailureRecord>,
}

impl BundledNode {
    /// Finds nodes by claim, node, VM, pool or instance; those that failed come first.
    pub(super) async fn find_all(sources: &Sources<'_>) -> Vec<Self> {
        let name = sources.name;
        let is_wanted = |node: &&Node| {
            let is_node = |own: &String| own.eq_ignore_ascii_case(name);
            // What Azure alone shows is read below, with its id.
            let is_of_cluster = node.node_claim.is_some() || node.created_at.is_some();
            is_of_cluster
                && (node.is_named(name)
                    || node.node.as_ref().is_some_and(is_node)
                    || node.pool.as_deref() == Some(name))
        };
        let nodes = sources.facts().into_iter().flat_map(|facts| &facts.inventory.nodes);
        let mut wanted: Vec<&Node> = nodes.filter(is_wanted).collect();
        wanted.sort_by_key(|node| (!node.exists, node.name()));
        let mut found: Vec<Self> = Vec::new();
        for node in wanted {
            // The record may have earlier failures of the same node.
            let is_same = |one: &Self| {
                one.claim_name == node.node_claim || node.node.as_ref() == Some(&one.node)
            };
            if !found.iter().any(is_same) {
                found.push(Self::of(sources, node).await);
            }
        }
        if found.is_empty()
            && let Ok(azure) = &sources.azure
        {
            // A failure is kept.
            found.extend(azure.read(Self::in_azure(azure, sources)).await.ok().flatten());
        }
        found.sort_by_key(|one| one.object.is_ok());
        found
    }

    pub(super) fn path(&self, file: &str) -> String {
        format!("{}/{file}", file_name(&self.node))
    }

    /// Returns true if the cluster has the node and does not delete it.
    pub(super) fn exists(&self) -> bool {
        let objects: Vec<&Value> = [&self.claim, &self.object].into_iter().flatten().collect();
        let is_kept = |object: &&Value| object["metadata"]["deletionTimestamp"].is_null();
        !objects.is_empty() && objects.iter().all(is_kept)
    }

    /// Returns the VM, or why it cannot be read.
    pub(super) fn find_vm<'a>(
        &'a self,
        sources: &'a Sources<'_>,
    ) -> Result<(&'a Azure, &'a ResourceId), String> {
        match (&sources.azure, &self.vm) {
            (Err(why), _) | (Ok(_), Some(Err(why))) => Err(why.clone()),
            (Ok(_), None) => Err("no VM is known".to_owned()),
            (Ok(azure), Some(Ok(id))) => Ok((azure, id)),
        }
    }

    /// Returns a node of the cluster with its objects, or of the record.
    async fn of(sources: &Sources<'_>, node: &Node) -> Self {
        let reads = sources.facts().map(|facts| &facts.inventory.reads);
        let missing = |why: &str, unread: Option<String>| {
            Err::<Value, _>(sources.missing(why, unread.as_ref()))
        };
        let no_claims = if sources.has_karpenter() {
            reads.ok().and_then(|reads| reads.claims.error())
        } else {
            Some("Karpenter is not installed".to_owned())
        };
        let claim = match &node.node_claim {
            Some(claim) if node.exists => sources.get(&format!("{CLAIMS}/{claim}")).await,
            Some(_) => missing("it was deleted", no_claims),
            None if node.pool_kind == PoolKind::AksPool => missing(OF_AGENT_POOL, no_claims),
            None => missing(NO_CLAIM, no_claims),
        };
        let object = match &node.node {
            Some(own) if node.node_created_at.is_some() => {
                sources.get(&format!("{NODES}/{own}")).await
            }
            _ => missing(NO_NODE, reads.ok().and_then(|reads| reads.nodes.error())),
        };
        let name = node.node.clone().unwrap_or_default();
        let azure = sources.azure.as_ref().ok();
        let vm = match (&node.vm_id, node.exists) {
            (Some(id), _) => azure.map(|azure| azure.own_vm(id)),
            (None, true) => Some(Err("it has no providerID: no VM was launched".to_owned())),
            (None, false) => {
                azure.filter(|_| is_name(&name)).and_then(|azure| azure.vm_id(&name)).map(Ok)
            }
        };
        let is_same = |entry: &&FailureRecord| {
            node.node_claim.as_ref() == Some(&entry.node_claim)
                || node.node.as_ref() == Some(&entry.node)
        };
        let pool = node.pool.as_deref().map(str::to_owned);
        let (node_pool, agent_pool) = match node.pool_kind {
            PoolKind::NodePool => (pool, None),
            PoolKind::AksPool => (None, pool),
        };
        Self {
            entries: sources.entries().filter(is_same).cloned().collect(),
            node: name,
            claim_name: node.node_claim.clone(),
            claim,
            object,
            node_pool,
            agent_pool,
            node_class: node.node_class.as_deref().map(str::to_owned),
            vm,
        }
    }

    /// Returns a VM that the cluster does not have.
    fn of_vm(
        sources: &Sources<'_>,
        node: String,
        pool: Option<&str>,
        vm: Option<ResourceId>,
    ) -> Self {
        let missing = |why| Err(sources.missing(why, None));
        Self {
            node,
            claim_name: None,
            claim: missing(if pool.is_some() { OF_AGENT_POOL } else { NO_CLAIM }),
            object: missing(NO_NODE),
            node_pool: None,
            agent_pool: pool.map(str::to_owned),
            node_class: None,
            vm: vm.map(Ok),
            entries: Vec::new(),
        }
    }

    /// Finds a VM that has neither a NodeClaim nor a Node, or an instance of a pool.
    async fn in_azure(azure: &Azure, sources: &Sources<'_>) -> Option<Self> {
        let name = sources.name;
        if let Some((pool, instance)) = name.split_once('/') {
            return Self::instance(azure, sources, pool, instance).await;
        }
        let id = azure.vm_id(name).filter(|_| is_name(name))?;
        azure.arm.vm::<IgnoredAny>(&id).await.map_err(|error| azure.reason(&error)).ok()?;
        Some(Self::of_vm(sources, name.to_owned(), None, Some(id)))
    }

    async fn instance(
        azure: &Azure,
        sources: &Sources<'_>,
        pool: &str,
        instance: &str,
    ) -> Option<Self> {
        let scope = &azure.scope;
        let sets =
            azure.arm.scale_sets::<ScaleSet>(&scope.subscription, &scope.node_resource_group).await;
        let sets = sets.map_err(|error| azure.reason(&error)).ok()?.into_iter();
        for set in sets.filter(|set| set.tags.get(POOL_TAG).is_some_and(|name| name == pool)) {
            let Some(id) = &set.id else { continue };
            let vms = azure.arm.scale_set_vms::<Vm>(id).await;
            for vm in vms.map_err(|error| azure.reason(&error)).ok()? {
                let profile = vm.properties.os_profile.as_ref();
                let host = profile.and_then(|profile| profile.computer_name.clone());
                let host = host.unwrap_or_else(|| vm.name.clone());
                if vm.instance_id.as_deref() == Some(instance) || host == instance {
                    return Some(Self::of_vm(sources, host, Some(pool), vm.id.clone()));
                }
            }
        }
        None
    }
}
