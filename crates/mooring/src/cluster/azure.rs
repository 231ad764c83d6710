//! Facts of Azure: results of VMs that have no verdict in the cluster or in the record.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::StreamExt as _;
use mooring_arm::{BudgetLimits, Client, ResourceId};
use mooring_controller::query::{NodeQuery, QueryError};
use mooring_controller::run::Api;
use mooring_nodes::unregistered::NodeState;
use mooring_nodes::{AksPool, ClusterFacts, Inventory, Node, NodeReport, Scope};
use mooring_workflow::Reading;
use mooring_workflow::published::{Source, SourceName, SourceState};
use serde_json::Value;
use tokio::time::Instant;

use crate::arguments::{AzureMode, SourceArguments};
use crate::cluster::azure_limit::AzureLimit;
use crate::cluster::connect;
use crate::cluster::discovery::{
    NamedCluster, about_the_nodes, by_group_name, conflict, find_known_cluster,
};
use crate::cluster::runs::read_runs;
use crate::output::failure::CommandFailure;

/// A Run Command takes up to three minutes.
const COMMAND_LIMIT: Duration = Duration::from_secs(220);
/// More VMs are not read; the controller lists them instead.
const MAX_VMS: usize = 64;
const CONCURRENT: usize = 8;

/// VMs to read.
#[derive(Debug, Default)]
pub(crate) struct VmRequest {
    /// Uids of NodeClaims.
    pub(crate) claims: Vec<String>,
    /// Reads the AKS pools as well.
    pub(crate) with_pools: bool,
    /// Signs in for the AKS pools alone; otherwise they are read only if Azure is read at all or must be.
    pub(crate) signs_in_for_pools: bool,
    /// Nodes without a NodeClaim.
    pub(crate) named: Option<NamedVms>,
    /// Allows Run Command.
    pub(crate) run_command: bool,
}

/// Nodes without a NodeClaim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NamedVms {
    /// The instances of an AKS pool.
    Pool(String),
    /// A Node, by the id of its VM.
    Node { name: String, vm_id: String, pool: Option<String> },
    /// A VM, an instance or a pool that the cluster does not have.
    Unknown(String),
}

impl VmRequest {
    /// Requests the NodeClaims whose outcome or cause only Azure knows.
    pub(crate) fn unknown<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Self {
        let wanted = nodes.into_iter().filter(|node| node.needs_azure());
        let claims = wanted.map(|node| node.uid.clone());
        Self { claims: claims.take(MAX_VMS).collect(), ..Self::default() }
    }

    /// Requests the same, and the AKS pools.
    pub(crate) fn of_cluster(facts: &ClusterFacts) -> Self {
        Self::unknown(&facts.inventory.nodes).with_pools()
    }

    /// Adds the AKS pools.
    pub(crate) fn with_pools(self) -> Self {
        Self { with_pools: true, signs_in_for_pools: connect::has_sign_in(), ..self }
    }

    fn is_empty(&self, mode: AzureMode) -> bool {
        let must_read_pools =
            self.with_pools && (self.signs_in_for_pools || mode == AzureMode::Always);
        self.claims.is_empty() && self.named.is_none() && !must_read_pools
    }
}

/// Reports by the uid of their node.
pub(crate) type Reports = BTreeMap<String, NodeReport>;

/// A cluster that was read: its facts, and the connection.
pub(crate) struct ConnectedCluster {
    pub(crate) facts: ClusterFacts,
    pub(crate) api: Api,
    pub(crate) client: mooring_k8s::Client,
    /// Subscription and resource group of the nodes.
    pub(crate) scope: Option<Scope>,
    /// The cluster of flags and variables.
    pub(crate) named: NamedCluster,
}

