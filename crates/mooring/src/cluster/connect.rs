//! Clients of Azure and Kubernetes, from flags and environment variables.

use std::path::Path;
use std::sync::Arc;

use mooring_arm::calls::Cluster;
use mooring_arm::identity::{Credential, IdentitySettings};
use mooring_arm::{Budget, BudgetLimits, Client, Cloud, CloudSettings, Real, ResourceId};
use mooring_controller::run::ApiError;
use mooring_k8s::kubeconfig::Connection;
use mooring_nodes::Scope;
use mooring_redact::{identifier, shell_word};

use crate::arguments::{ClusterArguments, ClusterName, KubeArguments};
use crate::cluster::config::{self, ContextEntry};
use crate::cluster::discovery::NamedCluster;
use crate::output::failure::CommandFailure;
use mooring_terminal::suggest;

/// Variables that name a cluster, the first one first.
pub(crate) const SUBSCRIPTION: [&str; 3] =
    ["MOORING_SUBSCRIPTION", "SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID"];
pub(crate) const RESOURCE_GROUP: [&str; 2] = ["MOORING_RESOURCE_GROUP", "RESOURCE_GROUP"];
pub(crate) const CLUSTER: [&str; 2] = ["MOORING_CLUSTER", "CLUSTER_NAME"];
const CONTEXT: [&str; 1] = ["MOORING_CONTEXT"];
pub(crate) const NODE_RESOURCE_GROUP: [&str; 2] =
    ["MOORING_NODE_RESOURCE_GROUP", "AZURE_NODE_RESOURCE_GROUP"];

pub(crate) const SIGN_IN: &str = "hint: sign in again (`az login`), or renew the kubeconfig's credentials (`az aks get-credentials`)";

/// Returns the flag, or the first variable that is set.
fn flag_or_env(flag: Option<&String>, names: &[&str]) -> Option<String> {
    let value = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    flag.cloned().or_else(|| names.iter().find_map(value))
}

/// Returns a client of Azure for `endpoint`, or for that of the environment.
pub(crate) fn azure_client(
    endpoint: Option<&String>,
    limits: BudgetLimits,
) -> Result<Client, CommandFailure> {
    let environment = CloudSettings::from_env();
    let endpoint = endpoint.cloned().or(environment.endpoint);
    let cloud = Cloud::new(CloudSettings { endpoint, ..environment })
        .map_err(|error| CommandFailure::usage(error.to_string()))?;
    let world = Real::new(&cloud, &IdentitySettings::from_env())
        .map_err(|error| CommandFailure::io(error.to_string()))?;
    Ok(Client::new(cloud, Arc::new(world), Budget::new(limits)))
}

/// Returns true if signing in to Azure is likely to work: a credential is configured, or `az` has a profile.
pub(crate) fn has_sign_in() -> bool {
    let profile = config::directory("AZURE_CONFIG_DIR", ".azure");
    IdentitySettings::from_env().is_configured()
        || profile.is_some_and(|directory| directory.join("azureProfile.json").is_file())
}

/// Returns the ways to sign in to Azure that are tried.
pub(crate) fn credentials() -> String {
    let ways = IdentitySettings::from_env().choose().unwrap_or_default();
    ways.iter().map(ToString::to_string).collect::<Vec<_>>().join(", then ")
}

/// Signs in to Azure. Returns the credential that succeeded; the error names each that was tried.
pub(crate) async fn sign_in(arm: &Client) -> Result<Option<Credential>, CommandFailure> {
    let token = arm.token(&arm.cloud().scope()).await;
    token.map(|token| token.credential).map_err(|error| {
        CommandFailure::io(format!("not signed in: {error}\nhint: `az login` signs in; AZURE_TOKEN_CREDENTIALS selects one way"))
    })
}

