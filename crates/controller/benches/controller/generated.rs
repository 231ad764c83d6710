//! An API server without storage: its lists are generated while they are read, so that the memory of this
//! process is the controller's.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use http_body_util::BodyExt;
use mooring_controller::Settings;
use mooring_controller::metrics::Metrics;
use mooring_controller::run::{Clock, Controller, Health};
use mooring_k8s::Times;
use mooring_simulator::cluster::{ClusterOptions, Shell, SimulatedCluster};
use mooring_simulator::kubernetes::Clock as Virtual;
use mooring_simulator::scenario::Scenario;
use serde_json::{Value, json};

type Body = http_body_util::combinators::UnsyncBoxBody<bytes::Bytes, std::convert::Infallible>;

#[derive(Clone)]
struct Generated {
    count: u64,
}

/// A NodeClaim of realistic size: about 3.5 KB.
fn claim(number: u64) -> Value {
    let at = "2026-11-15T03:00:00Z";
    let condition = |kind: &str| json!({"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": at, "observedGeneration": 1});
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {
            "name": format!("default-{number:x}"), "uid": format!("00000000-0000-4000-8000-{number:012x}"),
            "resourceVersion": format!("{}", 1000 + number), "generation": 1, "creationTimestamp": at,
            "labels": {
                "karpenter.sh/nodepool": format!("pool-{}", number % 20), "karpenter.sh/capacity-type": "on-demand",
                "node.kubernetes.io/instance-type": "Standard_D4s_v5", "topology.kubernetes.io/zone": format!("westeurope-{}", number % 3),
                "karpenter.azure.com/sku-family": "D", "karpenter.azure.com/sku-version": "5", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
            },
            "annotations": {"karpenter.sh/nodepool-hash": "1234567890123456789", "karpenter.azure.com/aksnodeclass-hash": "1234567890123456789"},
            "finalizers": ["karpenter.sh/termination"],
            "managedFields": [{"manager": "karpenter", "operation": "Update", "apiVersion": "karpenter.sh/v1", "time": at, "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:annotations": {".": {}, "f:karpenter.sh/nodepool-hash": {}}, "f:labels": {".": {}, "f:karpenter.sh/nodepool": {}}}, "f:spec": {".": {}, "f:nodeClassRef": {}, "f:requirements": {}, "f:resources": {}}}}],
        },
        "spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": (0..12).map(|n| json!({"key": format!("karpenter.azure.com/requirement-{n}"), "operator": "In", "values": ["one", "two", "three"]})).collect::<Vec<_>>(),
            "resources": {"requests": {"cpu": "1500m", "memory": "3Gi", "pods": "30"}},
        },
        "status": {
            "nodeName": format!("aks-default-{number:x}"),
            "providerID": format!("azure:///subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/mc_rg-demo_demo_westeurope/providers/Microsoft.Compute/virtualMachines/aks-default-{number:x}"),
            "imageID": "/CommunityGalleries/AKSAzureLinux-0000/images/V3gen2/versions/202601.13.0",
            "capacity": {"cpu": "4", "memory": "16Gi", "ephemeral-storage": "128G", "pods": "250"},
            "allocatable": {"cpu": "3860m", "memory": "13Gi", "ephemeral-storage": "128G", "pods": "250"},
            "conditions": [condition("Launched"), condition("Registered"), condition("Initialized"), condition("Ready"),
                {"type": "CSEProvisioned", "status": "True", "reason": "CSESucceeded", "message": "CSE succeeded.", "lastTransitionTime": at, "observedGeneration": 1}],
        },
    })
}

impl Generated {
    fn answer(&self, method: &http::Method, uri: &http::Uri, sent: &[u8]) -> (u16, Value) {
        let (path, query) = (uri.path(), uri.query().unwrap_or_default());
        let parameter = |name: &str| {
            query
                .split('&')
                .find_map(|part| part.strip_prefix(name)?.strip_prefix('=')?.parse::<u64>().ok())
        };
        if method != http::Method::GET {
            return (200, serde_json::from_slice(sent).unwrap());
        }
        if path.contains("/leases/") || path.contains("/configmaps/") {
            let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404, "reason": "NotFound", "message": "not found"});
            return (404, status);
        }
        let mut list = json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1000000"}, "items": []});
        if path.ends_with("/nodeclaims") {
            let from = parameter("continue").unwrap_or_default();
            let to = (from + parameter("limit").unwrap_or(500)).min(self.count);
            list["items"] = (from..to).map(claim).collect();
            if to < self.count {
                list["metadata"]["continue"] = json!(to.to_string());
            }
        }
        (200, list)
    }
}

impl tower::Service<http::Request<kube::client::Body>> for Generated {
    type Response = http::Response<Body>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<kube::client::Body>) -> Self::Future {
        let own = self.clone();
        async move {
            let (head, body) = request.into_parts();
            let sent = body.collect().await?.to_bytes();
            if head.uri.query().is_some_and(|query| query.contains("watch=true")) {
                // No watch event.
                let silence = http_body_util::StreamBody::new(futures::stream::pending());
                return Ok(http::Response::new(BodyExt::boxed_unsync(silence)));
            }
            let (status, value) = own.answer(&head.method, &head.uri, &sent);
            let body = http_body_util::Full::new(bytes::Bytes::from(value.to_string()));
            let mut response = http::Response::new(BodyExt::boxed_unsync(body));
            *response.status_mut() = http::StatusCode::from_u16(status)?;
            Ok(response)
        }
        .boxed()
    }
}

/// Prints the resident memory in KiB, now and at most, once all NodeClaims are known and the replica leads.
pub(crate) async fn memory(count: u64) {
    let start = "2026-11-15T05:00:00Z".parse().unwrap();
    let virtual_time = Virtual::starting_at(start);
    let clock: Clock = Arc::new(move || virtual_time.now());
    let options = ClusterOptions { workloads: false, ..ClusterOptions::default() };
    let shell =
        Shell::new(SimulatedCluster::new(&Scenario::named("healthy").unwrap(), 1, start, options));
    let health = Arc::new(Health::new(clock()));
    let controller = Controller {
        kube: kube::Client::new(Generated { count }, "default"),
        arm: crate::azure::client(&shell),
        clock: Arc::clone(&clock),
        settings: Settings::default(),
        namespace: "mooring-system".to_owned(),
        times: Times::default(),
        metrics: Arc::new(Metrics::new()),
        health: Arc::clone(&health),
    };
    let metrics = Arc::clone(&controller.metrics);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(controller.run(async move {
        let _ = stopped.await;
    }));
    for _ in 0..600 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        if metrics.text().contains(&format!("mooring_queue_length{{kind=\"claims\"}} {count}\n")) {
            break;
        }
    }
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert!(metrics.text().contains(&format!("kind=\"claims\"}} {count}\n")), "{}", metrics.text());
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let kib = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    println!("{} {}", kib("VmRSS:"), kib("VmHWM:"));
    drop(stop);
    let _ = tokio::time::timeout(Duration::from_secs(30), running).await;
}
