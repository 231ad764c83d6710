//! Clients of Azure and Kubernetes, from flags and environment variables.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use mooring_arm::identity::{Credential, Settings as Identity};
use mooring_arm::{Budget, Client, Cloud, Limits, Real, ResourceId, Settings};
use mooring_controller::Scope;
use mooring_inventory::{ClaimItem, NodeItem};
use mooring_kube::kubeconfig::Connection;

use crate::cli::cluster_args::{ClusterArguments, ClusterName};
use crate::cli::suggest;
use crate::cluster::NamedCluster;
use crate::cluster::config::ContextEntry;
use crate::output::failure::Failure;

/// Returns the flag, or the first variable that is set.
fn flag_or_env(flag: Option<&String>, names: &[&str]) -> Option<String> {
    let value = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    flag.cloned().or_else(|| names.iter().find_map(value))
}

/// Returns a client of Azure for `endpoint`, or for that of the environment.
pub(crate) fn azure_client(endpoint: Option<&String>, limits: Limits) -> Result<Client, Failure> {
    let environment = Settings::from_env();
    let endpoint = endpoint.cloned().or(environment.endpoint);
    let cloud = Cloud::new(Settings { endpoint, ..environment })
        .map_err(|error| Failure::usage(error.to_string()))?;
    let world =
        Real::new(&cloud, &Identity::from_env()).map_err(|error| Failure::io(error.to_string()))?;
    Ok(Client::new(cloud, Arc::new(world), Budget::new(limits)))
}

/// Returns the ways to sign in to Azure that are tried.
pub(crate) fn credentials() -> String {
    let ways: Vec<String> = match Identity::from_env().choose() {
        Ok(ways) => ways.iter().map(ToString::to_string).collect(),
        Err(_) => Vec::new(),
    };
    ways.join(", then ")
}

/// Signs in to Azure. Returns the credential that succeeded; the error names each that was tried.
pub(crate) async fn sign_in(arm: &Client) -> Result<Option<Credential>, Failure> {
    let token = arm.token(&arm.cloud().scope()).await;
    token.map(|token| token.credential).map_err(|error| {
        Failure::io(format!("not signed in: {error}\nhint: `az login` signs in; AZURE_TOKEN_CREDENTIALS selects one way"))
    })
}

/// Connects as kubectl does, with a kubeconfig and a context, or by the default rules.
pub(crate) async fn connect_kube(
    kubeconfig: Option<&Path>,
    context: Option<&String>,
) -> Result<Connection, Failure> {
    let context = flag_or_env(context, &["MOORING_CONTEXT"]);
    if let Some(context) = &context {
        ensure_context(kubeconfig, context)?;
    }
    let connected = mooring_kube::kubeconfig::connect(kubeconfig, context.as_deref()).await;
    connected.map_err(|error| {
        if error.contains("\nhint: ") {
            return Failure::io(format!("cannot connect to the Kubernetes API: {error}"));
        }
        Failure::io(format!(
            "cannot connect to the Kubernetes API: {error}\nhint: set `--context NAME`, `--kubeconfig FILE` or KUBECONFIG; `az aks get-credentials` writes a kubeconfig"
        ))
    })
}

/// Ensures that a context exists; a typo is a usage error with suggestions.
fn ensure_context(kubeconfig: Option<&Path>, context: &str) -> Result<(), Failure> {
    let known = mooring_kube::kubeconfig::contexts(kubeconfig);
    if known.is_empty() || known.iter().any(|name| name == context) {
        return Ok(());
    }
    let names = known.iter().map(String::as_str);
    let hint = suggest::hint(context, names, "mooring status --context")
        .unwrap_or_else(|| "hint: `kubectl config get-contexts` lists them".to_owned());
    let context = mooring_redact::identifier(context);
    Err(Failure::unknown_name(format!(
        "context `{context}` not found; contexts: {}\n{hint}",
        known.join(", ")
    )))
}

pub(crate) async fn connect_cluster(arguments: &ClusterArguments) -> Result<Connection, Failure> {
    connect_kube(arguments.kubeconfig.as_deref(), arguments.context.as_ref()).await
}