impl ConnectedCluster {
    /// Reads VMs and adds the results. Without Azure there are none, and a warning.
    pub(crate) async fn ask_azure(
        &mut self,
        arguments: &SourceArguments,
        request: &VmRequest,
    ) -> Result<Reports, CommandFailure> {
        if arguments.azure == AzureMode::Never || request.is_empty(arguments.azure) {
            return Ok(Reports::new());
        }
        let started = tokio::time::Instant::now();
        let read = self.read_azure(arguments, request).await;
        let seconds = Some(started.elapsed().as_secs_f64());
        let source = Source { seconds, ..Source::new(SourceName::Azure) };
        match read {
            Ok(AzureRead { found, cluster, pools, unread }) => {
                self.set_cluster(cluster);
                let mut error = None;
                match pools.transpose() {
                    Err(failure) if arguments.azure == AzureMode::Always => return Err(failure),
                    Err(failure) => {
                        self.facts
                            .warnings
                            .push(format!("AKS pools were not read: {}", failure.text()));
                        let first = failure.first_line();
                        self.facts.inventory.set_aks_pools(Reading::Failed(first.clone()));
                        error = Some(first);
                    }
                    Ok(pools) => {
                        let pools = pools.map_or(Reading::NotAsked, Reading::Known);
                        self.facts.inventory.set_aks_pools(pools);
                    }
                }
                for (uid, reading) in unread {
                    if let (true, Some(why)) = (reading.has_failed(), reading.missing()) {
                        let why = format!("a VM {why}");
                        if error.is_none() {
                            self.facts
                                .warnings
                                .push(format!("Azure was not read completely: {why}"));
                        }
                        error.get_or_insert(why);
                    }
                    self.facts.inventory.set_azure(&uid, reading);
                }
                let state = if error.is_none() { SourceState::Read } else { SourceState::Failed };
                self.set_source(Source { state, error, at: Some(self.facts.now), ..source });
                Ok(add(&mut self.facts.inventory, found))
            }
            Err(error) if arguments.azure == AzureMode::Always || request.run_command => Err(error),
            Err(error) => {
                self.facts.warnings.push(format!("Azure was not read: {}", error.text()));
                let first = error.first_line();
                let inventory = &mut self.facts.inventory;
                for uid in &request.claims {
                    inventory.set_azure(uid, Reading::Failed(first.clone()));
                }
                if request.with_pools {
                    inventory.set_aks_pools(Reading::Failed(first.clone()));
                }
                let state = SourceState::Failed;
                self.set_source(Source { state, error: Some(first), ..source });
                Ok(Reports::new())
            }
        }
    }

    /// Reads the runs of `mooring repair` from their journals.
    pub(crate) async fn read_runs(&mut self, limit: Duration) {
        let namespace = &self.facts.controller.namespace;
        let read = tokio::time::timeout(limit, read_runs(&self.api, &self.client, namespace)).await;
        let late =
            || (Vec::new(), Reading::Failed(format!("no response within {}s", limit.as_secs())));
        let (runs, outcome) = read.unwrap_or_else(|_| late());
        self.facts.set_runs(runs, outcome);
    }

    async fn read_azure(
        &self,
        arguments: &SourceArguments,
        request: &VmRequest,
    ) -> Result<AzureRead, CommandFailure> {
        let limit = if request.run_command {
            AzureLimit::start_required(COMMAND_LIMIT.max(arguments.timeout))
        } else {
            AzureLimit::start(arguments)
        };
        let endpoint = arguments.cluster.arm_endpoint.as_ref();
        let arm = connect::azure_client(endpoint, BudgetLimits::default())?;
        limit.sign_in(&arm).await?;
        let arm = limit.client(&arm);
        limit.read(Box::pin(self.read_vms(arm, arguments, request))).await?
    }

