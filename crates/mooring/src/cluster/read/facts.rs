//! Live objects, the record and the controller as facts.

use std::sync::Arc;

use jiff::Timestamp;
use mooring_arm::ResourceId;
use mooring_controller::run::{Api, ApiError};
use mooring_k8s::kubeconfig::Connection;
use mooring_nodes::record::counts;
use mooring_nodes::{ClusterFacts, Inventory, NodeItem, record};
use mooring_workflow::Reading;
use mooring_workflow::published::{ClusterIdentity, Source, SourceName, SourceState};
use serde_json::Value;
use tokio::time::Instant;

use super::karpenter::read_karpenter;
use super::record::{or_warning, parse_counts, parse_record};
use crate::arguments::SourceArguments;
use crate::cluster::azure::{ConnectedCluster, VmRequest};
use crate::cluster::controller_state::{find_namespace, read_controller};
use crate::cluster::discovery::{self, NamedCluster, NodesCluster, about_the_nodes};
use crate::cluster::follow::Lists;
use crate::cluster::waiting::wait;
use crate::cluster::{config, connect};
use crate::output::failure::CommandFailure;

/// Reads the cluster and the record; then Azure for nodes without a verdict, and its pools.
pub(crate) async fn read(arguments: &SourceArguments) -> Result<ConnectedCluster, CommandFailure> {
    let mut cluster = read_cluster(arguments).await?;
    let request = VmRequest::of_cluster(&cluster.facts);
    cluster.ask_azure(arguments, &request).await?;
    Ok(cluster)
}

/// Reads NodeClaims, Nodes, the record and the controller.
pub(crate) async fn read_cluster(
    arguments: &SourceArguments,
) -> Result<ConnectedCluster, CommandFailure> {
    let work = async {
        let connection = connect::connect_cluster(&arguments.cluster).await?;
        Box::pin(read_connected(&connection, &Lists::Read, arguments)).await
    };
    within(arguments, work).await
}

/// Reads what is not followed, over an open connection.
pub(crate) async fn read_followed(
    connection: &Connection,
    lists: &Lists,
    arguments: &SourceArguments,
) -> Result<ConnectedCluster, CommandFailure> {
    within(arguments, Box::pin(read_connected(connection, lists, arguments))).await
}

/// Awaits reads of the cluster for the time of `--timeout`.
async fn within(
    arguments: &SourceArguments,
    work: impl Future<Output = Result<ConnectedCluster, CommandFailure>>,
) -> Result<ConnectedCluster, CommandFailure> {
    let limit = arguments.timeout;
    match wait("waiting for the Kubernetes API", limit, "giving up", work).await {
        Some(cluster) => cluster,
        None => Err(CommandFailure::io(format!(
            "the Kubernetes API did not respond within {}s\nhint: `--timeout` waits longer; `kubectl get nodes` shows if the cluster is reachable",
            limit.as_secs()
        ))),
    }
}

