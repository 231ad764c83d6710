use futures::{FutureExt as _, StreamExt as _};
use kube::api::{ListParams, PatchParams, WatchEvent, WatchParams};
use serde_json::json;

use super::*;
use crate::exchange::{Body, ServerReply};
use crate::faults::{CallSelector, Fault, FaultRule};

fn rule(method: &str, then: Fault) -> FaultRule {
    let when = CallSelector {
        method: Some(method.to_owned()),
        path: Some("*configmaps*".to_owned()),
        ..CallSelector::default()
    };
    FaultRule { times: Some(1), ..FaultRule::new(when, then) }
}

fn exists(world: &World, name: &str) -> bool {
    let key = crate::kubernetes::Key::new(Some("default"), name);
    world.shell.with(|model, _| model.get("configmaps", &key).is_some())
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_may_or_may_not_have_taken_effect() {
    let limit = std::time::Duration::from_mins(1);
    for (fault, took_effect) in [
        (Fault::TimeoutBefore, false),
        (Fault::TimeoutAfter, true),
        (Fault::DropBefore, false),
        (Fault::DropAfter, true),
        (Fault::Truncate, true),
        (Fault::Status { status: 500, code: None, retry_after: None }, false),
        (Fault::Status { status: 409, code: None, retry_after: None }, false),
    ] {
        let world = World::api();
        world.shell.with(|model, _| model.add_fault(rule("POST", fault.clone())));
        let made = tokio::time::timeout(limit, create(&world.maps(), map("a", json!({})))).await;
        assert!(!matches!(made, Ok(Ok(_))), "{fault:?}");
        assert_eq!(exists(&world, "a"), took_effect, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stale_read_shows_what_was() {
    let world = World::api();
    create(&world.maps(), map("a", json!({"x": "1"}))).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    let patch = kube::api::Patch::Merge(json!({"data": {"x": "2"}}));
    world.maps().patch("a", &PatchParams::default(), &patch).await.unwrap();
    create(&world.maps(), map("b", json!({}))).await.unwrap();
    world.shell.with(|model, _| {
        model.add_fault(FaultRule { times: Some(2), ..rule("GET", Fault::Stale { seconds: 5 }) });
    });
    assert_eq!(world.maps().get("a").await.unwrap().data["data"]["x"], "1");
    assert_eq!(world.maps().list(&ListParams::default()).await.unwrap().items.len(), 1);
    assert_eq!(world.maps().get("a").await.unwrap().data["data"]["x"], "2");
}

#[tokio::test(start_paused = true)]
async fn events_come_twice_or_late_and_watches_drop() {
    for (fault, expected) in
        [(Fault::DuplicateEvent, "aabc"), (Fault::ReorderEvent, "bac"), (Fault::DropWatch, "")]
    {
        let world = World::api();
        world.shell.with(|model, _| model.add_fault(rule("WATCH", fault.clone())));
        let params = WatchParams::default().timeout(30).disable_bookmarks();
        let watch = world.maps().watch(&params, "0").await.unwrap();
        for name in ["a", "b", "c"] {
            create(&world.maps(), map(name, json!({}))).await.unwrap();
        }
        let seen: String = watch
            .filter_map(|event| async move {
                match event.unwrap() {
                    WatchEvent::Added(object) => object.metadata.name,
                    _ => None,
                }
            })
            .collect()
            .await;
        assert_eq!(seen, expected, "{fault:?}");
    }
}

/// Every kind of fault that this API can have, each sometimes.
fn every_fault() -> Vec<FaultRule> {
    let status = |status, retry_after| Fault::Status { status, code: None, retry_after };
    [
        status(409, None),
        status(429, Some(1)),
        status(500, None),
        Fault::TimeoutBefore,
        Fault::TimeoutAfter,
        Fault::DropBefore,
        Fault::DropAfter,
        Fault::Truncate,
        Fault::Stale { seconds: 3 },
        Fault::DropWatch,
        Fault::DuplicateEvent,
        Fault::ReorderEvent,
        Fault::Restart,
    ]
    .map(|fault| FaultRule { probability: 0.05, ..FaultRule::new(CallSelector::default(), fault) })
    .to_vec()
}

/// Runs a few hundred calls against a faulty cluster. Returns its trace, the final objects, and the events of a watch.
fn a_rough_hour(seed: u64) -> (String, Vec<String>, Vec<bytes::Bytes>) {
    let mut model = Kubernetes::new(KubernetesOptions {
        seed,
        start: start(),
        controllers: true,
        faults: every_fault(),
        ..KubernetesOptions::default()
    });
    let mut random = crate::random::Random::new(seed);
    let (mut watch, mut received) = (None, Vec::new());
    let base = "/api/v1/namespaces/default";
    for n in 0..600 {
        let now = start() + jiff::SignedDuration::from_secs(6 * n);
        let one = format!("{base}/configmaps/m{}", random.draw() % 5);
        let (method, path, body) = match random.draw() % 7 {
            0 => ("POST", format!("{base}/configmaps"), map(&one[one.len() - 2..], json!({}))),
            1 => (
                "POST",
                format!("{base}/pods"),
                json!({"metadata": {"generateName": "p-"},
                "spec": {"containers": [{"name": "c", "image": "i"}]}}),
            ),
            2 => ("POST", "/api/v1/nodes".to_owned(), node(&format!("n{}", random.draw() % 3))),
            3 => ("DELETE", one, json!({})),
            4 => ("GET", one, json!({})),
            5 => ("GET", format!("{base}/configmaps?limit=2"), json!({})),
            _ => ("PATCH", one, json!({"data": {"n": n.to_string()}})),
        };
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header(http::header::CONTENT_TYPE, "application/merge-patch+json")
            .body(body.to_string().into())
            .unwrap();
        model.handle(&request, now);
        model.settle(now);
        if watch.is_none() {
            let path = format!("{base}/configmaps?watch=true&resourceVersion={}", model.revision());
            let request = http::Request::get(path).body(bytes::Bytes::new()).unwrap();
            if let ServerReply::Answer(answer) = model.handle(&request, now)
                && let Body::Stream(stream) = answer.into_body()
            {
                watch = Some(stream);
            }
        }
        while let Some(event) = watch.as_mut().and_then(|watch| watch.next().now_or_never()) {
            match event {
                Some(line) => received.push(line),
                None => watch = None,
            }
        }
    }
    let objects = ["configmaps", "pods", "nodes"]
        .into_iter()
        .flat_map(|table| model.objects(table, None))
        .map(ToString::to_string)
        .collect();
    (model.trace(), objects, received)
}

#[test]
fn the_same_seed_gives_the_same_trace_byte_for_byte() {
    let first = a_rough_hour(3);
    assert_eq!(first, a_rough_hour(3));
    assert_ne!(first.0, a_rough_hour(4).0);
    for end in [" 201 ", " 409 ", " 429 ", " 500 ", " cut at ", " dropped ", " silence "] {
        assert!(first.0.contains(end), "{end} should be somewhere in\n{}", first.0);
    }
    assert!(first.2.len() > 50, "{} events", first.2.len());
    let twice = first.2.windows(2).any(|pair| pair[0] == pair[1]);
    assert!(twice, "an event came twice");
}