    /// Reads VMs, some at a time. A VM that cannot be read keeps its state.
    async fn read_vms(
        &self,
        arm: Client,
        arguments: &SourceArguments,
        request: &VmRequest,
    ) -> Result<AzureRead, CommandFailure> {
        let cluster = match &self.scope {
            // Without it, only the name is a guess.
            Some(scope) => match find_known_cluster(&arm, scope, &self.facts.identity).await {
                Err(error) if error.is_throttled() => return Err(CommandFailure::azure(&error)),
                found => found.map(|found| found.map(|found| found.id)),
            },
            None => Ok(None),
        };
        let pools = match &cluster {
            _ if !request.with_pools => None,
            Ok(Some(id)) => {
                Some(arm.agent_pools(id).await.map_err(|error| CommandFailure::azure(&error)))
            }
            Ok(None) => {
                Some(Err(CommandFailure::io("no AKS cluster was found for the nodes".to_owned())))
            }
            Err(error) => Some(Err(CommandFailure::azure(error))),
        };
        let cluster = cluster.ok().flatten();
        let pools =
            pools.map(|pools| pools.map(|pools| pools.iter().filter_map(aks_pool).collect()));
        let query = self.node_query(arm, arguments, request.run_command, cluster.as_ref()).await?;
        let by_uid = |uid: &String| self.facts.inventory.by_uid(uid);
        let reads = futures::stream::iter(request.claims.iter().filter_map(by_uid)).map(|node| {
            let query = &query;
            async move { (&node.uid, query.claim_report(node).await) }
        });
        let mut reads = std::pin::pin!(reads.buffer_unordered(CONCURRENT));
        let mut found = Vec::new();
        let mut last_error = None;
        let mut any_read = false;
        let not_read = || Reading::Failed("was not read".to_owned());
        let mut unread: BTreeMap<String, Reading<()>> =
            request.claims.iter().map(|uid| (uid.clone(), not_read())).collect();
        while let Some((uid, read)) = reads.next().await {
            match read {
                // The others would wait as long.
                Err(QueryError::Azure(error)) if error.is_throttled() => {
                    for reading in unread.values_mut() {
                        *reading = Reading::Throttled(error.to_string());
                    }
                    last_error = Some(QueryError::Azure(error));
                    break;
                }
                Ok(Some(report)) => {
                    any_read = true;
                    unread.remove(uid);
                    found.push((Some(uid.clone()), report));
                }
                // The VM is gone.
                Ok(None) => {
                    any_read = true;
                    unread.insert(uid.clone(), Reading::NotFound);
                }
                Err(error) => {
                    let why = error.to_string().lines().next().unwrap_or_default().to_owned();
                    unread.insert(uid.clone(), Reading::Failed(why));
                    last_error = Some(error);
                }
            }
        }
        let named = match &request.named {
            None => Ok(Vec::new()),
            // It is not known which have joined.
            Some(_) if !self.facts.inventory.reads.nodes.is_read() => Ok(Vec::new()),
            Some(NamedVms::Pool(pool)) => query.instances(pool, None).await,
            Some(NamedVms::Node { name, vm_id, pool }) => {
                let report = query.node_report(name, vm_id, pool.as_deref()).await;
                report.map(|report| report.into_iter().collect())
            }
            Some(NamedVms::Unknown(name)) => query.in_azure(name).await,
        };
        let named = named.map_err(|error| CommandFailure::query(&error))?;
        found.extend(named.into_iter().map(|report| (None, report)));
        match last_error {
            Some(error) if !any_read => Err(CommandFailure::query(&error)),
            _ => Ok(AzureRead { found, cluster, pools, unread }),
        }
    }

    async fn node_query(
        &self,
        arm: Client,
        arguments: &SourceArguments,
        run_command: bool,
        cluster: Option<&ResourceId>,
    ) -> Result<NodeQuery, CommandFailure> {
        let cluster = cluster.map(|id| id.as_str().to_owned()).or(self.facts.identity.id.clone());
        let scope = match &self.scope {
            Some(scope) => Scope { cluster, ..scope.clone() },
            None => connect::read_scope(&arm, &arguments.cluster).await?,
        };
        let exists =
            |node: &&Node| !matches!(node.node_state, NodeState::Unknown | NodeState::Absent);
        let nodes = self.facts.inventory.nodes.iter().filter(exists);
        Ok(NodeQuery {
            api: self.api.clone(),
            nodes: nodes.filter_map(|node| node.node.clone()).collect(),
            arm,
            scope,
            now: self.facts.now,
            run_command,
            progress: crate::output::show::print_note,
        })
    }

