//! Values of tests: nodes, failures and facts of a cluster, and an API server without a network.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use clap::Parser as _;
use http::{Request, Response};
use jiff::Timestamp;
use kube::client::Body;
use mooring_nodes::record::{RecordDocument, SCHEMA};
use mooring_nodes::{
    ClusterFacts, ConditionReason, ControllerState, Inventory, JoinState, Karpenter, Node,
    NodeFailure, NodePool, NodeReport, PoolKind, Reads, ReportSource, Verdict,
};
use mooring_terminal::{Screen, Style};
use mooring_workflow::Reading;
use mooring_workflow::published::{ClusterIdentity, Source, SourceName, SourceState};

use crate::answers::ReadArguments;
use crate::arguments::SourceArguments;
use crate::cluster::{ConnectedCluster, NamedCluster};

/// Minutes before this time are easy to subtract.
pub(crate) fn now() -> Timestamp {
    at("2026-11-17T09:14:00Z")
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Returns a NodeClaim of pool `default` with image 202601.27.0, launched ten minutes ago.
pub(crate) fn node(name: &str, state: JoinState) -> Node {
    Node {
        uid: format!("uid-{name}"),
        node_claim: Some(name.to_owned()),
        node: Some(format!("aks-{name}")),
        pool: Some("default".into()),
        pool_kind: PoolKind::NodePool,
        image: Some("AKSAzureLinux/V3gen2/202601.27.0".into()),
        state,
        exists: true,
        created_at: Some(at("2026-11-17T09:04:00Z")),
        launched_at: Some(at("2026-11-17T09:04:00Z")),
        ..Node::default()
    }
}

pub(crate) fn failure(cause: &str) -> NodeFailure {
    NodeFailure {
        cause: cause.to_owned(),
        summary: "it failed".to_owned(),
        condition_reason: "CSEFailed".to_owned(),
        message: "It failed.".to_owned(),
        reported: None,
        effective: None,
        stage: "bootstrap",
        owner: None,
        confidence: None,
        evidence: Vec::new(),
        is_confirmed: true,
        failed_at: Some(at("2026-11-17T09:06:00Z")),
        reported_at: None,
    }
}

pub(crate) fn failed_node(name: &str, cause: &str) -> Node {
    Node { failure: Some(failure(cause).into()), ..node(name, JoinState::Failed) }
}

/// Returns a node with another image, which is `AKSAzureLinux/V3gen2/VERSION`.
pub(crate) fn with_image(node: Node, version: &str) -> Node {
    Node { image: Some(format!("AKSAzureLinux/V3gen2/{version}").into()), ..node }
}

/// Returns the facts of cluster `demo`, whose controller runs, and which was read with Azure.
pub(crate) fn facts(nodes: impl IntoIterator<Item = Node>) -> ClusterFacts {
    let read = |name| Source {
        state: SourceState::Read,
        at: Some(now()),
        seconds: Some(0.25),
        ..Source::new(name)
    };
    let names = [SourceName::Cluster, SourceName::Record, SourceName::Azure];
    let nodes = nodes.into_iter().map(|node| Node { azure: Reading::Known(()), ..node });
    ClusterFacts {
        identity: ClusterIdentity { name: Some("demo".to_owned()), ..ClusterIdentity::default() },
        region: None,
        version: None,
        inventory: Inventory {
            nodes: nodes.collect(),
            reads: Reads::complete(),
            ..Inventory::default()
        },
        karpenter: karpenter(["default"]),
        has_karpenter: true,
        lost: Vec::new(),
        controller: ControllerState {
            state: "running",
            leader: Some("mooring-1".to_owned()),
            ..ControllerState::unknown("mooring-system".to_owned())
        },
        record: Some(Arc::new(RecordDocument {
            schema: SCHEMA.to_owned(),
            pools: BTreeMap::new(),
            dropped: 0,
        })),
        runs: Vec::new(),
        sources: names.map(read).to_vec(),
        warnings: Vec::new(),
        now: now(),
    }
}

/// Returns NodePools with these names, and nothing else.
pub(crate) fn karpenter<const N: usize>(pools: [&str; N]) -> Karpenter {
    let pool = |name: &str| NodePool { name: name.to_owned(), ..NodePool::default() };
    Karpenter { node_pools: Some(pools.map(pool).to_vec()), ..Karpenter::default() }
}

/// Returns a cluster with these facts, whose API server has nothing.
pub(crate) fn cluster(facts: ClusterFacts) -> ConnectedCluster {
    let client = Server::default().client();
    ConnectedCluster {
        facts,
        api: mooring_controller::run::Api::new(client.clone()),
        client: mooring_k8s::Client::new(client),
        scope: None,
        named: NamedCluster::default(),
    }
}

/// Returns a report of Azure without a failure.
pub(crate) fn report(node: &str, pool: Option<&str>, reason: ConditionReason) -> NodeReport {
    NodeReport {
        node: node.to_owned(),
        claim: None,
        pool: pool.map(str::to_owned),
        image: None,
        joined: Some(false),
        cse_succeeded: reason == ConditionReason::CseSucceeded,
        verdict: Verdict::plain(reason, "The bootstrap is running."),
        source: ReportSource::Azure,
        earlier: None,
    }
}

#[derive(clap::Parser)]
struct Flags {
    #[command(flatten)]
    read: ReadArguments,
}

/// Parses the flags of commands that read a cluster.
pub(crate) fn read_arguments(words: &[&str]) -> ReadArguments {
    Flags::parse_from([&["mooring"], words].concat()).read
}

pub(crate) fn source_arguments(words: &[&str]) -> SourceArguments {
    read_arguments(words).sources
}

/// Returns what a pipe shows.
pub(crate) fn piped(screen: &Screen) -> String {
    screen.render(&Style::PIPE)
}

/// An API server: responses by path and query. Others are 404.
#[derive(Clone, Default)]
pub(crate) struct Server {
    responses: Arc<Mutex<Vec<(String, u16, String)>>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Adds a response; the body of an error is its message. Of several for one path, each is sent once, except the
    /// last one.
    pub(crate) fn with(self, path: &str, status: u16, body: impl Into<String>) -> Self {
        self.responses.lock().unwrap().push((path.to_owned(), status, body.into()));
        self
    }

    /// Returns paths and queries of the requests.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    fn response(&self, path: &str) -> (u16, String) {
        self.requests.lock().unwrap().push(path.to_owned());
        let mut responses = self.responses.lock().unwrap();
        let mut of_path = responses.iter().enumerate().filter(|(_, one)| one.0 == path);
        let Some((at, (_, status, body))) = of_path.next() else {
            return (404, error(404, "not found"));
        };
        let body = if *status < 400 { body.clone() } else { error(*status, body) };
        let found = (*status, body);
        if of_path.next().is_some() {
            responses.remove(at);
        }
        found
    }

    /// Returns a client; it needs the runtime of the test.
    pub(crate) fn client(&self) -> kube::Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let path = request.uri().path_and_query().map_or_else(String::new, ToString::to_string);
            let (status, body) = server.response(&path);
            async move { Response::builder().status(status).body(Body::from(body.into_bytes())) }
        });
        kube::Client::new(service, "default")
    }
}

fn error(code: u16, message: &str) -> String {
    let status =
        serde_json::json!({"status": "Failure", "message": message, "reason": "", "code": code});
    status.to_string()
}