/// Connects as kubectl does, with a kubeconfig and a context, or by the default rules.
pub(crate) async fn connect_kube(
    kubeconfig: Option<&Path>,
    context: Option<&String>,
) -> Result<Connection, CommandFailure> {
    let context = flag_or_env(context, &CONTEXT);
    if let Some(context) = &context {
        ensure_context(kubeconfig, context)?;
    }
    let connected = mooring_k8s::kubeconfig::connect(kubeconfig, context.as_deref()).await;
    connected.map_err(|error| {
        if error.contains("\nhint: ") {
            return CommandFailure::io(format!("cannot connect to the Kubernetes API: {error}"));
        }
        CommandFailure::io(format!(
            "cannot connect to the Kubernetes API: {error}\nhint: set `--context NAME`, `--kubeconfig FILE` or KUBECONFIG; `az aks get-credentials` writes a kubeconfig"
        ))
    })
}

/// Returns true if flags, variables or the kubeconfig select a cluster.
pub(crate) fn has_context(arguments: &KubeArguments) -> bool {
    let KubeArguments { kubeconfig, context, .. } = arguments;
    kubeconfig.is_some()
        || flag_or_env(context.as_ref(), &CONTEXT).is_some()
        || mooring_k8s::kubeconfig::has_current_context()
}

/// Ensures that a context exists; a typo is a usage error with suggestions.
fn ensure_context(kubeconfig: Option<&Path>, context: &str) -> Result<(), CommandFailure> {
    let known = mooring_k8s::kubeconfig::contexts(kubeconfig);
    if known.is_empty() || known.iter().any(|name| name == context) {
        return Ok(());
    }
    let names = known.iter().map(String::as_str);
    let hint = suggest::hint(context, names, "mooring status --context")
        .unwrap_or_else(|| "hint: `kubectl config get-contexts` lists them".to_owned());
    let context = identifier(context);
    Err(CommandFailure::unknown_name(format!(
        "context `{context}` not found; contexts: {}\n{hint}",
        known.join(", ")
    )))
}

pub(crate) async fn connect_cluster(
    arguments: &ClusterArguments,
) -> Result<Connection, CommandFailure> {
    let kube = &arguments.kube;
    connect_kube(kube.kubeconfig.as_deref(), kube.context.as_ref()).await
}

/// Returns the error of a cluster whose nodes cannot be read.
pub(crate) fn unreadable(connection: &Connection, error: &ApiError) -> CommandFailure {
    let server = &connection.server;
    let (place, flag) = match &connection.context {
        Some(context) => {
            (format!("{server} (context {context})"), format!("--context {} ", shell_word(context)))
        }
        None => (server.clone(), String::new()),
    };
    let why = &error.what;
    CommandFailure::io(match error.status {
        Some(401) => format!("{place} rejected the credentials: {why}\n{SIGN_IN}"),
        Some(_) => format!(
            "cannot read nodes: {why}\nhint: `kubectl {flag}auth can-i list nodes` shows your permissions"
        ),
        None if error.is_untrusted => format!(
            "cannot reach {place}: {why}\nhint: the server's certificate is not of the CA in the kubeconfig: `az aks get-credentials` writes the current one; a firewall that inspects TLS needs its own CA there"
        ),
        None => format!(
            "cannot reach {place}: {why}\nhint: check the address, and the VPN if the cluster is private; `kubectl {flag}get --raw /readyz` shows if it responds"
        ),
    })
}

/// Returns the error of a namespace without a controller, while another one has it.
pub(crate) fn other_namespace(named: &str, other: &str) -> CommandFailure {
    let (named, word) = (identifier(named), shell_word(other));
    CommandFailure::unknown_name(format!(
        "namespace `{named}` has no controller and no failure record; namespace `{}` has the controller\nhint: use `--namespace {word}`",
        identifier(other)
    ))
}

/// Returns the namespace of the flag, the variable or the configuration of the context.
pub(crate) fn named_namespace(
    arguments: &ClusterArguments,
    entry: Option<&ContextEntry>,
) -> Option<String> {
    let named = flag_or_env(arguments.kube.namespace.as_ref(), &["MOORING_NAMESPACE"]);
    named.or_else(|| entry.and_then(|entry| entry.namespace.clone()))
}

