//! Controllers that a bare API server lacks, and a running operator.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use kube::Client;
use mooring_simulator::exchange::{Request, ServerReply, json as answer};
use mooring_simulator::serve::{CertificateAuthority, Service, listen, serve};
use serde_json::{Value, json};

use crate::harness::{AbortOnDrop, call};

/// Encodes a release like Helm and the API.
pub(crate) fn packed(payload: &Value) -> String {
    let mut gz = GzEncoder::new(Vec::new(), Compression::default());
    gz.write_all(payload.to_string().as_bytes()).unwrap();
    BASE64_STANDARD.encode(BASE64_STANDARD.encode(gz.finish().unwrap()))
}

/// The namespace controller and the deployment controller of one namespace.
pub(crate) struct Actor {
    client: Client,
    namespace: String,
}

impl Actor {
    pub(crate) fn new(client: Client, namespace: String) -> Self {
        Self { client, namespace }
    }

    pub(crate) async fn run(self) {
        loop {
            tokio::time::sleep(Duration::from_millis(100)).await;
            self.settle_deployments().await;
            self.settle_namespace().await;
        }
    }

    async fn settle_deployments(&self) {
        let path = format!("/apis/apps/v1/namespaces/{}/deployments", self.namespace);
        let (_, list) = call(&self.client, "GET", &path, &Value::Null).await;
        for one in list["items"].as_array().into_iter().flatten() {
            let wanted = &one["spec"]["replicas"];
            if one["status"]["replicas"].as_i64().unwrap_or(0) != wanted.as_i64().unwrap_or(0) {
                let name = one["metadata"]["name"].as_str().unwrap();
                let status = json!({"status": {"replicas": wanted, "readyReplicas": wanted}});
                call(&self.client, "PATCH", &format!("{path}/{name}/status"), &status).await;
            }
        }
    }

    async fn settle_namespace(&self) {
        let path = format!("/api/v1/namespaces/{}", self.namespace);
        let (status, mut namespace) = call(&self.client, "GET", &path, &Value::Null).await;
        if status != 200 || namespace["metadata"]["deletionTimestamp"].is_null() {
            return;
        }
        let mut left = Vec::new();
        for resource in ["configmaps", "secrets", "serviceaccounts"] {
            let list = format!("{path}/{resource}");
            let (_, found) = call(&self.client, "GET", &list, &Value::Null).await;
            for one in found["items"].as_array().into_iter().flatten() {
                let name = one["metadata"]["name"].as_str().unwrap();
                if one["metadata"]["deletionTimestamp"].is_null() {
                    call(&self.client, "DELETE", &format!("{list}/{name}"), &Value::Null).await;
                }
                left.push(format!("{resource} has 1 resource instances"));
            }
        }
        if left.is_empty() {
            namespace["spec"]["finalizers"] = json!([]);
            call(&self.client, "PUT", &format!("{path}/finalize"), &namespace).await;
        } else {
            let message = format!("Some resources are remaining: {}", left.join(", "));
            let condition = |kind: &str, message: &str| {
                json!({
                    "type": kind, "status": "True", "reason": "Some", "message": message,
                    "lastTransitionTime": "2026-11-15T08:00:00Z",
                })
            };
            let status = json!({"status": {"conditions": [
                condition("NamespaceContentRemaining", &message),
                condition("NamespaceFinalizersRemaining",
                    "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"),
            ]}});
            call(&self.client, "PATCH", &format!("{path}/status"), &status).await;
        }
    }
}

/// An operator that runs while its Deployment has replicas, and recreates an object.
pub(crate) async fn recreate(client: Client, deployment: String, list: String, object: Value) {
    loop {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let (status, found) = call(&client, "GET", &deployment, &Value::Null).await;
        if status != 200 || found["spec"]["replicas"] == 0 {
            return;
        }
        let path = format!("{list}/{}", object["metadata"]["name"].as_str().unwrap());
        let (status, one) = call(&client, "GET", &path, &Value::Null).await;
        if status == 200 && one["metadata"]["deletionTimestamp"].is_string() {
            // Teardown, then recreation.
            let off = json!({"metadata": {"finalizers": null}});
            call(&client, "PATCH", &path, &off).await;
        } else if status == 404
            // A stopped operator recreates nothing.
            && call(&client, "GET", &deployment, &Value::Null).await.1["spec"]["replicas"] != 0
        {
            call(&client, "POST", &list, &object).await;
        }
    }
}

/// A webhook that denies all requests.
struct Refuses;

impl Service for Refuses {
    fn call(&self, request: Request) -> BoxFuture<'static, ServerReply> {
        let review: Value = serde_json::from_slice(request.body()).unwrap_or_default();
        let body = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "response": {"uid": review["request"]["uid"], "allowed": false,
                "status": {"code": 403, "message": "not before Monday"}},
        });
        std::future::ready(ServerReply::Answer(answer(http::StatusCode::OK, &body))).boxed()
    }
}

/// Serves it on loopback; returns address and authority.
pub(crate) async fn webhook() -> (String, String, AbortOnDrop) {
    let authority = CertificateAuthority::new().unwrap();
    let tls = authority.server(&["127.0.0.1", "localhost"], &["http/1.1"]).unwrap();
    let listener = listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("https://127.0.0.1:{}/", listener.local_addr().unwrap().port());
    let served = tokio::spawn(async move {
        serve(listener, tls, Arc::new(Refuses)).await;
    });
    (url, BASE64_STANDARD.encode(authority.pem()), AbortOnDrop(served))
}