/// Reads all sources but Azure over an open connection.
pub(crate) async fn read_connected(
    connection: &Connection,
    lists: &Lists,
    arguments: &SourceArguments,
) -> Result<ConnectedCluster, CommandFailure> {
    let cluster = &arguments.cluster;
    let api = Api::new(connection.client.clone());
    let now = Timestamp::now();
    let started = Instant::now();
    let claims = lists.claims(&api);
    let nodes = lists.nodes(&api);
    let entry = config::context(connection.context.as_deref())?;
    let named = NamedCluster {
        node_resource_group: connect::node_resource_group(cluster),
        ..connect::named_cluster(&cluster.name, Some(&entry))
    };
    let namespace = connect::named_namespace(cluster, Some(&entry));
    let controller_and_record = async {
        let controller = read_controller(&api, namespace.as_deref(), Timestamp::now()).await;
        let asked = Instant::now();
        let (record, counts) =
            (record::path(&controller.namespace), counts::path(&controller.namespace));
        let (record, counts) = tokio::join!(api.json(&record), api.json(&counts));
        (controller, record, counts, asked.elapsed())
    };
    let system = api.get("/api/v1/namespaces/kube-system");
    let version = api.get("/version");
    let karpenter = read_karpenter(&api);
    let live = async { tokio::join!(claims, nodes, karpenter) };
    let context = async { tokio::join!(system, version) };
    let ((claims, nodes, (karpenter, unread)), controller_and_record, (system, version)) =
        tokio::join!(live, controller_and_record, context);
    let (controller, record, counts, record_took) = controller_and_record;
    let took = started.elapsed();
    let mut warnings = Vec::new();
    let has_karpenter = !matches!(claims, Ok(None));
    // A list that is followed is not current without a connection.
    let is_lost = |error: &ApiError| lists.is_followed() && error.status.is_none();
    let unreadable = match (&claims, &nodes) {
        (Err(_), Err(error)) => Some(error),
        (Err(error), _) | (_, Err(error)) if is_lost(error) => Some(error),
        _ => version.as_ref().err().filter(|error| is_lost(error)),
    };
    if let Some(error) = unreadable {
        return Err(connect::unreadable(connection, error));
    }
    let claims = or_warning("NodeClaims", claims, &mut warnings);
    let nodes = or_warning("nodes", nodes, &mut warnings);
    // The types do not exist, or only those of NodeClaims do.
    let is_installed = has_karpenter && (karpenter.node_pools.is_some() || !unread.is_empty());
    warnings.extend(unread);
    let cluster_error = warnings.first().cloned();
    let (record, mut record_source) = parse_record(record, record_took, &controller, &mut warnings);
    if let (Some(named), Reading::NotFound, "not-running") = (&namespace, &record, controller.state)
        && let Some(other) = find_namespace(&api).await.filter(|other| other != named)
    {
        return Err(connect::other_namespace(named, &other));
    }
    let mut inventory = Inventory::merge(&claims, &nodes, &record, now);
    match parse_counts(counts) {
        Ok(counts) => inventory.counts = counts.map(Arc::new),
        Err(why) => {
            warnings.push(format!("the counts were not read: {why}"));
            inventory.reads.record = Reading::Failed(why.clone());
            record_source.state = SourceState::Failed;
            record_source.error.get_or_insert(why);
        }
    }
    let claims = claims.known().map(Vec::as_slice).unwrap_or_default();
    let nodes = nodes.known().map(Vec::as_slice).unwrap_or_default();
    let scope = discovery::find_scope(claims, nodes);
    let cluster_source = Source {
        at: Some(now),
        seconds: Some(took.as_secs_f64()),
        state: if cluster_error.is_none() { SourceState::Read } else { SourceState::Failed },
        error: cluster_error,
        ..Source::new(SourceName::Cluster)
    };
    let of_nodes = NodesCluster { scope: scope.clone(), uid: None };
    warnings.extend(controller.unread().map(|why| format!("the controller was not read: {why}")));
    warnings.extend(of_nodes.conflict(&named).map(|conflict| about_the_nodes(&conflict)));
    let uid = system.ok().and_then(|text| member(&text, "/metadata/uid"));
    let identity = identity(connection, &named, of_nodes.id(), uid);
    let absent = (!is_installed)
        .then(|| Source { state: SourceState::Absent, ..Source::new(SourceName::Karpenter) });
    let mut sources = vec![cluster_source, record_source];
    sources.extend(absent);
    sources.push(Source::new(SourceName::Azure));
    let facts = ClusterFacts {
        identity,
        region: nodes.iter().find_map(NodeItem::region),
        version: version.ok().and_then(|text| member(&text, "/gitVersion")),
        inventory,
        karpenter,
        has_karpenter,
        lost: nodes.iter().filter_map(|node| node.lost(now)).collect(),
        controller,
        record: record.known().cloned(),
        runs: Vec::new(),
        sources,
        warnings,
        now,
    };
    let client = mooring_k8s::Client::new(connection.client.clone());
    Ok(ConnectedCluster { facts, api, client, scope, named })
}

/// Returns the cluster as flags and variables name it, unless its nodes belong to another one. The name that AKS gives to
/// a node resource group has that of the cluster.
fn identity(
    connection: &Connection,
    named: &NamedCluster,
    of_nodes: Option<ResourceId>,
    uid: Option<String>,
) -> ClusterIdentity {
    let is_other = of_nodes.as_ref().is_some_and(|id| named.differs(id));
    let name = of_nodes.map(|id| id.name().to_owned());
    let (name, id) = if is_other {
        (name, None)
    } else {
        (named.cluster.clone().or(name), named.id().map(|id| id.as_str().to_owned()))
    };
    ClusterIdentity {
        name: name.or(connection.cluster.clone()),
        id,
        context: connection.context.clone(),
        server: Some(connection.server.clone()),
        uid,
    }
}

fn member(text: &str, pointer: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    value.pointer(pointer)?.as_str().map(str::to_owned)
}
