use std::time::Duration;

use mooring_controller::run::ApiError;
use mooring_k8s::kubeconfig::Connection;
use mooring_nodes::ControllerState;
use mooring_workflow::published::{SourceName, SourceState};

use super::read_connected;
use super::record::{parse_counts, parse_record};
use crate::cluster::azure::ConnectedCluster;
use crate::cluster::follow::Lists;
use crate::fixtures::{Server, at, source_arguments};
use crate::output::failure::CommandFailure;

const NODES: &str = "/api/v1/nodes?limit=500";
const CACHED_CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims?resourceVersion=0";
const DENIED: &str = "not allowed";

fn config_map(document: &str) -> String {
    let data = serde_json::json!({"failures.json": document, "counts.json": document});
    serde_json::json!({"data": data}).to_string()
}

fn failures(more: &str) -> String {
    config_map(&format!(r#"{{"schema": "mooring.failures/v1", "pools": {{}}{more}}}"#))
}

async fn read_from(server: &Server) -> Result<ConnectedCluster, CommandFailure> {
    let connection = Connection {
        client: server.client(),
        context: None,
        cluster: Some("of-kubeconfig".to_owned()),
        server: "https://demo:443".to_owned(),
    };
    let arguments = source_arguments(&["--namespace", "ops", "--azure", "never"]);
    Box::pin(read_connected(&connection, &Lists::Read, &arguments)).await
}

#[tokio::test]
async fn cluster_without_karpenter_and_record_is_read() {
    let node = r#"{"metadata": {"name": "n", "labels": {"topology.kubernetes.io/region": "we"}}}"#;
    let server = Server::default()
        .with(NODES, 200, format!(r#"{{"items": [{node}]}}"#))
        .with("/version", 200, r#"{"gitVersion": "v1.33.5"}"#)
        .with("/api/v1/namespaces/kube-system", 200, r#"{"metadata": {"uid": "u"}}"#);
    let facts = read_from(&server).await.unwrap().facts;
    assert!(!facts.has_karpenter && facts.warnings.is_empty(), "{:?}", facts.warnings);
    assert_eq!((facts.region.as_deref(), facts.version.as_deref()), (Some("we"), Some("v1.33.5")));
    assert_eq!(facts.identity.uid.as_deref(), Some("u"));
    assert_eq!(facts.controller.namespace, "ops");
    let [cluster, record, karpenter, azure] = facts.sources.as_slice() else {
        panic!("{:?}", facts.sources)
    };
    assert_eq!((karpenter.name, karpenter.state), (SourceName::Karpenter, SourceState::Absent));
    assert_eq!((cluster.state, cluster.at), (SourceState::Read, Some(facts.now)));
    assert!(cluster.seconds.is_some());
    let states = (record.state, azure.state);
    assert_eq!(states, (SourceState::Absent, SourceState::NotAsked));
}

#[tokio::test]
async fn objects_that_may_not_be_read_are_warnings() {
    let pools = "/apis/karpenter.sh/v1/nodepools?limit=500";
    let named = r#"{"items": [{"metadata": {"name": "default"}}]}"#;
    let server = |status, nodes| {
        let server = Server::default().with(CACHED_CLAIMS, 403, DENIED);
        server.with(pools, 200, named).with(NODES, status, nodes)
    };
    let facts = read_from(&server(200, r#"{"items": []}"#)).await.unwrap().facts;
    assert!(facts.has_karpenter);
    assert_eq!(facts.karpenter.pool_names().collect::<Vec<_>>(), ["default"]);
    assert_eq!(facts.warnings, ["NodeClaims were not read: not allowed"]);
    let failure = read_from(&server(403, DENIED)).await.err().unwrap();
    assert!(failure.text().starts_with("cannot read nodes: "), "{}", failure.text());
}

fn denied() -> ApiError {
    ApiError { status: Some(403), what: "not allowed".to_owned(), is_untrusted: false }
}

fn absent() -> ApiError {
    ApiError { status: Some(404), what: "not found".to_owned(), is_untrusted: false }
}

#[test]
fn record_is_as_current_as_its_leader() {
    let renewed = Some(at("2026-11-17T09:13:59Z"));
    let read = |state, read| {
        let controller = ControllerState {
            state,
            renewed_at: renewed,
            ..ControllerState::unknown("ops".to_owned())
        };
        let mut warnings = Vec::new();
        let took = Duration::from_millis(1500);
        let (record, source) = parse_record(read, took, &controller, &mut warnings);
        assert_eq!((source.at, source.seconds), (renewed, Some(1.5)));
        assert_eq!(source.error.is_some(), !warnings.is_empty());
        (record.is_known(), source.state, warnings.join(" "))
    };
    let none = String::new;
    let json = |text: String| Ok(serde_json::from_str(&text).unwrap());
    let text = || json(failures(""));
    assert_eq!(read("running", text()), (true, SourceState::Read, none()));
    assert_eq!(read("late", text()), (true, SourceState::Stale, none()));
    assert_eq!(read("running", Err(absent())), (false, SourceState::Absent, none()));
    let warning = "the failure record was not read: not allowed".to_owned();
    assert_eq!(read("running", Err(denied())), (false, SourceState::Failed, warning));
    let (is_read, state, warning) = read("running", json(config_map("[")));
    assert_eq!((is_read, state), (false, SourceState::Failed));
    assert!(warning.starts_with("the failure record was not read: "), "{warning}");
}

#[tokio::test]
async fn source_that_may_not_be_read_has_failed() {
    let maps = |name: &str| format!("/api/v1/namespaces/ops/configmaps/{name}");
    let nodes = || Server::default().with(NODES, 200, r#"{"items": []}"#);
    let read = async |server: Server| {
        let facts = read_from(&server).await.unwrap().facts;
        let sources = facts.sources[..2].iter();
        let sources = sources.map(|source| (source.state, source.error.clone()));
        (sources.collect::<Vec<_>>(), facts.warnings)
    };
    let failed = |text: &str| (SourceState::Failed, Some(text.to_owned()));
    let is_read = (SourceState::Read, None);
    let (sources, warnings) = read(nodes().with(&maps("mooring-failures"), 403, DENIED)).await;
    assert_eq!(sources, [is_read.clone(), failed("not allowed")]);
    assert_eq!(warnings, ["the failure record was not read: not allowed"]);
    let (sources, warnings) = read(nodes().with(&maps("mooring-counts"), 403, DENIED)).await;
    assert_eq!(sources, [is_read, failed("not allowed")]);
    assert_eq!(warnings, ["the counts were not read: not allowed"]);
    // As an empty object, it would be a record without failures.
    let (sources, _) = read(nodes().with(&maps("mooring-failures"), 200, "{\"data\"")).await;
    assert_eq!(sources[1], failed("the response is not valid JSON"));
    let (sources, warnings) = read(nodes().with(CACHED_CLAIMS, 403, DENIED)).await;
    let claims = "NodeClaims were not read: not allowed";
    assert_eq!(sources, [failed(claims), (SourceState::Absent, None)]);
    assert_eq!(warnings, [claims]);
}

#[test]
fn counts_are_absent_or_unreadable() {
    assert_eq!(parse_counts(Err(absent())), Ok(None));
    assert_eq!(parse_counts(Err(denied())), Err("not allowed".to_owned()));
    assert!(parse_counts(Ok(serde_json::json!({"data": {"counts.json": "["}}))).is_err());
}
