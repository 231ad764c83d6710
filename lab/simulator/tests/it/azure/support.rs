//! A client in process, under virtual time.

use std::collections::VecDeque;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use mooring_simulator::azure::{Azure, AzureOptions, Rights};
use mooring_simulator::exchange::{Request, ServerReply};
use mooring_simulator::scenario::Scenario;
use serde_json::Value;

pub(crate) const CLUSTER: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg-demo/providers/Microsoft.ContainerService/managedClusters/demo";
pub(crate) const COMPUTE: &str = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/MC_rg-demo_demo_westeurope/providers/Microsoft.Compute";

/// Azure with a token and a clock that the test sets.
pub(crate) struct Harness {
    pub(crate) azure: Azure,
    pub(crate) now: Timestamp,
    token: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) headers: http::HeaderMap,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Returns the error code in either form.
    pub(crate) fn code(&self) -> &str {
        let code = self.body.pointer("/error/code").or(self.body.get("code"));
        code.and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn text(&self, pointer: &str) -> &str {
        self.body.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }
}

impl Harness {
    pub(crate) fn new(scenario: &str) -> Self {
        Self::with(scenario, 1, AzureOptions::default())
    }

    /// Returns a fixture whose calls have only the permissions of the shipped roles.
    pub(crate) fn shipped(scenario: &Scenario) -> Self {
        Self::of(scenario, 1, AzureOptions::default())
    }

    pub(crate) fn with(scenario: &str, seed: u64, options: AzureOptions) -> Self {
        let scenario = Scenario::named(scenario).unwrap();
        Self::of(&scenario, seed, AzureOptions { rights: Rights::Owner, ..options })
    }

    fn of(scenario: &Scenario, seed: u64, options: AzureOptions) -> Self {
        let now: Timestamp = "2026-02-01T12:00:00Z".parse().unwrap();
        let azure = scenario.build(seed, now, options);
        let token = azure.token("https://management.azure.com/", now);
        Self { azure, now, token }
    }

    pub(crate) fn pass(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
        self.azure.settle(self.now);
    }

    pub(crate) fn outcome(
        &mut self,
        method: &str,
        target: &str,
        body: Option<&Value>,
    ) -> ServerReply {
        self.outcome_with(method, target, body, &[])
    }

    pub(crate) fn outcome_with(
        &mut self,
        method: &str,
        target: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> ServerReply {
        // A client signs in again before its token expires.
        self.token = self.azure.token("https://management.azure.com/", self.now);
        let mut request = http::Request::builder()
            .method(method)
            .uri(target)
            .header("authorization", format!("Bearer {}", self.token));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let request: Request = request.body(body).unwrap();
        self.azure.handle(&request, self.now)
    }

    pub(crate) fn call(&mut self, method: &str, target: &str, body: Option<&Value>) -> Reply {
        seen(self.outcome(method, target, body))
    }

    pub(crate) fn get(&mut self, path: &str) -> Reply {
        let mark = if path.contains('?') { '&' } else { '?' };
        // Only previews have operations.
        let version =
            if path.contains("/operations") { "2026-04-02-preview" } else { "2025-02-01" };
        self.call("GET", &format!("{path}{mark}api-version={version}"), None)
    }

    pub(crate) fn put(&mut self, path: &str, body: &Value) -> Reply {
        self.call("PUT", &format!("{path}?api-version=2025-02-01"), Some(body))
    }

    pub(crate) fn delete(&mut self, path: &str) -> Reply {
        self.call("DELETE", &format!("{path}?api-version=2025-02-01"), None)
    }

    pub(crate) fn post(&mut self, path: &str) -> Reply {
        self.call("POST", &format!("{path}?api-version=2025-02-01"), None)
    }

    /// Requests the operation of a response.
    pub(crate) fn follow(&mut self, answer: &Reply) -> Reply {
        let link = answer.header("azure-asyncoperation").to_owned();
        let target =
            link.strip_prefix("https://management.azure.com").expect("a link of this endpoint");
        self.call("GET", target, None)
    }

    pub(crate) fn pool_state(&mut self, pool: &str) -> String {
        self.get(&format!("{CLUSTER}/agentPools/{pool}"))
            .text("/properties/provisioningState")
            .to_owned()
    }

    pub(crate) fn vmss(&mut self, pool: &str) -> Option<Value> {
        let listed = self.get(&format!("{COMPUTE}/virtualMachineScaleSets"));
        let mut sets: VecDeque<Value> =
            listed.body["value"].as_array().unwrap().iter().cloned().collect();
        sets.retain(|set| set["tags"]["aks-managed-poolName"] == pool);
        sets.pop_front()
    }
}

pub(crate) fn seen(outcome: ServerReply) -> Reply {
    let ServerReply::Answer(response) = outcome else { panic!("no answer: {outcome:?}") };
    let (head, body) = response.into_parts();
    let bytes = body.bytes();
    let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
    Reply { status: head.status.as_u16(), body, headers: head.headers }
}
