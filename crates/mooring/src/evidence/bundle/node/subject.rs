//! The nodes that a name refers to.

use mooring_arm::ResourceId;
use mooring_nodes::record::FailureRecord;
use serde_json::Value;

use super::names::{file_name, is_name};
use super::objects::{ClaimFacts, NodeFacts};
use super::source::{Azure, Sources};

/// Tag of a scale set with the name of its pool.
const POOL_TAG: &str = "aks-managed-poolName";

/// A node, in the cluster, only in Azure, or only in the failure record.
#[derive(Debug, Default)]
pub(super) struct BundledNode {
    pub(super) node: String,
    pub(super) claim_name: Option<String>,
    pub(super) claim: Option<Value>,
    pub(super) object: Option<Value>,
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
        let objects = &sources.objects;
        let mut found: Vec<Self> = Vec::new();
        let claims = objects.claims.iter().filter(|claim| claim.object.is_some());
        found.extend(claims.map(|claim| Self::of_claim(sources, claim)));
        for node in objects.nodes.iter().filter(|node| node.object.is_some()) {
            if let Some(one) = found.iter_mut().find(|one| one.node == node.name) {
                one.add_node(sources, node);
            } else {
                let mut one = Self { node: node.name.clone(), ..Self::default() };
                one.add_node(sources, node);
                found.push(one);
            }
        }
        for entry in sources.entries() {
            let name = sources.wanted.name;
            let same = |one: &&mut Self| {
                one.claim_name.as_deref() == Some(&entry.node_claim) || one.node == entry.node
            };
            let is_named = entry.node_claim == name || entry.node == name || entry.pool == name;
            match found.iter_mut().find(same) {
                Some(one) => one.entries.push(entry.clone()),
                None if is_named => found.push(Self::recorded(sources, entry)),
                None => {}
            }
        }
        if found.is_empty()
            && let Ok(azure) = &sources.azure
        {
            // A failure is kept.
            found.extend(azure.read(Self::in_azure(azure, sources)).await.ok().flatten());
        }
        found.sort_by_key(|one| one.object.is_some());
        found
    }

    pub(super) fn path(&self, file: &str) -> String {
        format!("{}/{file}", file_name(&self.node))
    }

    /// Returns true if the cluster has the node and does not delete it.
    pub(super) fn exists(&self) -> bool {
        let objects = [&self.claim, &self.object];
        let is_kept = |object: &Value| object["metadata"]["deletionTimestamp"].is_null();
        objects.into_iter().flatten().next().is_some() && objects.into_iter().flatten().all(is_kept)
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

    fn of_claim(sources: &Sources<'_>, claim: &ClaimFacts) -> Self {
        let object = claim.object.clone().unwrap_or_default();
        let class = object["spec"]["nodeClassRef"]["name"].as_str().map(str::to_owned);
        let mut subject = Self {
            node: claim.node.clone(),
            claim_name: Some(claim.name.clone()),
            claim: Some(object),
            node_pool: claim.node_pool.clone(),
            node_class: class,
            ..Self::default()
        };
        subject.set_vm(sources, &claim.provider_id);
        subject
    }

    fn add_node(&mut self, sources: &Sources<'_>, node: &NodeFacts) {
        self.object.clone_from(&node.object);
        self.agent_pool.clone_from(&node.agent_pool);
        if self.vm.is_none() {
            self.set_vm(sources, &node.provider_id);
        }
    }

    fn recorded(sources: &Sources<'_>, entry: &FailureRecord) -> Self {
        let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let azure = sources.azure.as_ref().ok();
        let name = Some(&entry.node).filter(|name| is_name(name));
        let vm = azure.zip(name).and_then(|(azure, name)| azure.vm_id(name));
        Self {
            node: entry.node.clone(),
            claim_name: some(&entry.node_claim),
            node_pool: some(&entry.pool),
            node_class: some(&entry.node_class),
            vm: vm.map(Ok),
            entries: vec![entry.clone()],
            ..Self::default()
        }
    }

    fn set_vm(&mut self, sources: &Sources<'_>, provider_id: &str) {
        if provider_id.is_empty() {
            self.vm = Some(Err("it has no providerID: no VM was launched".to_owned()));
        } else if let Ok(azure) = &sources.azure {
            self.vm = Some(azure.own_vm(provider_id));
        }
    }

    /// Finds a VM that has neither a NodeClaim nor a Node, or an instance of a pool.
    async fn in_azure(azure: &Azure, sources: &Sources<'_>) -> Option<Self> {
        let name = sources.wanted.name;
        if let Some((pool, instance)) = sources.wanted.instance {
            return Self::instance(azure, pool, instance).await;
        }
        let id = azure.vm_id(name).filter(|_| is_name(name))?;
        azure.arm.vm(&id).await.map_err(|error| azure.reason(&error)).ok()?;
        Some(Self { node: name.to_owned(), vm: Some(Ok(id)), ..Self::default() })
    }

    async fn instance(azure: &Azure, pool: &str, instance: &str) -> Option<Self> {
        let scope = &azure.scope;
        let sets = azure.arm.scale_sets(&scope.subscription, &scope.node_resource_group).await;
        let sets = sets.map_err(|error| azure.reason(&error)).ok()?.into_iter();
        for set in sets.filter(|set| set.tags.get(POOL_TAG).is_some_and(|name| name == pool)) {
            let Some(id) = &set.id else { continue };
            let vms = azure.arm.scale_set_vms(id).await;
            for vm in vms.map_err(|error| azure.reason(&error)).ok()? {
                let profile = vm.properties.os_profile.as_ref();
                let host = profile.and_then(|profile| profile.computer_name.clone());
                let host = host.unwrap_or_else(|| vm.name.clone());
                if vm.instance_id.as_deref() == Some(instance) || host == instance {
                    return Some(Self {
                        node: host,
                        agent_pool: Some(pool.to_owned()),
                        vm: vm.id.clone().map(Ok),
                        ..Self::default()
                    });
                }
            }
        }
        None
    }
}
