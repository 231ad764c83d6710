//! Clients of Azure and Kubernetes, from flags and environment variables.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use mooring_arm::identity::Settings as Identity;
use mooring_arm::{Budget, Client, Cloud, Limits, Real, ResourceId, Settings};
use mooring_controller::Scope;
use mooring_inventory::{ClaimItem, NodeItem};
use mooring_kube::kubeconfig::Connection;

use crate::cluster_args::{ClusterArguments, ClusterName};
use crate::failure::Failure;

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

/// Signs in to Azure. The error names each way that was tried.
pub(crate) async fn sign_in(arm: &Client) -> Result<(), Failure> {
    let token = arm.token(&arm.cloud().scope()).await;
    token.map(drop).map_err(|error| {
        Failure::io(format!("not signed in: {error}\nhint: `az login` signs in; AZURE_TOKEN_CREDENTIALS selects one way"))
    })
}

/// Connects as kubectl does, with a kubeconfig and a context, or by the default rules.
pub(crate) async fn connect_kube(
    kubeconfig: Option<&Path>,
    context: Option<&String>,
) -> Result<Connection, Failure> {
    let context = flag_or_env(context, &["MOORING_CONTEXT"]);
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

pub(crate) async fn connect_cluster(arguments: &ClusterArguments) -> Result<Connection, Failure> {
    connect_kube(arguments.kubeconfig.as_deref(), arguments.context.as_ref()).await
}

/// Returns the namespace of the flag or the variable.
pub(crate) fn named_namespace(arguments: &ClusterArguments) -> Option<String> {
    flag_or_env(arguments.namespace.as_ref(), &["MOORING_NAMESPACE"])
}

/// Returns the subscription and the node resource group of most nodes. A single node may name another one.
pub(crate) fn find_scope(claims: &[ClaimItem], nodes: &[NodeItem]) -> Option<Scope> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for node in nodes {
        let id = node.provider_id.strip_prefix("azure://").unwrap_or(&node.provider_id);
        if let Ok(id) = ResourceId::parse(id)
            && let Some(group) = id.resource_group()
        {
            let key = (id.subscription().to_ascii_lowercase(), group.to_ascii_lowercase());
            *counts.entry(key).or_default() += 1;
        }
    }
    if counts.is_empty() {
        for vm in claims.iter().filter_map(|item| item.claim.vm.as_ref()) {
            let key = (vm.subscription.to_ascii_lowercase(), vm.group.to_ascii_lowercase());
            *counts.entry(key).or_default() += 1;
        }
    }
    let ((subscription, node_resource_group), _) =
        counts.into_iter().max_by_key(|(_, count)| *count)?;
    Some(Scope { subscription, node_resource_group, cluster: None })
}

/// Returns the name of the cluster: that of the flags, or of a node resource group `MC_GROUP_CLUSTER_REGION`.
pub(crate) fn cluster_name(arguments: &ClusterArguments, group: &str) -> Option<String> {
    let named = flag_or_env(arguments.name.cluster.as_ref(), &["MOORING_CLUSTER", "CLUSTER_NAME"]);
    let parts: Vec<&str> = group.split('_').collect();
    let from_group = match parts.as_slice() {
        [first, _, name, _] if first.eq_ignore_ascii_case("mc") => Some((*name).to_owned()),
        _ => None,
    };
    named.or(from_group)
}

/// Returns the ARM id of the cluster, if flags or variables name it.
pub(crate) fn cluster_id(arguments: &ClusterArguments) -> Option<String> {
    let name = &arguments.name;
    let subscription = subscription(name)?;
    let group = flag_or_env(name.resource_group.as_ref(), &["RESOURCE_GROUP"])?;
    let cluster = flag_or_env(name.cluster.as_ref(), &["CLUSTER_NAME"])?;
    let id = ResourceId::cluster(&subscription, &group, &cluster).ok()?;
    Some(id.as_str().to_owned())
}

fn subscription(name: &ClusterName) -> Option<String> {
    flag_or_env(name.subscription.as_ref(), &["SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"])
}

/// Returns the part of Azure that may be read. The node resource group is read from the cluster unless it is given.
pub(crate) async fn read_scope(
    arm: &Client,
    arguments: &ClusterArguments,
) -> Result<Scope, Failure> {
    let name = &arguments.name;
    let subscription = subscription(name);
    // The variable may belong to another cluster than the flags.
    let is_named = name.resource_group.is_some() || name.cluster.is_some();
    let variables: &[&str] = if is_named { &[] } else { &["AZURE_NODE_RESOURCE_GROUP"] };
    let nodes = flag_or_env(arguments.node_resource_group.as_ref(), variables);
    let group = flag_or_env(name.resource_group.as_ref(), &["RESOURCE_GROUP"]);
    let cluster = flag_or_env(name.cluster.as_ref(), &["CLUSTER_NAME"]);
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
