//! Clients of Azure and Kubernetes, from flags and environment variables.

use std::path::Path;
use std::sync::Arc;

use mooring_arm::identity::Settings as Identity;
use mooring_arm::{Budget, Client, Cloud, Limits, Real, ResourceId, Settings};
use mooring_controller::Scope;
use mooring_kube::kubeconfig::Connection;

use crate::cluster_args::ClusterArguments;
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

/// Connects with a kubeconfig, or by the default rules; the result has the names of the context.
pub(crate) async fn connect_kube(kubeconfig: Option<&Path>) -> Result<Connection, Failure> {
    mooring_kube::kubeconfig::connect(kubeconfig).await.map_err(|error| unreachable_cluster(&error))
}

fn unreachable_cluster(error: &str) -> Failure {
    Failure::io(format!(
        "cannot connect to the Kubernetes API: {error}\nhint: set `--kubeconfig FILE` or KUBECONFIG; `az aks get-credentials` writes a kubeconfig"
    ))
}

pub(crate) async fn kube_client(arguments: &ClusterArguments) -> Result<kube::Client, Failure> {
    let client = match &arguments.kubeconfig {
        Some(path) => mooring_kube::kubeconfig::client_by_file(path).await,
        None => mooring_kube::kubeconfig::default_client().await,
    };
    client.map_err(|error| unreachable_cluster(&error))
}

/// Returns the part of Azure that may be read. The node resource group is read from the cluster unless it is given.
pub(crate) async fn read_scope(
    arm: &Client,
    arguments: &ClusterArguments,
) -> Result<Scope, Failure> {
    let name = &arguments.name;
    let subscription =
        flag_or_env(name.subscription.as_ref(), &["SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"]);
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
