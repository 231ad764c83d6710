//! The AKS cluster of a context: found from its nodes, compared with what flags and variables name.

use std::collections::BTreeMap;

use mooring_arm::calls::Cluster;
use mooring_arm::{Client, Error, ResourceId};
use mooring_controller::run::Api;
use mooring_nodes::Scope;
use mooring_nodes::{ClaimItem, NodeItem};
use serde::Deserialize;
use serde_json::Value;

use super::list::list;
use crate::output::failure::CommandFailure;

/// A cluster in Azure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundCluster {
    pub(crate) id: ResourceId,
    /// Host names of its API server.
    pub(crate) hosts: Vec<String>,
}

impl FoundCluster {
    /// Returns true if the API server is one of this cluster.
    pub(crate) fn has_server(&self, server: &str) -> bool {
        let host = server.split_once("://").map_or(server, |(_, rest)| rest);
        let host = host.split([':', '/']).next().unwrap_or_default();
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: String,
    fqdn: Option<String>,
    private_fqdn: Option<String>,
}

/// Finds the cluster of a node resource group: by Resource Graph, else by the group's `managedBy`.
pub(crate) async fn find_cluster(
    arm: &Client,
    scope: &Scope,
) -> Result<Option<FoundCluster>, Error> {
    let group = &scope.node_resource_group;
    let is_plain = |c: char| c.is_alphanumeric() || "-_.()".contains(c);
    if !group.chars().all(is_plain) {
        return Ok(None);
    }
    let query = format!(
        "resources | where type =~ 'microsoft.containerservice/managedclusters' and properties.nodeResourceGroup =~ '{group}' | project id, fqdn=properties.fqdn, privateFqdn=properties.privateFQDN"
    );
    let rows = arm.graph::<Row>(&[&scope.subscription], &query).await.unwrap_or_default();
    if let Some(row) = rows.first()
        && let Ok(id) = ResourceId::parse(&row.id)
    {
        let hosts = [row.fqdn.clone(), row.private_fqdn.clone()].into_iter().flatten().collect();
        return Ok(Some(FoundCluster { id, hosts }));
    }
    let Some(id) = arm.managed_by(&scope.subscription, group).await? else { return Ok(None) };
    let Cluster { properties, .. } = arm.cluster(&id).await?;
    let hosts = [properties.fqdn, properties.private_fqdn].into_iter().flatten().collect();
    Ok(Some(FoundCluster { id, hosts }))
}

/// A cluster as flags and variables name it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct NamedCluster {
    pub(crate) subscription: Option<String>,
    pub(crate) resource_group: Option<String>,
    pub(crate) cluster: Option<String>,
    pub(crate) node_resource_group: Option<String>,
}

impl NamedCluster {
    /// Returns the resource id, if all parts are named.
    pub(crate) fn id(&self) -> Option<ResourceId> {
        let (subscription, group) = (self.subscription.as_ref()?, self.resource_group.as_ref()?);
        ResourceId::cluster(subscription, group, self.cluster.as_ref()?).ok()
    }

    /// Returns true if a part names another cluster than this one.
    pub(crate) fn differs(&self, id: &ResourceId) -> bool {
        let other = |named: &Option<String>, own: &str| {
            named.as_ref().is_some_and(|named| !named.eq_ignore_ascii_case(own))
        };
        other(&self.subscription, id.subscription())
            || other(&self.resource_group, id.resource_group().unwrap_or_default())
            || other(&self.cluster, id.name())
    }
}

/// The cluster as its API server shows it.
pub(crate) struct NodesCluster {
    /// Subscription and resource group of the nodes.
    pub(crate) scope: Option<Scope>,
    /// Uid of the namespace `kube-system`.
    pub(crate) uid: Option<String>,
}

impl NodesCluster {
    /// Reads nodes and the namespace `kube-system`.
    pub(crate) async fn read(api: &Api) -> Result<Self, CommandFailure> {
        let nodes = list(api, "/api/v1/nodes", NodeItem::parse);
        let system = api.get("/api/v1/namespaces/kube-system");
        let (nodes, system) = tokio::join!(nodes, system);
        let nodes =
            nodes.map_err(|error| CommandFailure::io(format!("cannot read nodes: {error}")))?;
        let system: Option<Value> = system.ok().and_then(|text| serde_json::from_str(&text).ok());
        let uid = system.as_ref().and_then(|system| system["metadata"]["uid"].as_str());
        Ok(Self { scope: find_scope(&[], &nodes.unwrap_or_default()), uid: uid.map(str::to_owned) })
    }

