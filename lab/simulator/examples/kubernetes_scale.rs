//! Benchmark of the Kubernetes model with 50,000 NodeClaims: `cargo xtask bench kubernetes`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    missing_docs,
    reason = "a measurement: it takes the time and prints"
)]

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _};
use jiff::Timestamp;
use mooring_simulator::exchange::{Body, Request, Response, ServerReply};
use mooring_simulator::kubernetes::{Kubernetes, KubernetesOptions};
use serde_json::{Value, json};

const CLAIMS: usize = 50_000;
const PAGE: usize = 500;
const PATCHES: usize = 5_000;
const PATH: &str = "/apis/karpenter.sh/v1/nodeclaims";
const DEFINITION: &str = include_str!("../fixtures/crds/nodeclaims.yaml");

fn main() {
    println!("{CLAIMS} NodeClaims in the model, with a cluster; one thread");
    let now = Timestamp::UNIX_EPOCH;
    let mut model = Kubernetes::new(KubernetesOptions {
        start: now,
        controllers: true,
        ..KubernetesOptions::default()
    });
    let definition: Value = serde_saphyr::from_str(DEFINITION).unwrap();
    model.create(definition, now).unwrap();
    model.settle(now);

    let begun = Instant::now();
    for n in 0..CLAIMS {
        let answer = ask(&mut model, "POST", PATH, claim(n).to_string());
        assert_eq!(answer.status(), 201);
    }
    each("create", CLAIMS, begun.elapsed());
    println!("{:<34}{:>10} MiB", "memory, as the model estimates it", model.memory() >> 20);
    println!("{:<34}{:>10} MiB", "memory, resident", kibibytes("VmRSS") >> 10);

    let begun = Instant::now();
    let list = ask(&mut model, "GET", PATH, String::new()).into_body().bytes();
    let took = begun.elapsed();
    println!("{:<34}{:>10.1} ms, {} MiB", "list, whole", millis(took), list.len() >> 20);
    let list: Value = serde_json::from_slice(&list).unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), CLAIMS);
    drop(list);

    let begun = Instant::now();
    let (mut seen, mut pages, mut next) = (0, 0, String::new());
    loop {
        let path = format!("{PATH}?limit={PAGE}&continue={next}");
        let page = ask(&mut model, "GET", &path, String::new()).into_body().bytes();
        let page: Value = serde_json::from_slice(&page).unwrap();
        seen += page["items"].as_array().unwrap().len();
        pages += 1;
        match page["metadata"]["continue"].as_str() {
            Some(token) => token.clone_into(&mut next),
            None => break,
        }
    }
    assert_eq!(seen, CLAIMS);
    let what = format!("list, {pages} pages of {PAGE}, parsed");
    println!("{what:<34}{:>10.1} ms", millis(begun.elapsed()));

    for many in [0, 10, 100] {
        fan_out(&mut model, many);
    }
    let most = kibibytes("VmHWM") >> 10;
    println!(
        "{:<34}{most:>10} MiB, with what the measurement reads itself",
        "memory, resident at most"
    );
}

/// Patches statuses with many watches, each of which reads all events.
fn fan_out(model: &mut Kubernetes, many: usize) {
    let path = format!("{PATH}?watch=true&resourceVersion={}", model.revision());
    let mut watches: Vec<_> = (0..many)
        .map(|_| match ask(model, "GET", &path, String::new()).into_body() {
            Body::Stream(stream) => stream,
            Body::Full(_) => panic!("a stream was expected"),
        })
        .collect();
    let begun = Instant::now();
    let mut received = 0;
    for n in 0..PATCHES {
        let name = format!("{PATH}/claim-{:05}/status", n * (CLAIMS / PATCHES));
        let wanted = json!({"status": {"nodeName": format!("node-{many}"), "conditions": [
            {"type": "CSEProvisioned", "status": "False", "reason": "CSEFailed",
                "message": "CSE exited with code 211", "lastTransitionTime": "2026-11-15T08:00:00Z"},
        ]}});
        assert_eq!(ask(model, "PATCH", &name, wanted.to_string()).status(), 200);
        for watch in &mut watches {
            while watch.next().now_or_never().flatten().is_some() {
                received += 1;
            }
        }
    }
    assert_eq!(received, many * PATCHES);
    each(&format!("status patch, {many} watches notified"), PATCHES, begun.elapsed());
}

fn ask(model: &mut Kubernetes, method: &str, path: &str, body: String) -> Response {
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let request: Request = http::Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, kind)
        .body(Bytes::from(body))
        .unwrap();
    let outcome = model.handle(&request, Timestamp::UNIX_EPOCH);
    model.settle(Timestamp::UNIX_EPOCH);
    match outcome {
        ServerReply::Answer(response) => response,
        other => panic!("an answer was expected, not {other:?}"),
    }
}

fn claim(n: usize) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {
            "name": format!("claim-{n:05}"),
            "labels": {"karpenter.sh/nodepool": "default", "node.kubernetes.io/instance-type": "Standard_D4s_v5"},
            "finalizers": ["karpenter.sh/termination"],
        },
        "spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": [
                {"key": "karpenter.sh/nodepool", "operator": "In", "values": ["default"]},
                {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["Standard_D4s_v5"]},
            ],
        },
    })
}

fn each(what: &str, count: usize, took: Duration) {
    let one = took.as_secs_f64() * 1e6 / count as f64;
    println!("{what:<34}{one:>10.1} µs each, {:.2} s in all", took.as_secs_f64());
}

fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}

/// Reads a line of the process status.
fn kibibytes(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