    /// Sets the cluster that Azure shows for the nodes.
    fn set_cluster(&mut self, cluster: Option<ResourceId>) {
        let Some(id) = cluster else { return };
        let of_group = self.scope.as_ref().and_then(by_group_name);
        let is_known = of_group.is_some_and(|of_group| self.named.differs(&of_group));
        let warning = about_the_nodes(&conflict(&self.named, &id));
        let warnings = &mut self.facts.warnings;
        if self.named.differs(&id) && !is_known && !warnings.contains(&warning) {
            warnings.push(warning);
        }
        self.facts.identity.name = Some(id.name().to_owned());
        self.facts.identity.id = Some(id.as_str().to_owned());
    }

    fn set_source(&mut self, source: Source) {
        self.facts.sources.retain(|one| one.name != source.name);
        self.facts.sources.push(source);
    }
}

struct AzureRead {
    /// Reports with the uid of their node; without it if it was found by another name.
    found: Vec<(Option<String>, NodeReport)>,
    cluster: Option<ResourceId>,
    /// None if they were not requested.
    pools: Option<Result<Vec<AksPool>, CommandFailure>>,
    /// Requested nodes without a report, by uid.
    unread: BTreeMap<String, Reading<()>>,
}

/// Parses a pool. A stopped pool has no nodes, even if its count is not zero.
fn aks_pool(pool: &Value) -> Option<AksPool> {
    let properties = &pool["properties"];
    let wanted = match properties["powerState"]["code"].as_str() {
        Some("Stopped") => Some(0),
        _ => properties["count"].as_u64(),
    };
    Some(AksPool {
        name: pool["name"].as_str()?.to_owned(),
        wanted: wanted.and_then(|count| usize::try_from(count).ok()),
        state: properties["provisioningState"].as_str().map(str::to_owned),
    })
}

fn add(inventory: &mut Inventory, found: Vec<(Option<String>, NodeReport)>) -> Reports {
    let mut reports = Reports::new();
    for (uid, report) in found {
        let uid = match uid {
            Some(uid) => {
                inventory.add_report(&uid, &report);
                uid
            }
            None => inventory.add_vm(&report),
        };
        reports.insert(uid, report);
    }
    reports
}

/// Results of the last read of Azure, which is read less often than the cluster.
#[derive(Default)]
pub(crate) struct AzureResults {
    pub(crate) read_at: Option<Instant>,
    pub(crate) reports: Reports,
    pub(crate) source: Option<Source>,
    pools: Reading<Vec<AksPool>>,
    /// What Azure said of each node, by uid.
    nodes: Vec<(String, Reading<()>)>,
}

impl AzureResults {
    /// Reads Azure after a pause, and adds the last results before its end. Returns true if Azure was read.
    pub(crate) async fn refresh(
        &mut self,
        cluster: &mut ConnectedCluster,
        arguments: &SourceArguments,
        request: impl Fn(&ClusterFacts) -> VmRequest,
        pause: Duration,
    ) -> Result<bool, CommandFailure> {
        if self.read_at.is_some_and(|at| at.elapsed() < pause) {
            self.restore(&mut cluster.facts);
            return Ok(false);
        }
        let request = request(&cluster.facts);
        self.reports = cluster.ask_azure(arguments, &request).await?;
        self.source = cluster.facts.sources.last().cloned();
        let inventory = &cluster.facts.inventory;
        self.pools = inventory.aks_pools_read();
        let asked = inventory.nodes.iter().filter(|node| node.azure != Reading::NotAsked);
        self.nodes = asked.map(|node| (node.uid.clone(), node.azure.clone())).collect();
        self.read_at = Some(Instant::now());
        Ok(true)
    }

