//! Events that `kubectl describe` shows: the uid of their object is always set, and its namespace never is,
//! except on servers that require it.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use mooring_simulator::cluster::Shell;
use mooring_simulator::exchange::{Request, ServerReply};
use mooring_simulator::faults::ServiceName;
use mooring_simulator::karpenter::KarpenterOptions;
use mooring_simulator::serve::{self, CertificateAuthority};
use mooring_simulator::{cluster as world, kubernetes};
use mooring_testbed::{find_kubectl, require};
use serde_json::{Value, json};

use crate::run::cluster::Cluster;
use crate::run::modes::Provisioning;

const NOTE: &str = "CSE exited with code 211";

/// A failing image, whose NodeClaims stay for an hour.
fn failing() -> world::ClusterOptions {
    let karpenter = KarpenterOptions { linger_seconds: 3600, ..Provisioning::Extension.failing() };
    world::ClusterOptions {
        karpenter: Some(karpenter),
        workloads: false,
        ..world::ClusterOptions::default()
    }
}

/// Runs the controller until `claims` NodeClaims have failed.
async fn failed(cluster: &Cluster, claims: usize) {
    let replica = cluster.start("a");
    cluster.pass(5).await;
    for number in 1..=claims {
        cluster.claim(&format!("default-x{number}"));
    }
    cluster.pass(600).await;
    replica.stop().await;
}

/// Returns Mooring's events in the form of the core API.
fn stored(cluster: &Cluster) -> Vec<Value> {
    cluster.shell.with(|world, _| {
        let events = world.kubernetes().objects("events", Some("default")).cloned();
        events.filter(|event| event["reportingComponent"] == "mooring").collect()
    })
}

fn uid(cluster: &Cluster, resource: &str, name: &str) -> Value {
    cluster.shell.with(|world, _| {
        let key = kubernetes::Key::new(None, name);
        world.kubernetes().get(resource, &key).unwrap()["metadata"]["uid"].clone()
    })
}

#[tokio::test(start_paused = true)]
async fn events_have_the_uid_of_their_object_and_no_namespace() {
    for how in Provisioning::ALL {
        let cluster = Cluster::new(false, how.failing());
        let replica = cluster.start("a");
        cluster.pass(5).await;
        cluster.provision(how, "default-x1").await;
        let pool = uid(&cluster, "nodepools.karpenter.sh", "default");
        let claim = uid(&cluster, "nodeclaims.karpenter.sh", "default-x1");
        cluster.pass(how.timeout_seconds()).await;
        let events = stored(&cluster);
        assert_eq!(events.len(), 2, "{how:?}: {events:?}");
        for event in events {
            let about = &event["involvedObject"];
            assert_eq!(about.get("namespace"), None, "{about}");
            let expected = if about["kind"] == "NodePool" { &pool } else { &claim };
            assert_eq!(&about["uid"], expected, "{how:?}: {about}");
        }
        replica.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn unknown_uid_is_read() {
    let cluster = Cluster::of(failing());
    let fault = json!({"when": {"path": "*/nodepools"}, "then": {"status": {"status": 500}}});
    let rule = serde_json::from_value(fault).unwrap();
    cluster.shell.with(|world, _| world.kubernetes_mut().add_fault(rule));
    failed(&cluster, 1).await;
    let events = stored(&cluster);
    let on_pool = events.iter().find(|event| event["involvedObject"]["kind"] == "NodePool");
    let expected = uid(&cluster, "nodepools.karpenter.sh", "default");
    assert_eq!(on_pool.unwrap()["involvedObject"]["uid"], expected);
}

#[tokio::test(start_paused = true)]
async fn event_about_a_missing_pool_is_not_sent() {
    let cluster = Cluster::of(failing());
    cluster.shell.with(|world, now| {
        let key = kubernetes::Key::new(None, "default");
        world.kubernetes_mut().delete("nodepools.karpenter.sh", &key, now).unwrap();
    });
    failed(&cluster, 1).await;
    let kinds: Vec<Value> =
        stored(&cluster).iter().map(|event| event["involvedObject"]["kind"].clone()).collect();
    assert_eq!(kinds, ["NodeClaim"]);
}

#[tokio::test(start_paused = true)]
async fn server_before_1_23_gets_events_with_a_namespace() {
    let cluster = Cluster::of(failing());
    // Such a server refuses an event about an object without a namespace in these words.
    let why = "Event \"e\" is invalid: involvedObject.namespace: Invalid value: \"\": does not match event.namespace";
    let fault = json!({
        "when": {"method": "POST", "path": "/apis/events.k8s.io/*"}, "times": 1,
        "then": {"status": {"status": 422, "code": why}},
    });
    let rule = serde_json::from_value(fault).unwrap();
    cluster.shell.with(|world, _| world.kubernetes_mut().add_fault(rule));
    failed(&cluster, 3).await;
    let events = stored(&cluster);
    assert_eq!(events.len(), 6, "{events:?}");
    // What was in flight with the refused one needs no namespace here.
    assert!(events.iter().any(|event| event["involvedObject"]["namespace"] == "default"));
}

/// The simulated API server on a socket.
struct Served(Shell);

impl serve::Service for Served {
    fn call(&self, request: Request) -> BoxFuture<'static, ServerReply> {
        std::future::ready(self.0.handle(ServiceName::Kubernetes, &request)).boxed()
    }
}

/// Runs the real kubectl as cluster administrator.
async fn kubectl(program: &Path, directory: &Path, words: &[&str]) -> String {
    let child = tokio::process::Command::new(program)
        .args(words)
        .env("KUBECONFIG", directory.join("kubeconfig"))
        .env("HOME", directory)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_mins(2), child).await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}{text}", String::from_utf8_lossy(&output.stderr));
    text
}

#[tokio::test(start_paused = true)]
async fn kubectl_describe_shows_events_of_nodeclaim_and_nodepool() {
    let Some(program) = require(find_kubectl(), "kubectl") else { return };
    let cluster = Cluster::of(failing());
    failed(&cluster, 1).await;
    // From here on time is real: another process sends requests.
    tokio::time::resume();
    let authority = CertificateAuthority::new().unwrap();
    let tls = authority.server(&["127.0.0.1"], &["h2", "http/1.1"]).unwrap();
    let listener = serve::listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let served = tokio::spawn(serve::serve(listener, tls, Arc::new(Served(cluster.shell.clone()))));
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("ca.pem"), authority.pem()).unwrap();
    let token = cluster.shell.with(|world, _| world.options().token.expose().to_owned());
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "model",
        "contexts": [{"name": "model", "context": {"cluster": "model", "user": "admin"}}],
        "clusters": [{"name": "model", "cluster": {"server": url, "certificate-authority": "ca.pem"}}],
        "users": [{"name": "admin", "user": {"token": token}}],
    });
    std::fs::write(directory.path().join("kubeconfig"), config.to_string()).unwrap();
    for (kind, name) in [("nodeclaim", "default-x1"), ("nodepool", "default")] {
        let shown = kubectl(&program, directory.path(), &["describe", kind, name]).await;
        let (_, events) = shown.split_once("\nEvents:").unwrap_or_else(|| panic!("{shown}"));
        assert!(events.contains("mooring") && events.contains(NOTE), "{kind}: {events}");
    }
    served.abort();
}