    /// Describes how flags and variables name another cluster than that of the nodes.
    pub(crate) fn conflict(&self, named: &NamedCluster) -> Option<String> {
        if let Some(id) = self.id().filter(|id| named.differs(id)) {
            return Some(conflict(named, &id));
        }
        let own = &self.scope.as_ref()?.node_resource_group;
        let group = named.node_resource_group.as_ref()?;
        (!group.eq_ignore_ascii_case(own)).then(|| {
            format!(
                "flags or variables name node resource group {group}, and the nodes are in {own}"
            )
        })
    }

    /// Returns the cluster that the name of the node resource group shows.
    pub(crate) fn id(&self) -> Option<ResourceId> {
        by_group_name(self.scope.as_ref()?)
    }
}

/// Returns the subscription and the node resource group of most nodes. A single node may name another one.
pub(crate) fn find_scope(claims: &[ClaimItem], nodes: &[NodeItem]) -> Option<Scope> {
    let mut counts: BTreeMap<(String, String), (usize, Scope)> = BTreeMap::new();
    let mut add = |subscription: &str, group: &str| {
        let key = (subscription.to_ascii_lowercase(), group.to_ascii_lowercase());
        let scope = || Scope {
            subscription: subscription.to_owned(),
            node_resource_group: group.to_owned(),
            cluster: None,
        };
        counts.entry(key).or_insert_with(|| (0, scope())).0 += 1;
    };
    let mut any = false;
    for node in nodes {
        let id = node.provider_id.strip_prefix("azure://").unwrap_or(&node.provider_id);
        if let Ok(id) = ResourceId::parse(id)
            && let Some(group) = id.resource_group()
        {
            any = true;
            add(id.subscription(), group);
        }
    }
    if !any {
        for vm in claims.iter().filter_map(|item| item.claim.vm.as_ref()) {
            add(&vm.subscription, &vm.group);
        }
    }
    counts.into_values().max_by_key(|(count, _)| *count).map(|(_, scope)| scope)
}

/// Returns the cluster of a node resource group `MC_GROUP_CLUSTER_REGION`, the name that AKS gives it.
pub(crate) fn by_group_name(scope: &Scope) -> Option<ResourceId> {
    let parts: Vec<&str> = scope.node_resource_group.split('_').collect();
    match parts.as_slice() {
        [first, group, name, _] if first.eq_ignore_ascii_case("mc") => {
            ResourceId::cluster(&scope.subscription, group, name).ok()
        }
        _ => None,
    }
}

/// Returns the warning about two clusters.
pub(crate) fn conflict(named: &NamedCluster, nodes: &ResourceId) -> String {
    let part = |named: &Option<String>| named.clone().unwrap_or_else(|| "…".to_owned());
    format!(
        "flags or variables name cluster {} in resource group {} of subscription {}, and the nodes belong to {nodes}",
        part(&named.cluster),
        part(&named.resource_group),
        part(&named.subscription)
    )
}

/// Returns the warning about a conflict of a command that reads, which uses the cluster of the kubeconfig.
pub(crate) fn about_the_nodes(conflict: &str) -> String {
    format!("{conflict}; this is about the cluster of the nodes")
}

#[cfg(test)]
mod tests {
    use mooring_nodes::Claim;
    use mooring_nodes::claim::vm_id::VmId;
    use serde_json::value::RawValue;

    use super::*;
    use crate::fixtures::now;

    fn named(subscription: &str, group: &str, cluster: &str) -> NamedCluster {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        NamedCluster {
            subscription: some(subscription),
            resource_group: some(group),
            cluster: some(cluster),
            node_resource_group: None,
        }
    }