    pub(crate) fn restore(&self, facts: &mut ClusterFacts) {
        for (uid, report) in &self.reports {
            facts.inventory.add_report(uid, report);
        }
        for (uid, azure) in &self.nodes {
            facts.inventory.set_azure(uid, azure.clone());
        }
        facts.inventory.set_aks_pools(self.pools.clone());
        if let (Some(last), Some(source)) = (facts.sources.last_mut(), &self.source) {
            *last = source.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use mooring_nodes::JoinState;

    use super::*;
    use crate::fixtures::{cluster, facts, failed_node, node, source_arguments};

    #[test]
    fn claims_with_a_verdict_are_not_requested() {
        let mut diagnosed = failed_node("diagnosed", "X");
        diagnosed.failure.as_mut().unwrap().owner = Some("image".to_owned());
        let nodes = [
            node("joining", JoinState::Joining),
            Node { azure: Reading::NotFound, ..node("young", JoinState::Joining) },
            Node { azure: Reading::Failed(String::new()), ..node("unread", JoinState::Joining) },
            Node { launched_at: None, ..node("unlaunched", JoinState::Joining) },
            Node { node_claim: None, ..node("unclaimed", JoinState::Joining) },
            node("ready", JoinState::Ready),
            node("odd", JoinState::Failed),
            failed_node("failed", "X"),
            Node { exists: false, ..failed_node("gone", "X") },
            diagnosed,
        ];
        let request = VmRequest::unknown(&nodes);
        let claims: Vec<&str> = request.claims.iter().map(String::as_str).collect();
        assert_eq!(claims, ["uid-joining", "uid-unread", "uid-failed"]);
        let many: Vec<Node> =
            (0..100).map(|at| node(&at.to_string(), JoinState::Joining)).collect();
        assert_eq!(VmRequest::unknown(&many).claims.len(), MAX_VMS);
    }

    #[tokio::test]
    async fn azure_is_not_read_without_a_request_or_against_the_flag() {
        assert!(VmRequest::default().is_empty(AzureMode::Always));
        let pools = VmRequest { with_pools: true, ..VmRequest::default() };
        assert!(pools.is_empty(AzureMode::Auto) && !pools.is_empty(AzureMode::Always));
        assert!(!VmRequest { signs_in_for_pools: true, ..pools }.is_empty(AzureMode::Auto));
        let requests = [
            VmRequest { claims: vec![String::new()], ..VmRequest::default() },
            VmRequest { named: Some(NamedVms::Pool(String::new())), ..VmRequest::default() },
        ];
        let mut cluster = cluster(facts([]));
        for request in requests {
            assert!(!request.is_empty(AzureMode::Auto));
            let never = source_arguments(&["--azure", "never"]);
            assert!(cluster.ask_azure(&never, &request).await.unwrap().is_empty());
        }
        let always = source_arguments(&["--azure", "always"]);
        assert!(cluster.ask_azure(&always, &VmRequest::default()).await.unwrap().is_empty());
    }

    #[test]
    fn stopped_pool_wants_no_nodes() {
        let wanted = |power: &str| {
            let properties = serde_json::json!({
                "count": 3, "provisioningState": "Failed", "powerState": {"code": power},
            });
            aks_pool(&serde_json::json!({"name": "system", "properties": properties})).unwrap()
        };
        let (name, state) = ("system".to_owned(), Some("Failed".to_owned()));
        assert_eq!(wanted("Running"), AksPool { name, wanted: Some(3), state });
        assert_eq!(wanted("Stopped").wanted, Some(0));
        assert_eq!(aks_pool(&Value::Null), None);
    }

    #[tokio::test]
    async fn cluster_of_the_nodes_replaces_the_named_one() {
        let id = || ResourceId::cluster("s", "g", "prod").unwrap();
        let mut read = cluster(facts([]));
        read.set_cluster(None);
        assert_eq!(read.facts.identity.name.as_deref(), Some("demo"));
        read.set_cluster(Some(id()));
        assert_eq!(read.facts.identity.name.as_deref(), Some("prod"));
        assert_eq!(read.facts.identity.id.as_deref(), Some(id().as_str()));
        assert!(read.facts.warnings.is_empty());
        read.named.cluster = Some("other".to_owned());
        read.set_cluster(Some(id()));
        read.set_cluster(Some(id()));
        assert_eq!(read.facts.warnings.len(), 1, "{:?}", read.facts.warnings);
        read.set_source(Source::new(SourceName::Record));
        let names: Vec<SourceName> = read.facts.sources.iter().map(|source| source.name).collect();
        assert_eq!(names, [SourceName::Cluster, SourceName::Azure, SourceName::Record]);
        assert_eq!(read.facts.sources[2].state, SourceState::NotAsked);
    }
}
