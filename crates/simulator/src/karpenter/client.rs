//! Karpenter's client of the two APIs.

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::Value;

use crate::azure::Azure;
use crate::exchange::{Request, ServerReply};
use crate::kubernetes::{Kubernetes, User};

/// Returns Karpenter's user at the cluster's API.
fn karpenter() -> User {
    let groups = ["system:masters", "system:authenticated"].map(str::to_owned).to_vec();
    User { name: "karpenter".to_owned(), groups }
}

pub(super) fn path_of(claim: &str) -> String {
    format!("/apis/karpenter.sh/v1/nodeclaims/{claim}")
}

pub(super) fn patch(kubernetes: &mut Kubernetes, path: &str, body: &Value, now: Timestamp) -> u16 {
    send(kubernetes, "PATCH", path, "application/merge-patch+json", body, now)
}

pub(super) fn create(kubernetes: &mut Kubernetes, path: &str, body: &Value, now: Timestamp) -> u16 {
    send(kubernetes, "POST", path, "application/json", body, now)
}

pub(super) fn delete(kubernetes: &mut Kubernetes, path: &str, body: &Value, now: Timestamp) -> u16 {
    send(kubernetes, "DELETE", path, "application/json", body, now)
}

/// Returns the status of the response; 0 without one.
fn send(
    kubernetes: &mut Kubernetes,
    method: &str,
    path: &str,
    kind: &str,
    body: &Value,
    now: Timestamp,
) -> u16 {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .extension(karpenter())
        .header("user-agent", "karpenter/v1.14.2")
        .header("content-type", kind)
        .body(Bytes::from(body.to_string()));
    request.map_or(0, |request| status_of(&kubernetes.handle(&request, now)))
}

pub(super) fn delete_vm(azure: &mut Azure, id: &str, now: Timestamp) -> u16 {
    let uri = format!("{id}?api-version=2024-11-01&forceDeletion=true");
    ask(azure, "DELETE", &uri, Bytes::new(), now)
}

/// Requests that AKS delete a Machine of a pool.
pub(super) fn delete_machine(azure: &mut Azure, id: &str, now: Timestamp) -> u16 {
    let (pool, name) = id.rsplit_once("/machines/").unwrap_or((id, ""));
    let uri = format!("{pool}/deleteMachines?api-version=2026-05-01");
    let body = serde_json::json!({"machineNames": [name]}).to_string();
    ask(azure, "POST", &uri, Bytes::from(body), now)
}

fn ask(azure: &mut Azure, method: &str, uri: &str, body: Bytes, now: Timestamp) -> u16 {
    let token = azure.karpenter_token(now);
    let request: Result<Request, _> = http::Request::builder()
        .method(method)
        .uri(uri)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .header("user-agent", "karpenter/v1.14.2")
        .body(body);
    request.map_or(0, |request| status_of(&azure.handle(&request, now)))
}

fn status_of(outcome: &ServerReply) -> u16 {
    match outcome {
        ServerReply::Answer(response) => response.status().as_u16(),
        ServerReply::CutShort(..) | ServerReply::Dropped | ServerReply::Silence => 0,
    }
}

pub(super) fn went_well(status: u16) -> bool {
    (200..300).contains(&status)
}