/// Returns the namespace of the flag, the variable or the configuration of the context.
pub(crate) fn named_namespace(
    arguments: &ClusterArguments,
    entry: Option<&ContextEntry>,
) -> Option<String> {
    let named = flag_or_env(arguments.namespace.as_ref(), &["MOORING_NAMESPACE"]);
    named.or_else(|| entry.and_then(|entry| entry.namespace.clone()))
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

/// Returns the cluster that flags, variables or the configuration of the context name, in this order.
pub(crate) fn named_cluster(name: &ClusterName, entry: Option<&ContextEntry>) -> NamedCluster {
    let cluster = flag_or_env(name.cluster.as_ref(), &["MOORING_CLUSTER", "CLUSTER_NAME"]);
    let groups = ["MOORING_RESOURCE_GROUP", "RESOURCE_GROUP"];
    let named = NamedCluster {
        subscription: subscription(name),
        resource_group: flag_or_env(name.resource_group.as_ref(), &groups),
        cluster: cluster.clone(),
    };
    let of_entry = entry.filter(|_| cluster.is_none());
    let id = cluster.and_then(|cluster| ResourceId::parse(&cluster).ok());
    match id.or_else(|| of_entry.and_then(ContextEntry::cluster_id)) {
        Some(id) => NamedCluster {
            subscription: Some(id.subscription().to_owned()),
            resource_group: id.resource_group().map(str::to_owned),
            cluster: Some(id.name().to_owned()),
        },
        None => NamedCluster {
            cluster: named
                .cluster
                .clone()
                .or_else(|| of_entry.and_then(ContextEntry::cluster_name)),
            ..named
        },
    }
}

fn subscription(name: &ClusterName) -> Option<String> {
    let variables = ["MOORING_SUBSCRIPTION", "SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"];
    flag_or_env(name.subscription.as_ref(), &variables)
}

/// Returns the part of Azure that may be read. The node resource group is read from the cluster unless it is given.
pub(crate) async fn read_scope(
    arm: &Client,
    arguments: &ClusterArguments,
) -> Result<Scope, Failure> {
    let name = &arguments.name;
    let NamedCluster { subscription, resource_group: group, cluster } = named_cluster(name, None);
    // The variable may belong to another cluster than the flags.
    let is_named = name.resource_group.is_some() || name.cluster.is_some();
    let variables: &[&str] = if is_named { &[] } else { &["AZURE_NODE_RESOURCE_GROUP"] };
    let nodes = flag_or_env(arguments.node_resource_group.as_ref(), variables);
    let unknown = || {
        Failure::usage(
            "no cluster specified: the node resource group is unknown\nhint: set --subscription, --resource-group and --cluster (or SUBSCRIPTION_ID, RESOURCE_GROUP and CLUSTER_NAME), or --subscription and --node-resource-group".to_owned(),
        )
    };
    let subscription = subscription.ok_or_else(unknown)?;
    let cluster = match (group, cluster) {
        (Some(group), Some(cluster)) => Some(
            ResourceId::cluster(&subscription, &group, &cluster)
                .map_err(|error| Failure::usage(error.to_string()))?,
        ),
        _ => None,
    };
    let node_resource_group = match (nodes, &cluster) {
        (Some(nodes), _) => nodes,
        (None, Some(id)) => {
            let cluster = arm.cluster(id).await.map_err(|error| Failure::azure(&error))?;
            cluster.properties.node_resource_group.clone().ok_or_else(unknown)?
        }
        (None, None) => return Err(unknown()),
    };
    let cluster = cluster.map(|id| id.as_str().to_owned());
    Ok(Scope { subscription, node_resource_group, cluster })
}

#[cfg(test)]
mod tests {
    use mooring_controller::Claim;
    use mooring_controller::claim::vm_id::VmId;
    use serde_json::value::RawValue;

    use super::*;
    use crate::fixtures::now;

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
        ClaimItem { claim, launch_error: None, is_initialized: false }
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

    #[test]
    fn flags_name_a_cluster_before_the_context() {
        let id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/prod";
        let some = |text: &str| Some(text.to_owned());
        let entry = |cluster: &str| ContextEntry { cluster: some(cluster), ..Default::default() };
        let flags = |cluster: Option<&str>| ClusterName {
            subscription: some("s1"),
            resource_group: some("g1"),
            cluster: cluster.map(str::to_owned),
        };
        let named = |subscription, group, cluster| NamedCluster {
            subscription: some(subscription),
            resource_group: some(group),
            cluster: some(cluster),
        };
        for (flags, entry, expected) in [
            (flags(Some("own")), entry("other"), named("s1", "g1", "own")),
            (flags(Some("own")), entry(id), named("s1", "g1", "own")),
            (flags(Some(id)), entry("other"), named("s", "g", "prod")),
            (flags(None), entry("other"), named("s1", "g1", "other")),
            (flags(None), entry(id), named("s", "g", "prod")),
        ] {
            assert_eq!(named_cluster(&flags, Some(&entry)), expected);
        }
    }
}
