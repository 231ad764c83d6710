//! The requests of kubectl, Helm and the product as they were recorded (`requests.tsv`): the model understands each of
//! them. What none of them sends, it need not.

use bytes::Bytes;
use mooring_simulator::cluster::ClusterOptions;
use mooring_simulator::exchange::{Body, ServerReply};
use mooring_simulator::faults::ServiceName;
use serde_json::{Value, json};

use super::support::Harness;

const RECORDED: &str = include_str!("requests.tsv");

/// Returns a body of a content type; protobuf's names the kind.
fn body(method: &str, content_type: &str) -> Bytes {
    let kind = content_type.split_once("kind=").map_or("", |(_, kind)| kind);
    match content_type.split(';').next().unwrap() {
        "" => Bytes::new(),
        "application/json-patch+json" => Bytes::from("[]"),
        "application/vnd.kubernetes.protobuf" => {
            let text = |number: u8, text: &str| {
                [&[number << 3 | 2, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat()
            };
            let head = [text(1, "v1"), text(2, kind)].concat();
            let head = [&[0x0a, u8::try_from(head.len()).unwrap()], &head[..]].concat();
            Bytes::from([b"k8s\0", &head[..], &[0x12, 0]].concat())
        }
        _ if method == "POST" => Bytes::from(json!({"metadata": {"name": "recorded"}}).to_string()),
        _ => Bytes::from("{}"),
    }
}

/// Sends a recorded request; returns the status and the response's object.
fn send(harness: &mut Harness, [method, uri, content_type, accept]: [&str; 4]) -> (u16, Value) {
    let token = harness.world.options().token.expose().to_owned();
    let uri = uri.replace("{namespace}", "default").replace("{name}", "recorded");
    let mut request = http::Request::builder()
        .method(method)
        .uri(uri)
        .header("authorization", format!("Bearer {token}"))
        .header("accept", accept);
    if !content_type.is_empty() {
        request = request.header("content-type", content_type);
    }
    let request = request.body(body(method, content_type)).unwrap();
    match harness.world.handle(ServiceName::Kubernetes, &request, harness.now) {
        ServerReply::Answer(response) => {
            let status = response.status().as_u16();
            let body = match response.body() {
                Body::Full(bytes) => serde_json::from_slice(bytes).unwrap_or_default(),
                Body::Stream(_) => json!({"kind": "WatchEvent"}),
            };
            (status, body)
        }
        other => panic!("no answer: {other:?}"),
    }
}

/// Returns why the model does not understand a request, if so. Refusals of the sample's content are no reason.
fn misunderstood(status: u16, body: &Value, accept: &str) -> Option<&'static str> {
    let kind = body["kind"].as_str().unwrap_or_default();
    match status {
        404 if body["details"]["kind"].is_null() => Some("there is no such path"),
        200..300 if accept.contains("as=Table") && !matches!(kind, "Table" | "WatchEvent") => {
            Some("it is not shown as a table")
        }
        200..300 | 403 | 404 | 409 | 422 => None,
        _ => Some("it is refused"),
    }
}

#[test]
fn every_recorded_request_is_understood() {
    let mut clients = std::collections::BTreeSet::new();
    for line in RECORDED.lines().filter(|line| !line.starts_with('#')) {
        let mut row = line.split('\t');
        clients.insert(row.next().unwrap());
        let request: [&str; 4] = std::array::from_fn(|_| row.next().unwrap_or_default());
        // Each sees the same cluster: a request may delete what another needs.
        let mut harness = Harness::new("retired-operator", ClusterOptions::default());
        let (status, body) = send(&mut harness, request);
        let why = misunderstood(status, &body, request[3]);
        assert_eq!(why, None, "{line}\nanswered {status}: {body}");
    }
    assert_eq!(clients.into_iter().collect::<Vec<_>>(), ["Helm", "kubectl", "product"]);
}
