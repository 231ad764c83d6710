//! The ways to Azure and to the cluster, from flags and the environment.

use std::path::Path;
use std::sync::Arc;

use mooring_arm::identity::Settings as Identity;
use mooring_arm::{Budget, Client, Cloud, Limits, Real, ResourceId, Settings};

use crate::cluster_cli::ClusterArguments;
use crate::failure::Failure;

/// A flag, else the first of these variables that is set.
fn or_environment(flag: Option<&String>, names: &[&str]) -> Option<String> {
    let value = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    flag.cloned().or_else(|| names.iter().find_map(value))
}

/// Where the nodes are in Azure.
#[derive(Debug, Default)]
pub(crate) struct Place {
    pub(crate) subscription: Option<String>,
    pub(crate) node_resource_group: Option<String>,
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

/// The same by a kubeconfig, else by the usual rules.
pub(crate) async fn kubernetes_by(kubeconfig: Option<&Path>) -> Result<kube::Client, Failure> {
    let client = match kubeconfig {
        Some(path) => mooring_kubeconfig::client_by_file(path).await,
        None => mooring_kubeconfig::usual_client().await,
    };
    client.map_err(|error| {
        Failure::unreadable(format!(
            "no way to the cluster's API: {error}\nhint: `--kubeconfig FILE` or KUBECONFIG names a kubeconfig; `az aks get-credentials` writes one"
        ))
    })
}

/// Where the nodes are; the cluster is asked for what is not said.
pub(crate) async fn place(arm: &Client, arguments: &ClusterArguments) -> Result<Place, Failure> {
    let name = &arguments.name;
    let subscription =
        or_environment(name.subscription.as_ref(), &["SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"]);
    // A cluster that a flag names is not replaced by one that a variable means.
    let is_named = name.resource_group.is_some() || name.cluster.is_some();
    let variables: &[&str] = if is_named { &[] } else { &["AZURE_NODE_RESOURCE_GROUP"] };
    let nodes = or_environment(arguments.node_resource_group.as_ref(), variables);
    if nodes.is_some() {
        return Ok(Place { subscription, node_resource_group: nodes });
    }
    let group = or_environment(name.resource_group.as_ref(), &["RESOURCE_GROUP"]);
    let cluster = or_environment(name.cluster.as_ref(), &["CLUSTER_NAME"]);
    let (Some(in_subscription), Some(group), Some(cluster)) = (&subscription, group, cluster)
    else {
        return Ok(Place { subscription, node_resource_group: None });
    };
    let id = ResourceId::cluster(in_subscription, &group, &cluster)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let cluster = arm.cluster(&id).await.map_err(|error| Failure::azure(&error))?;
    let node_resource_group = cluster.properties.node_resource_group.clone();
    Ok(Place { subscription, node_resource_group })
}
