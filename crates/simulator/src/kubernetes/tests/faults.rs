use futures::StreamExt as _;
use kube::api::{PatchParams, WatchEvent, WatchParams};
use serde_json::json;

use super::*;
use crate::faults::{Condition, Fault, Rule};

fn rule(method: &str, then: Fault) -> Rule {
    let when = Condition {
        method: Some(method.to_owned()),
        path: Some("*configmaps*".to_owned()),
        ..Condition::default()
    };
    Rule { times: Some(1), ..Rule::new(when, then) }
}

async fn exists(world: &World, name: &str) -> bool {
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
        assert_eq!(exists(&world, "a").await, took_effect, "{fault:?}");
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
        model.add_fault(Rule { times: Some(2), ..rule("GET", Fault::Stale { seconds: 5 }) })
    });
    assert_eq!(world.maps().get("a").await.unwrap().data["data"]["x"], "1");
    assert_eq!(world.maps().list(&Default::default()).await.unwrap().items.len(), 1);
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

#[test]
fn the_same_seed_gives_the_same_trace() {
    let run = |seed| {
        let rules = vec![Rule {
            probability: 0.3,
            ..Rule::new(
                Condition::default(),
                Fault::Status { status: 500, code: None, retry_after: None },
            )
        }];
        let mut model = Kubernetes::new(Options {
            seed,
            start: start(),
            controllers: true,
            faults: rules,
            ..Options::default()
        });
        for n in 0..50 {
            let now = start() + jiff::SignedDuration::from_secs(n);
            let body = json!({"metadata": {"generateName": "m-"}}).to_string();
            let request = http::Request::post("/api/v1/namespaces/default/configmaps")
                .body(body.into())
                .unwrap();
            model.handle(&request, now);
            model.settle(now);
        }
        let objects: Vec<String> =
            model.objects("configmaps", None).map(ToString::to_string).collect();
        (model.trace(), objects)
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
}
