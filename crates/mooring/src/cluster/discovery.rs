//! The AKS cluster of a context: found from its nodes, compared with what flags and variables name.
//!
//! Nothing in it is secret. A file that cannot be read or written is ignored.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use data_encoding::HEXLOWER;
use jiff::{SignedDuration, Timestamp};
use mooring_arm::calls::Cluster;
use mooring_arm::{Client, Error, ResourceId};
use mooring_controller::run::Api;
use mooring_nodes::{Claim, NodeItem, Scope};
use mooring_workflow::published::ClusterIdentity;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cluster::config::user_directory;
use crate::cluster::follow::list;
use crate::output::failure::CommandFailure;
use crate::output::{outfile, show};

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
pub(crate) fn find_scope(claims: &[Arc<Claim>], nodes: &[NodeItem]) -> Option<Scope> {
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
        for vm in claims.iter().filter_map(|claim| claim.vm.as_ref()) {
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

const MAX_AGE: SignedDuration = SignedDuration::from_hours(24);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CachedCluster {
    found_at: Timestamp,
    subscription: String,
    node_resource_group: String,
    id: String,
    hosts: Vec<String>,
}

/// Finds the cluster of a node resource group, or returns what was found during the last day.
pub(crate) async fn find_known_cluster(
    arm: &Client,
    scope: &Scope,
    identity: &ClusterIdentity,
) -> Result<Option<FoundCluster>, Error> {
    let key = identity.server.as_deref().zip(identity.uid.as_deref());
    let path = key.and_then(|(server, uid)| path(server, uid));
    let text = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
    if let Some(found) = text.and_then(|text| parse(&text, scope, Timestamp::now())) {
        return Ok(Some(found));
    }
    let found = find_cluster(arm, scope).await?;
    if let (Some(path), Some(found)) = (path, &found) {
        let entry = CachedCluster {
            found_at: Timestamp::now(),
            subscription: scope.subscription.clone(),
            node_resource_group: scope.node_resource_group.clone(),
            id: found.id.as_str().to_owned(),
            hosts: found.hosts.clone(),
        };
        let _ = store(&path, &entry);
    }
    Ok(found)
}

/// Returns the cluster of an entry that is not too old, and is about the same nodes.
fn parse(text: &str, scope: &Scope, now: Timestamp) -> Option<FoundCluster> {
    let entry: CachedCluster = serde_json::from_str(text).ok()?;
    let age = now.duration_since(entry.found_at);
    let is_current = age >= SignedDuration::ZERO && age < MAX_AGE;
    if !is_current || !scope.contains_group(&entry.subscription, &entry.node_resource_group) {
        return None;
    }
    Some(FoundCluster { id: ResourceId::parse(&entry.id).ok()?, hosts: entry.hosts })
}

/// Returns the file of a cluster: `$XDG_CACHE_HOME/mooring` or `~/.cache/mooring`.
fn path(server: &str, uid: &str) -> Option<PathBuf> {
    let directory = user_directory("XDG_CACHE_HOME", ".cache")?;
    let key = ring::digest::digest(&ring::digest::SHA256, format!("{server}\n{uid}").as_bytes());
    let name = HEXLOWER.encode(&key.as_ref()[..16]);
    Some(directory.join(format!("cluster-{name}.json")))
}

fn store(path: &Path, entry: &CachedCluster) -> Result<(), CommandFailure> {
    std::fs::create_dir_all(path.parent().unwrap_or(path))?;
    outfile::write(path, show::json(entry)?.as_bytes())
}

#[cfg(test)]
mod tests {
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

    fn claim(group: &str) -> Arc<Claim> {
        let vm = VmId { subscription: "s".into(), group: group.into(), name: "vm".into() };
        Arc::new(Claim::placeholder(&"u".into(), "c", Some(vm), None, now()))
    }

    #[test]
    fn scope_is_that_of_most_nodes_then_of_claims() {
        let group = |claims: &[Arc<Claim>], nodes: &[NodeItem]| {
            find_scope(claims, nodes).map(|scope| scope.node_resource_group)
        };
        let nodes = [in_group("b"), in_group("MC_a"), in_group("mc_A"), node("x"), node("")];
        assert_eq!(group(&[], &nodes).as_deref(), Some("MC_a"));
        let claims = [claim("d"), claim("c"), claim("C")];
        assert_eq!(group(&claims, &[]).as_deref(), Some("c"));
        assert_eq!(group(&claims, &nodes[..1]).as_deref(), Some("b"), "nodes are enough");
        assert_eq!(group(&[], &[node("x")]), None);
    }

    #[test]
    fn entry_is_used_for_a_day_and_the_same_nodes_only() {
        let text = r#"{"foundAt":"2026-11-17T09:00:00Z","subscription":"S1","nodeResourceGroup":"MC_a","id":"/subscriptions/s1/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/prod","hosts":["h"]}"#;
        let found = |group: &str, now: &str| {
            let scope = Scope {
                subscription: "s1".to_owned(),
                node_resource_group: group.to_owned(),
                cluster: None,
            };
            let found = parse(text, &scope, now.parse().unwrap())?;
            Some(found.id.name().to_owned())
        };
        assert_eq!(found("mc_A", "2026-11-18T08:59:59Z").as_deref(), Some("prod"));
        assert_eq!(found("mc_A", "2026-11-18T09:00:00Z"), None, "too old");
        assert_eq!(found("mc_A", "2026-11-17T08:59:59Z"), None, "the clock was set back");
        assert_eq!(found("MC_b", "2026-11-17T09:01:00Z"), None, "other nodes");
    }

    #[test]
    fn clusters_have_separate_files() {
        let name = |server: &str, uid: &str| {
            path(server, uid).and_then(|path| path.file_name().map(ToOwned::to_owned))
        };
        assert_ne!(name("https://a", "1"), name("https://a", "2"));
        assert_ne!(name("https://a", "1"), name("https://b", "1"));
    }
}
