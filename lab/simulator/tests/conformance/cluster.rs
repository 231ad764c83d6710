//! A cluster as a case sees it: requests as one user, under names that no other case uses.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http_body_util::BodyExt as _;
use kube::Client;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::case::Generation;
use crate::target::Target;
use crate::watch::Watch;

/// Timeout of a request.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Media type of a patch.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Patch {
    Json,
    Merge,
    Strategic,
}

impl Patch {
    fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json-patch+json",
            Self::Merge => "application/merge-patch+json",
            Self::Strategic => "application/strategic-merge-patch+json",
        }
    }
}

/// A cluster, for one case and one user.
#[derive(Clone)]
pub(crate) struct Cluster {
    target: &'static Target,
    client: Client,
    prefix: String,
    generation: Generation,
}

impl Cluster {
    pub(crate) fn new(target: &'static Target, case: &str, generation: Generation) -> Self {
        Self { target, client: target.client("admin"), prefix: prefix(case), generation }
    }

    /// Returns a client of another user, without permissions at first.
    pub(crate) fn as_user(&self, user: &str) -> Self {
        Self { client: self.target.client(user), ..self.clone() }
    }

    /// Returns a client of the older generation of NodeClaims.
    pub(crate) fn on_atomic(&self) -> Self {
        Self { generation: Generation::Atomic, ..self.clone() }
    }

    /// Returns true for a server that is older than this minor version of Kubernetes.
    pub(crate) fn is_before(&self, minor: u32) -> bool {
        self.target.minor < minor
    }

    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    pub(crate) fn name(&self, what: &str) -> String {
        format!("{}-{what}", self.prefix)
    }

    /// Creates a namespace for the case and returns its path.
    pub(crate) async fn namespace(&self) -> String {
        let name = self.name("ns");
        self.post("/api/v1/namespaces", &json!({"metadata": {"name": name}})).await.is(201);
        format!("/api/v1/namespaces/{name}")
    }

    /// Returns the path of NodeClaims, of the case's generation.
    pub(crate) fn claims(&self) -> String {
        format!("/apis/{}/nodeclaims", self.generation.api_version())
    }

    pub(crate) fn claim(&self, what: &str) -> Value {
        json!({
            "apiVersion": self.generation.api_version(),
            "kind": "NodeClaim",
            "metadata": {"name": self.name(what)},
            "spec": {
                "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                "requirements": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["default"]}],
            },
        })
    }

    /// Creates a NodeClaim; returns its path and the server's object.
    pub(crate) async fn new_claim(&self, what: &str) -> (String, Value) {
        let made = self.post(&self.claims(), &self.claim(what)).await.is(201);
        (format!("{}/{}", self.claims(), self.name(what)), made)
    }

    /// Creates a NodeClaim with these condition types, all `Unknown`.
    pub(crate) async fn claim_with_conditions(&self, types: &[&str]) -> (String, Value) {
        let (path, _) = self.new_claim("claim").await;
        let conditions: Vec<Value> = types.iter().map(|kind| condition(kind, "Unknown")).collect();
        let patch = json!({"status": {"conditions": conditions}});
        let claim = self.patch(Patch::Merge, &format!("{path}/status"), &patch).await.is(200);
        (path, claim)
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, None, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("POST", path, Some("application/json"), Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Answer {
        self.call("PUT", path, Some("application/json"), Some(body)).await
    }

    pub(crate) async fn patch(&self, patch: Patch, path: &str, body: &Value) -> Answer {
        self.call("PATCH", path, Some(patch.content_type()), Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.call("DELETE", path, None, None).await
    }

    pub(crate) async fn delete_with(&self, path: &str, options: &Value) -> Answer {
        self.call("DELETE", path, Some("application/json"), Some(options)).await
    }

    pub(crate) async fn call(
        &self,
        method: &str,
        path: &str,
        content_type: Option<&str>,
        body: Option<&Value>,
    ) -> Answer {
        let bytes = body.map(Value::to_string).unwrap_or_default();
        self.send(method, path, content_type, "application/json", bytes).await
    }

    /// Sends a request with any body and `Accept` header.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        content_type: Option<&str>,
        accept: &str,
        body: String,
    ) -> Answer {
        let mut request = http::Request::builder().method(method).uri(path).header(ACCEPT, accept);
        if let Some(content_type) = content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        let request = request.body(kube::client::Body::from(body.into_bytes())).unwrap();
        let what = format!("{method} {path}");
        let answered = async {
            let response = self.client.send(request).await.unwrap();
            let (head, body) = response.into_parts();
            (head, body.collect().await.unwrap().to_bytes())
        };
        let (head, body): (_, Bytes) =
            tokio::time::timeout(REQUEST_TIMEOUT, answered).await.unwrap_or_else(|_| {
                panic!("{what}: no answer within {REQUEST_TIMEOUT:?}");
            });
        Answer::new(what, &head, &body)
    }

    /// Opens a watch; `query` follows `watch=true&`.
    pub(crate) async fn watch(&self, path: &str, query: &str) -> Watch {
        self.watch_as("application/json", path, query).await
    }

    /// Opens a watch with an `Accept` header.
    pub(crate) async fn watch_as(&self, accept: &str, path: &str, query: &str) -> Watch {
        Watch::open(&self.client, &format!("{path}?watch=true&{query}"), accept).await
    }

    /// Polls until the response is as wanted, for asynchronous changes of servers.
    pub(crate) async fn eventually(&self, path: &str, wanted: impl Fn(&Answer) -> bool) -> Answer {
        self.until(|| self.get(path), wanted).await
    }

    /// Sends a request until the response is as wanted.
    pub(crate) async fn until<A: Future<Output = Answer>>(
        &self,
        ask: impl Fn() -> A,
        wanted: impl Fn(&Answer) -> bool,
    ) -> Answer {
        let mut last = None;
        let seen = async {
            loop {
                let answer = ask().await;
                if wanted(&answer) {
                    return answer;
                }
                last = Some(answer);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let in_time = tokio::time::timeout(REQUEST_TIMEOUT, seen).await;
        in_time.unwrap_or_else(|_| {
            panic!("not as wanted within {REQUEST_TIMEOUT:?}: {}", last.unwrap())
        })
    }
}

pub(crate) fn condition(kind: &str, status: &str) -> Value {
    json!({
        "type": kind,
        "status": status,
        "reason": "AwaitingReconciliation",
        // Not empty: the 1.20.2 that scripts/kube-assets builds rejects an empty text here as null.
        // The reason is unknown.
        "message": "object is awaiting reconciliation",
        "lastTransitionTime": "2026-11-15T08:00:00Z",
    })
}

/// Returns the types of an object's conditions, in order.
pub(crate) fn condition_types(object: &Value) -> Vec<&str> {
    let conditions =
        object["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    conditions.iter().map(|condition| condition["type"].as_str().unwrap()).collect()
}

/// Returns a pod that the API accepts.
pub(crate) fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"containers": [{"name": "c", "image": "example.invalid/c"}]},
    })
}

/// Returns a prefix of object names from the case's name: short enough for all kinds, and still
/// unique.
fn prefix(case: &str) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in case.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let words: String = case.rsplit("::").next().unwrap_or(case).chars().take(24).collect();
    format!("{}-{:06x}", words.replace('_', "-").trim_end_matches('-'), hash & 0x00ff_ffff)
}
