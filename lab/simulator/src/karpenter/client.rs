//! Karpenter's client of the two APIs.

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::azure::Azure;
use crate::exchange::ServerReply;
use crate::kubernetes::{Kubernetes, User};

/// Both APIs, as Karpenter at one time.
pub(super) struct Client<'a> {
    pub(super) azure: &'a mut Azure,
    pub(super) kubernetes: &'a mut Kubernetes,
    pub(super) now: Timestamp,
}

/// Each call returns the status of the response; 0 without one.
impl Client<'_> {
    pub(super) fn patch(&mut self, path: &str, body: &Value) -> u16 {
        self.send("PATCH", path, "application/merge-patch+json", body)
    }

    pub(super) fn create(&mut self, path: &str, body: &Value) -> u16 {
        self.send("POST", path, "application/json", body)
    }

    pub(super) fn delete(&mut self, path: &str, body: &Value) -> u16 {
        self.send("DELETE", path, "application/json", body)
    }

    fn send(&mut self, method: &str, path: &str, kind: &str, body: &Value) -> u16 {
        let user = User { name: "karpenter".to_owned(), ..User::administrator() };
        let request = request(method, path, kind).extension(user);
        let request = request.body(Bytes::from(body.to_string()));
        request.map_or(0, |request| status_of(&self.kubernetes.handle(&request, self.now)))
    }

    pub(super) fn delete_vm(&mut self, id: &str) -> u16 {
        let uri = format!("{id}?api-version=2024-11-01&forceDeletion=true");
        self.ask("DELETE", &uri, Bytes::new())
    }

    /// Requests that AKS delete a Machine of a pool.
    pub(super) fn delete_machine(&mut self, id: &str) -> u16 {
        let (pool, name) = id.rsplit_once("/machines/").unwrap_or((id, ""));
        let uri = format!("{pool}/deleteMachines?api-version=2026-05-01");
        self.ask("POST", &uri, Bytes::from(json!({"machineNames": [name]}).to_string()))
    }

    fn ask(&mut self, method: &str, uri: &str, body: Bytes) -> u16 {
        let token = self.azure.karpenter_token(self.now);
        let request = request(method, uri, "application/json");
        let request = request.header("authorization", format!("Bearer {token}")).body(body);
        request.map_or(0, |request| status_of(&self.azure.handle(&request, self.now)))
    }
}

fn request(method: &str, uri: &str, kind: &str) -> http::request::Builder {
    http::Request::builder()
        .method(method)
        .uri(uri)
        .header("user-agent", "karpenter/v1.14.2")
        .header("content-type", kind)
}

fn status_of(outcome: &ServerReply) -> u16 {
    match outcome {
        ServerReply::Answer(response) => response.status().as_u16(),
        ServerReply::CutShort(..) | ServerReply::Dropped | ServerReply::Silence => 0,
    }
}

pub(super) fn path_of(claim: &str) -> String {
    format!("/apis/karpenter.sh/v1/nodeclaims/{claim}")
}

pub(super) fn went_well(status: u16) -> bool {
    (200..300).contains(&status)
}
