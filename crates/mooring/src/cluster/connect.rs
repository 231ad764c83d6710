//! Clients of Azure and Kubernetes, from flags and environment variables.

use std::path::Path;
use std::sync::Arc;

use mooring_arm::identity::{Credential, Settings as Identity};
use mooring_arm::{Budget, Client, Cloud, Limits, Real, ResourceId, Settings};
use mooring_controller::Scope;
use mooring_kube::kubeconfig::Connection;

use crate::arguments::suggest;
use crate::arguments::{ClusterArguments, ClusterName};
use crate::cluster::config::ContextEntry;
use crate::cluster::discovery::NamedCluster;
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
    use super::*;

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
