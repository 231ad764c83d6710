use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::*;

const STATUS: &str = "/apis/example.com/v1/widgets/w/status";
const WIDGET: &str = "/apis/example.com/v1/widgets/w";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";

#[tokio::test(start_paused = true)]
async fn a_failed_test_refuses_the_whole_patch() {
    let world = World::api();
    world.define_widgets().await;
    let made = create(&world.widgets(), widget("w", json!({"size": 1}))).await.unwrap();
    let uid = made["metadata"]["uid"].clone();
    let condition = json!({"type": "Ready", "status": "True"});
    let patch = json!([
        {"op": "test", "path": "/metadata/uid", "value": uid},
        {"op": "add", "path": "/status", "value": {"conditions": []}},
        {"op": "add", "path": "/status/conditions/-", "value": condition},
    ]);
    let (status, changed) = world.raw("PATCH", STATUS, JSON_PATCH, patch).await;
    assert_eq!(status, 200);
    assert_eq!(changed["status"]["conditions"], json!([condition]));
    let patch = json!([
        {"op": "test", "path": "/status/conditions/0/type", "value": "Other"},
        {"op": "remove", "path": "/status/conditions/0"},
    ]);
    let (status, error) = world.raw("PATCH", STATUS, JSON_PATCH, patch).await;
    assert_eq!(status, 422);
    assert_eq!(error["reason"], "Invalid");
    assert_eq!(error["message"], "the server rejected our request due to an error in our request");
    let again = json!([{"op": "add", "path": "/status/conditions/-", "value": condition}]);
    let (status, error) = world.raw("PATCH", STATUS, JSON_PATCH, again).await;
    assert_eq!(status, 422);
    assert_eq!(error["details"]["causes"][0]["reason"], "FieldValueDuplicate");
    assert_eq!(error["details"]["causes"][0]["field"], "status.conditions[1]");
}

#[tokio::test(start_paused = true)]
async fn status_is_written_apart_and_has_no_generation() {
    let world = World::api();
    world.define_widgets().await;
    let widgets = world.widgets();
    let mut value = widget("w", json!({"size": 1}));
    value["status"] = json!({"conditions": [{"type": "A", "status": "x"}]});
    let made = create(&widgets, value).await.unwrap();
    assert_eq!(made.get("status"), None);
    assert_eq!(made["metadata"]["generation"], 1);
    let both = json!({"spec": {"size": 2}, "status": {"conditions": [{"type": "B", "status": "y"}]}, "metadata": {"labels": {"l": "1"}}});
    let (_, main) = world.raw("PATCH", WIDGET, MERGE, both.clone()).await;
    assert_eq!(main["spec"]["size"], 2);
    assert_eq!(main.get("status"), None);
    assert_eq!(main["metadata"]["generation"], 2);
    let other =
        json!({"spec": {"size": 3}, "status": both["status"], "metadata": {"labels": {"l": "2"}}});
    let (_, status) = world.raw("PATCH", STATUS, MERGE, other).await;
    assert_eq!(status["spec"]["size"], 2);
    assert_eq!(status["status"]["conditions"][0]["type"], "B");
    assert_eq!(status["metadata"]["labels"]["l"], "1");
    assert_eq!(status["metadata"]["generation"], 2);
}

#[tokio::test(start_paused = true)]
async fn a_stale_merge_patch_with_a_version_is_a_conflict() {
    let world = World::api();
    world.define_widgets().await;
    let made = create(&world.widgets(), widget("w", json!({"size": 1}))).await.unwrap();
    let version = made["metadata"]["resourceVersion"].clone();
    world.raw("PATCH", WIDGET, MERGE, json!({"spec": {"size": 2}})).await;
    let patch = json!({"metadata": {"resourceVersion": version}, "spec": {"size": 3}});
    let (status, error) = world.raw("PATCH", WIDGET, MERGE, patch).await;
    assert_eq!((status, error["reason"].as_str()), (409, Some("Conflict")));
}

#[tokio::test(start_paused = true)]
async fn a_rehearsal_changes_nothing() {
    let world = World::api();
    let maps = world.maps();
    create(&maps, map("a", json!({"x": "1"}))).await.unwrap();
    let params = PatchParams { dry_run: true, ..PatchParams::default() };
    let shown = maps.patch("a", &params, &Patch::Merge(json!({"data": {"x": "2"}}))).await.unwrap();
    assert_eq!(shown.data["data"]["x"], "2");
    assert_eq!(maps.get("a").await.unwrap().data["data"]["x"], "1");
}

#[tokio::test(start_paused = true)]
async fn custom_resources_take_no_strategic_patch() {
    let world = World::api();
    world.define_widgets().await;
    create(&world.widgets(), widget("w", json!({"size": 1}))).await.unwrap();
    let kind = "application/strategic-merge-patch+json";
    let (status, error) = world.raw("PATCH", WIDGET, kind, json!({})).await;
    assert_eq!((status, error["reason"].as_str()), (415, Some("UnsupportedMediaType")));
}

#[tokio::test(start_paused = true)]
async fn an_applied_field_belongs_to_its_manager() {
    let world = World::api();
    let maps = world.maps();
    let apply = |manager: &str, force: bool, data: Value| {
        let params = PatchParams {
            field_manager: Some(manager.to_owned()),
            force,
            ..PatchParams::default()
        };
        let maps = maps.clone();
        async move { maps.patch("a", &params, &Patch::Apply(map("a", data))).await }
    };
    apply("one", false, json!({"x": "1", "y": "1"})).await.unwrap();
    apply("two", false, json!({"x": "1", "z": "1"})).await.unwrap();
    let (code, reason, message) = refusal(apply("two", false, json!({"x": "2", "z": "1"})).await);
    assert_eq!((code, reason.as_str()), (409, "Conflict"));
    assert_eq!(message, "Apply failed with 1 conflict: conflict with \"one\" using v1: .data.x");
    let forced = apply("two", true, json!({"x": "2", "z": "1"})).await.unwrap();
    assert_eq!(forced.data["data"], json!({"x": "2", "y": "1", "z": "1"}));
    let less = apply("one", false, json!({})).await.unwrap();
    assert_eq!(less.data["data"], json!({"x": "2", "z": "1"}));
}

#[tokio::test(start_paused = true)]
async fn the_model_remembers_who_wrote_what() {
    let world = World::api();
    world.define_widgets().await;
    create(&world.widgets(), widget("w", json!({"size": 1}))).await.unwrap();
    world
        .raw(
            "PATCH",
            STATUS,
            MERGE,
            json!({"status": {"conditions": [{"type": "A", "status": "1"}]}}),
        )
        .await;
    world
        .raw(
            "PATCH",
            STATUS,
            MERGE,
            json!({"status": {"conditions": [{"type": "A", "status": "1"}]}}),
        )
        .await;
    let key = crate::kubernetes::Key::new(None, "w");
    let writes: Vec<(String, String)> = world.shell.with(|model, _| {
        model
            .writes_to("widgets.example.com", &key)
            .map(|one| (one.verb.to_owned(), one.subresource.clone()))
            .collect()
    });
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(writes, [pair("create", ""), pair("patch", "status")]);
}
