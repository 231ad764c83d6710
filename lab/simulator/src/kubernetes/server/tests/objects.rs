use kube::api::{ListParams, Patch, PatchParams, PostParams};
use serde_json::json;

use super::*;

#[tokio::test(start_paused = true)]
async fn a_new_object_gets_what_only_the_server_gives() {
    let world = World::api();
    let made = create(&world.maps(), map("a", json!({"x": "1"}))).await.unwrap();
    let metadata = &made["metadata"];
    assert_eq!(metadata["uid"].as_str().unwrap().len(), 36);
    assert_eq!(metadata["creationTimestamp"], "2026-01-01T00:00:00Z");
    assert_eq!(metadata["namespace"], "default");
    assert!(metadata["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap() > 0);
    assert_eq!(metadata.get("generation"), None);
}

#[tokio::test(start_paused = true)]
async fn errors_are_worded_as_the_server_words_them() {
    let world = World::api();
    let maps = world.maps();
    create(&maps, map("a", json!({}))).await.unwrap();
    let (code, reason, message) = refusal(create(&maps, map("a", json!({}))).await);
    assert_eq!((code, reason.as_str()), (409, "AlreadyExists"));
    assert_eq!(message, "configmaps \"a\" already exists");
    let (code, reason, message) = refusal(maps.get("b").await);
    assert_eq!((code, reason.as_str()), (404, "NotFound"));
    assert_eq!(message, "configmaps \"b\" not found");
    let elsewhere = world.of("nowhere", "v1", "ConfigMap", "configmaps");
    let (code, _, message) = refusal(create(&elsewhere, map("a", json!({}))).await);
    assert_eq!((code, message.as_str()), (404, "namespaces \"nowhere\" not found"));
    let (code, reason, _) = refusal(create(&maps, map("Not_A_Name", json!({}))).await);
    assert_eq!((code, reason.as_str()), (422, "Invalid"));
}

#[tokio::test(start_paused = true)]
async fn stale_write_conflicts_and_no_change_is_not_written() {
    let world = World::api();
    let maps = world.maps();
    let made = create(&maps, map("a", json!({"x": "1"}))).await.unwrap();
    let patch = Patch::Merge(json!({"data": {"x": "2"}}));
    let changed = maps.patch("a", &PatchParams::default(), &patch).await.unwrap();
    let again = maps.patch("a", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(changed.metadata.resource_version, again.metadata.resource_version);
    let old: DynamicObject = serde_json::from_value(made).unwrap();
    let (code, reason, message) = refusal(maps.replace("a", &PostParams::default(), &old).await);
    assert_eq!((code, reason.as_str()), (409, "Conflict"));
    assert!(message.starts_with(
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified"
    ));
}

#[tokio::test(start_paused = true)]
async fn pages_show_one_consistent_state() {
    let world = World::api();
    let maps = world.maps();
    for n in 0..5 {
        create(&maps, map(&format!("m{n}"), json!({}))).await.unwrap();
    }
    let first = maps.list(&ListParams::default().limit(2)).await.unwrap();
    assert_eq!(first.items.len(), 2);
    assert_eq!(first.metadata.remaining_item_count, Some(3));
    maps.delete("m3", &kube::api::DeleteParams::default()).await.unwrap();
    create(&maps, map("m2b", json!({}))).await.unwrap();
    let token = first.metadata.continue_.unwrap();
    let rest = maps.list(&ListParams::default().limit(9).continue_token(&token)).await.unwrap();
    let names: Vec<_> = rest.items.iter().map(|one| one.metadata.name.clone().unwrap()).collect();
    assert_eq!(names, ["m2", "m3", "m4"]);
    world.shell.with(|model, _| model.forget_history());
    create(&maps, map("m9", json!({}))).await.unwrap();
    let gone = maps.list(&ListParams::default().continue_token(&token)).await;
    assert_eq!(refusal(gone).0, 410);
}

#[tokio::test(start_paused = true)]
async fn selectors_choose() {
    let world = World::api();
    for (name, labels) in [("a", json!({"k": "1"})), ("b", json!({"k": "2"})), ("c", json!({}))] {
        let mut value = map(name, json!({}));
        value["metadata"]["labels"] = labels;
        create(&world.maps(), value).await.unwrap();
    }
    for (selector, expected) in [
        ("k=1", "a"),
        ("k!=1", "bc"),
        ("k in (1,2)", "ab"),
        ("k", "ab"),
        ("!k", "c"),
        ("k notin (2)", "ac"),
    ] {
        let list = world.maps().list(&ListParams::default().labels(selector)).await.unwrap();
        let names: String = list.items.iter().filter_map(|one| one.metadata.name.clone()).collect();
        assert_eq!(names, expected, "{selector}");
    }
    let list = world.maps().list(&ListParams::default().fields("metadata.name=b")).await.unwrap();
    assert_eq!(list.items.len(), 1);
    let bad = world.maps().list(&ListParams::default().fields("data.x=1")).await;
    assert_eq!(refusal(bad).0, 400);
}

#[tokio::test(start_paused = true)]
async fn events_are_the_same_through_both_apis() {
    let world = World::api();
    let new = world.of("default", "events.k8s.io/v1", "Event", "events");
    create(&new, json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"},
        "eventTime": "2026-01-01T00:00:00.000000Z", "reason": "R", "action": "A", "type": "Warning",
        "note": "n", "regarding": {"kind": "Pod", "name": "p"}, "reportingController": "c", "reportingInstance": "i",
    }))
    .await
    .unwrap();
    let old = world.of("default", "v1", "Event", "events");
    let list =
        old.list(&ListParams::default().fields("involvedObject.name=p,reason=R")).await.unwrap();
    assert_eq!(list.items[0].data["message"], "n");
    assert_eq!(list.items[0].data["reportingComponent"], "c");
    let back = new.get("e").await.unwrap();
    assert_eq!(back.data["note"], "n");
}

#[tokio::test(start_paused = true)]
async fn kubectl_discovers_the_served_resources() {
    let world = World::api();
    world.define_widgets().await;
    let (_, groups) = world.raw("GET", "/apis", "", Value::Null).await;
    assert!(
        groups["groups"].as_array().unwrap().iter().any(|group| group["name"] == "example.com")
    );
    let (status, list) = world.raw("GET", "/apis/example.com/v1", "", Value::Null).await;
    assert_eq!(status, 200);
    assert_eq!(list["resources"][1]["name"], "widgets/status");
    let (status, ready) = world.raw("GET", "/readyz", "", Value::Null).await;
    assert_eq!((status, ready), (200, Value::from("ok")));
    assert_eq!(world.raw("GET", "/apis/none.example/v1", "", Value::Null).await.0, 404);
    assert_eq!(world.raw("GET", "/openapi/v3/apis/example.com/v1", "", Value::Null).await.0, 200);
}
