//! The ways to Azure and to the cluster, from flags and the environment.

use std::path::Path;
use std::sync::Arc;

use mooring_arm::identity::Settings as Identity;
use mooring_arm::{Budget, Client, Cloud, Limits, Real, ResourceId, Settings};
use mooring_controller::Scope;
use mooring_kube::kubeconfig::Connection;

use crate::cluster_cli::ClusterArguments;
use crate::failure::Failure;

/// A flag, else the first of these variables that is set.
fn or_environment(flag: Option<&String>, names: &[&str]) -> Option<String> {
    let value = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    flag.cloned().or_else(|| names.iter().find_map(value))
}

/// A client of Azure within these limits, at this endpoint or at the one that the environment says.
pub(crate) fn azure(endpoint: Option<&String>, limits: Limits) -> Result<Client, Failure> {
    let environment = Settings::from_env();
    let endpoint = endpoint.cloned().or(environment.endpoint);
    let cloud = Cloud::new(Settings { endpoint, ..environment })
        .map_err(|error| Failure::usage(error.to_string()))?;
    let outside = Real::new(&cloud, &Identity::from_env())
        .map_err(|error| Failure::unreadable(error.to_string()))?;
    Ok(Client::new(cloud, Arc::new(outside), Budget::new(limits)))
}

/// A client of the cluster's API that repeats nothing by itself.
pub(crate) async fn kubernetes(arguments: &ClusterArguments) -> Result<kube::Client, Failure> {
    kubernetes_by(arguments.kubeconfig.as_deref()).await
}

/// A client of the cluster's API by a kubeconfig, else by the usual rules, with the names that its operator knows.
pub(crate) async fn cluster_by(kubeconfig: Option<&Path>) -> Result<Connection, Failure> {
    mooring_kube::kubeconfig::connect(kubeconfig).await.map_err(|error| unreachable_cluster(&error))
}

fn unreachable_cluster(error: &str) -> Failure {
    Failure::unreadable(format!(
        "no way to the cluster's API: {error}\nhint: `--kubeconfig FILE` or KUBECONFIG names a kubeconfig; `az aks get-credentials` writes one"
    ))
}

/// The same by a kubeconfig, else by the usual rules.
pub(crate) async fn kubernetes_by(kubeconfig: Option<&Path>) -> Result<kube::Client, Failure> {
    let client = match kubeconfig {
        Some(path) => mooring_kube::kubeconfig::client_by_file(path).await,
        None => mooring_kube::kubeconfig::usual_client().await,
    };
    client.map_err(|error| unreachable_cluster(&error))
}

/// What may be read in Azure. The node resource group is read from the cluster unless it is given.
pub(crate) async fn scope(arm: &Client, arguments: &ClusterArguments) -> Result<Scope, Failure> {
    let name = &arguments.name;
    let subscription =
        or_environment(name.subscription.as_ref(), &["SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"]);
    // A cluster that a flag names is not replaced by one that a variable means.
    let is_named = name.resource_group.is_some() || name.cluster.is_some();
    let variables: &[&str] = if is_named { &[] } else { &["AZURE_NODE_RESOURCE_GROUP"] };
    let nodes = or_environment(arguments.node_resource_group.as_ref(), variables);
    let group = or_environment(name.resource_group.as_ref(), &["RESOURCE_GROUP"]);
    let cluster = or_environment(name.cluster.as_ref(), &["CLUSTER_NAME"]);
    let unknown = || {
        Failure::usage(
            "the node resource group is unknown\nhint: name the cluster with `--subscription`, `--resource-group` and `--cluster` (or SUBSCRIPTION_ID, RESOURCE_GROUP and CLUSTER_NAME), or give `--subscription` and `--node-resource-group`".to_owned(),
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
