//! Behavior of the model that its conformance with a real API server does not show: controllers, faults, history.

mod clients;
mod cluster;
mod deletion;
mod faults;

#[expect(clippy::needless_pass_by_value, reason = "`json!` returns owned values")]
mod builders {
    use super::*;

    pub(super) fn map(name: &str, data: Value) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
    }
}
use builders::map;

use jiff::Timestamp;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

use crate::kubernetes::{Clock, ClockTask, InProcess, Kubernetes, KubernetesOptions, Shell};

/// A model with a client, and their common time.
struct World {
    shell: Shell,
    client: Client,
    _running: ClockTask,
}

impl World {
    fn new(options: KubernetesOptions) -> Self {
        let clock = Clock::starting_at(options.start);
        let shell = Shell::new(Kubernetes::new(options), clock);
        let client = Client::new(InProcess::new(shell.clone()), "default");
        let running = shell.start();
        Self { shell, client, _running: running }
    }

    /// Returns an API server alone.
    fn api() -> Self {
        Self::new(KubernetesOptions { start: start(), ..KubernetesOptions::default() })
    }

    /// Returns an API server with a cluster.
    fn cluster() -> Self {
        Self::new(KubernetesOptions {
            start: start(),
            controllers: true,
            ..KubernetesOptions::default()
        })
    }

    fn all(&self, version: &str, kind: &str, plural: &str) -> Api<DynamicObject> {
        Api::all_with(self.client.clone(), &resource(version, kind, plural))
    }

    fn of(&self, namespace: &str, version: &str, kind: &str, plural: &str) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), namespace, &resource(version, kind, plural))
    }

    fn maps(&self) -> Api<DynamicObject> {
        self.of("default", "v1", "ConfigMap", "configmaps")
    }

    fn pods(&self) -> Api<DynamicObject> {
        self.of("default", "v1", "Pod", "pods")
    }

    fn nodes(&self) -> Api<DynamicObject> {
        self.all("v1", "Node", "nodes")
    }

    async fn raw(&self, method: &str, path: &str, kind: &str, body: Value) -> (u16, Value) {
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header(http::header::CONTENT_TYPE, kind)
            .body(kube::client::Body::from(bytes))
            .unwrap();
        let response = self.client.send(request).await.unwrap();
        let status = response.status().as_u16();
        let bytes =
            http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
        let value = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
        (status, value)
    }
}

fn start() -> Timestamp {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

fn resource(version: &str, kind: &str, plural: &str) -> ApiResource {
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural)
}

async fn create(api: &Api<DynamicObject>, value: Value) -> kube::Result<Value> {
    let object: DynamicObject = serde_json::from_value(value).unwrap();
    api.create(&PostParams::default(), &object).await.map(json_of)
}

fn json_of(object: DynamicObject) -> Value {
    serde_json::to_value(object).unwrap()
}

/// Code, reason and message of an API error.
fn refusal<T: std::fmt::Debug>(result: kube::Result<T>) -> (u16, String, String) {
    match result {
        Err(kube::Error::Api(status)) => {
            (status.code, status.reason.clone(), status.message.clone())
        }
        other => panic!("an API error was expected, not {other:?}"),
    }
}

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    })
}

fn node(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    })
}