    #[test]
    fn each_part_of_a_name_is_compared() {
        let scope = |group: &str| Scope {
            subscription: "S1".to_owned(),
            node_resource_group: group.to_owned(),
            cluster: None,
        };
        let id = by_group_name(&scope("MC_rg_prod_westeurope")).unwrap();
        assert_eq!((id.subscription(), id.name()), ("S1", "prod"));
        assert_eq!(by_group_name(&scope("own-name")), None);
        assert_eq!(by_group_name(&scope("XY_rg_prod_westeurope")), None);
        let nodes = NodesCluster { scope: Some(scope("mc_rg_prod_westeurope")), uid: None };
        assert_eq!(nodes.id(), Some(id.clone()));
        assert_eq!(named("S1", "rg", "prod").id(), Some(id.clone()));
        assert_eq!(named("S1", "", "prod").id(), None);
        assert_eq!(by_group_name(&scope("MC_rg_x_prod_westeurope")), None, "ambiguous");
        for same in [named("s1", "RG", "Prod"), named("", "", "prod"), named("", "", "")] {
            assert!(!same.differs(&id), "{same:?}");
        }
        for other in [named("s2", "", ""), named("", "rg2", "prod"), named("s1", "rg", "test")] {
            assert!(other.differs(&id), "{other:?}");
        }
    }

    #[test]
    fn named_node_resource_group_is_compared() {
        let nodes =
            |group: &str| NodesCluster { scope: find_scope(&[], &[in_group(group)]), uid: None };
        let named = |group: &str| NamedCluster {
            node_resource_group: Some(group.to_owned()),
            ..NamedCluster::default()
        };
        let own = nodes("MC_rg_prod_weu");
        assert_eq!(own.conflict(&named("mc_rg_prod_weu")), None);
        assert_eq!(own.conflict(&NamedCluster::default()), None);
        let text = "flags or variables name node resource group mc_other, and the nodes are in own";
        assert_eq!(nodes("own").conflict(&named("mc_other")).as_deref(), Some(text));
        let other = NamedCluster { cluster: Some("test".to_owned()), ..named("MC_rg_prod_weu") };
        assert!(own.conflict(&other).unwrap().contains("name cluster test in"));
    }

    #[test]
    fn server_is_compared_by_its_host() {
        let id = ResourceId::cluster("s", "g", "prod").unwrap();
        let found = FoundCluster { id, hosts: vec!["prod-1.hcp.westeurope.azmk8s.io".to_owned()] };
        assert!(found.has_server("https://PROD-1.hcp.westeurope.azmk8s.io:443"));
        assert!(!found.has_server("https://test-1.hcp.westeurope.azmk8s.io:443"));
        assert!(!found.has_server(""));
    }

    fn node(provider_id: &str) -> NodeItem {
        let json = serde_json::json!({"spec": {"providerID": provider_id}}).to_string();
        NodeItem::parse(&RawValue::from_string(json).unwrap()).unwrap()
    }

    fn in_group(group: &str) -> NodeItem {
        let vm = "providers/Microsoft.Compute/virtualMachines/vm";
        node(&format!("azure:///subscriptions/s/resourceGroups/{group}/{vm}"))
    }

    fn claim(group: &str) -> ClaimItem {
        let vm = VmId { subscription: "s".into(), group: group.into(), name: "vm".into() };
        let claim = Claim::placeholder(&"u".into(), "c", Some(vm), None, now());
        ClaimItem { claim: claim.into(), launch_error: None, initialized: None }
    }

    #[test]
    fn scope_is_that_of_most_nodes_then_of_claims() {
        let group = |claims: &[ClaimItem], nodes: &[NodeItem]| {
            find_scope(claims, nodes).map(|scope| scope.node_resource_group)
        };
        let nodes = [in_group("b"), in_group("MC_a"), in_group("mc_A"), node("x"), node("")];
        assert_eq!(group(&[], &nodes).as_deref(), Some("MC_a"));
        let claims = [claim("d"), claim("c"), claim("C")];
        assert_eq!(group(&claims, &[]).as_deref(), Some("c"));
        assert_eq!(group(&claims, &nodes[..1]).as_deref(), Some("b"), "nodes are enough");
        assert_eq!(group(&[], &[node("x")]), None);
    }
}
