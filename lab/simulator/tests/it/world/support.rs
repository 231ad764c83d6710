//! A simulation whose time the test sets.

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use mooring_simulator::cluster::{ClusterOptions, SimulatedCluster};
use mooring_simulator::exchange::{Request, ServerReply};
use mooring_simulator::faults::ServiceName;
use mooring_simulator::kubernetes::Key;
use mooring_simulator::scenario::Scenario;
use serde_json::Value;

pub(crate) const NODE_CLAIMS: &str = "nodeclaims.karpenter.sh";

/// Start time of all tests.
pub(crate) fn start() -> Timestamp {
    "2026-11-15T08:00:00Z".parse().unwrap()
}

pub(crate) struct Harness {
    pub(crate) world: SimulatedCluster,
    pub(crate) now: Timestamp,
}

impl Harness {
    pub(crate) fn new(scenario: &str, options: ClusterOptions) -> Self {
        let scenario = Scenario::named(scenario).unwrap();
        Self { world: SimulatedCluster::new(&scenario, 7, start(), options), now: start() }
    }

    pub(crate) fn pass(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
        self.world.settle(self.now);
    }

    /// Returns status and body of one response.
    fn ask(&mut self, service: ServiceName, request: &Request) -> (u16, Value) {
        match self.world.handle(service, request, self.now) {
            ServerReply::Answer(response) => {
                let body = serde_json::from_slice(&response.body().bytes()).unwrap_or_default();
                (response.status().as_u16(), body)
            }
            other => panic!("no answer: {other:?}"),
        }
    }

    pub(crate) fn arm(&mut self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let azure = self.world.azure();
        let token = azure.token(&azure.options().endpoint, self.now);
        let version = if path.contains('?') { "" } else { "?api-version=2025-10-01" };
        let request = http::Request::builder()
            .method(method)
            .uri(format!("{path}{version}"))
            .header("authorization", format!("Bearer {token}"))
            .body(Bytes::from(body.to_owned()))
            .unwrap();
        self.ask(ServiceName::Arm, &request)
    }

    pub(crate) fn kube(
        &mut self,
        method: &str,
        path: &str,
        token: &str,
        kind: &str,
        body: &str,
    ) -> (u16, Value) {
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", kind)
            .body(Bytes::from(body.to_owned()))
            .unwrap();
        self.ask(ServiceName::Kubernetes, &request)
    }

    pub(crate) fn get(&self, resource: &str, name: &str) -> Option<&Value> {
        self.world.kubernetes().get(resource, &Key::new(None, name))
    }

    /// Returns the node names of a pool, each with true if it is Ready.
    pub(crate) fn nodes(&self, pool: &str) -> Vec<(String, bool)> {
        self.world
            .kubernetes()
            .objects("nodes", None)
            .filter(|node| node["metadata"]["labels"]["agentpool"] == pool)
            .map(|node| {
                let name = node["metadata"]["name"].as_str().unwrap().to_owned();
                (name, condition(node, "Ready").is_some_and(|one| one["status"] == "True"))
            })
            .collect()
    }

    /// Returns the node of each pod of a workload.
    pub(crate) fn places(&self, name: &str) -> Vec<String> {
        self.world
            .kubernetes()
            .objects("pods", Some("kube-system"))
            .filter(|pod| pod["metadata"]["name"].as_str().unwrap().starts_with(name))
            .filter(|pod| pod["status"]["phase"] == "Running")
            .map(|pod| pod["spec"]["nodeName"].as_str().unwrap().to_owned())
            .collect()
    }

    pub(crate) fn pool(&self, name: &str) -> String {
        format!("{}/agentPools/{name}", self.world.azure().options().cluster_id())
    }
}

pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    object["status"]["conditions"].as_array()?.iter().find(|one| one["type"] == kind)
}