/// Returns the cluster that flags, variables or the configuration of the context name, in this order.
pub(crate) fn named_cluster(name: &ClusterName, entry: Option<&ContextEntry>) -> NamedCluster {
    let cluster = flag_or_env(name.cluster.as_ref(), &CLUSTER);
    let named = NamedCluster {
        subscription: flag_or_env(name.subscription.as_ref(), &SUBSCRIPTION),
        resource_group: flag_or_env(name.resource_group.as_ref(), &RESOURCE_GROUP),
        cluster: cluster.clone(),
        node_resource_group: node_group(None, name),
    };
    let of_entry = entry.filter(|_| cluster.is_none());
    let id = cluster.and_then(|cluster| ResourceId::parse(&cluster).ok());
    match id.or_else(|| of_entry.and_then(ContextEntry::cluster_id)) {
        Some(id) => NamedCluster {
            subscription: Some(id.subscription().to_owned()),
            resource_group: id.resource_group().map(str::to_owned),
            cluster: Some(id.name().to_owned()),
            ..named
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

/// Returns the node resource group of the flag, or of the variable, which may belong to another cluster than the flags.
fn node_group(flag: Option<&String>, name: &ClusterName) -> Option<String> {
    let is_named = name.resource_group.is_some() || name.cluster.is_some();
    let variables: &[&str] = if is_named { &[] } else { &NODE_RESOURCE_GROUP };
    flag_or_env(flag, variables)
}

pub(crate) fn node_resource_group(arguments: &ClusterArguments) -> Option<String> {
    node_group(arguments.node_resource_group.as_ref(), &arguments.name)
}

/// Returns true if flags or variables name a cluster or its node resource group.
pub(crate) fn is_named(arguments: &ClusterArguments) -> bool {
    let NamedCluster { resource_group, cluster, .. } = named_cluster(&arguments.name, None);
    resource_group.or(cluster).or(node_resource_group(arguments)).is_some()
}

/// Returns the part of Azure that may be read. The node resource group is read from the cluster unless it is given.
pub(crate) async fn read_scope(
    arm: &Client,
    arguments: &ClusterArguments,
) -> Result<Scope, CommandFailure> {
    let NamedCluster { subscription, resource_group: group, cluster, .. } =
        named_cluster(&arguments.name, None);
    let nodes = node_resource_group(arguments);
    let unknown = no_cluster;
    let subscription = subscription.ok_or_else(unknown)?;
    let cluster = match (group, cluster) {
        (Some(group), Some(cluster)) => Some(
            ResourceId::cluster(&subscription, &group, &cluster)
                .map_err(|error| CommandFailure::usage(error.to_string()))?,
        ),
        _ => None,
    };
    let node_resource_group = match (nodes, &cluster) {
        (Some(nodes), _) => nodes,
        (None, Some(id)) => {
            let cluster: Cluster =
                arm.cluster(id).await.map_err(|error| CommandFailure::azure(&error))?;
            cluster.properties.node_resource_group.ok_or_else(unknown)?
        }
        (None, None) => return Err(unknown()),
    };
    let cluster = cluster.map(|id| id.as_str().to_owned());
    Ok(Scope { subscription, node_resource_group, cluster })
}

pub(crate) fn no_cluster() -> CommandFailure {
    CommandFailure::usage(
        "no cluster specified: the node resource group is unknown\nhint: set --subscription, --resource-group and --cluster (or SUBSCRIPTION_ID, RESOURCE_GROUP and CLUSTER_NAME), or --subscription and --node-resource-group".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::Server;

    #[tokio::test]
    async fn unreachable_server_is_named_with_its_context() {
        let connection = Connection {
            client: Server::default().client(),
            context: Some("two".to_owned()),
            cluster: None,
            server: "https://two:443".to_owned(),
        };
        let text = |status: Option<u16>| {
            let error = ApiError { status, what: "why".to_owned(), is_untrusted: false };
            unreadable(&connection, &error).text()
        };
        let refused = text(None);
        assert!(
            refused.starts_with("cannot reach https://two:443 (context two): why\nhint: check"),
            "{refused}"
        );
        assert!(refused.contains("`kubectl --context two get --raw /readyz`"), "{refused}");
        let rejected = text(Some(401));
        assert!(
            rejected.starts_with("https://two:443 (context two) rejected the credentials: why")
        );
        assert!(rejected.contains("az login") && rejected.contains("az aks get-credentials"));
        let denied = text(Some(403));
        assert!(denied.contains("kubectl --context two auth can-i list nodes"), "{denied}");
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
            node_resource_group: None,
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
