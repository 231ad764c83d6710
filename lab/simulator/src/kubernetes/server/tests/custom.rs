use kube::api::{DeleteParams, ListParams};
use serde_json::json;

use super::*;

#[tokio::test(start_paused = true)]
async fn unknown_members_are_pruned_and_missing_ones_defaulted() {
    let world = World::api();
    world.define_widgets().await;
    let spec = json!({"size": 1, "unknown": 1, "anything": {"deep": {"er": 1}}});
    let made = create(&world.widgets(), widget("w", spec)).await.unwrap();
    assert_eq!(made["spec"], json!({"size": 1, "colour": "red", "anything": {"deep": {"er": 1}}}));
}

#[tokio::test(start_paused = true)]
async fn schema_violations_are_rejected_with_their_field() {
    let world = World::api();
    world.define_widgets().await;
    for (spec, message) in [
        (json!({}), "spec.size: Required value"),
        (
            json!({"size": 0}),
            "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1",
        ),
        (
            json!({"size": "x"}),
            "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: \"string\"",
        ),
        (
            json!({"size": 1, "colour": "x"}),
            "spec.colour: Unsupported value: \"x\": supported values: \"red\", \"blue\"",
        ),
        (
            json!({"size": 1, "name": "A"}),
            "spec.name: Invalid value: \"A\": spec.name in body should match '^[a-z]*$'",
        ),
        (json!({"size": 1, "tags": ["a", "a"]}), "spec.tags[1]: Duplicate value: \"a\""),
    ] {
        let (code, reason, text) = refusal(create(&world.widgets(), widget("w", spec)).await);
        assert_eq!((code, reason.as_str()), (422, "Invalid"));
        assert_eq!(text, format!("Widget.example.com \"w\" is invalid: {message}"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_definition_is_established_and_takes_its_objects_with_it() {
    let world = World::api();
    world.define_widgets().await;
    let definitions = world.all(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
    );
    let definition = json_of(definitions.get("widgets.example.com").await.unwrap());
    assert_eq!(definition["status"]["conditions"][1]["type"], "Established");
    assert_eq!(definition["status"]["storedVersions"], json!(["v1"]));
    let mut stuck = widget("stuck", json!({"size": 1}));
    stuck["metadata"]["finalizers"] = json!(["example.com/hold"]);
    create(&world.widgets(), stuck).await.unwrap();
    create(&world.widgets(), widget("free", json!({"size": 1}))).await.unwrap();
    definitions.delete("widgets.example.com", &DeleteParams::default()).await.unwrap();
    let left = world.widgets().list(&ListParams::default()).await.unwrap();
    assert_eq!(left.items.len(), 1);
    assert!(left.items[0].metadata.deletion_timestamp.is_some());
    assert!(definitions.get("widgets.example.com").await.is_ok());
    let path = "/apis/example.com/v1/widgets/stuck";
    world
        .raw(
            "PATCH",
            path,
            "application/merge-patch+json",
            json!({"metadata": {"finalizers": null}}),
        )
        .await;
    assert_eq!(refusal(definitions.get("widgets.example.com").await).0, 404);
    assert_eq!(world.raw("GET", "/apis/example.com/v1/widgets", "", Value::Null).await.0, 404);
}

#[tokio::test(start_paused = true)]
async fn versions_show_one_object_and_only_served_ones_answer() {
    let world = World::api();
    let mut definition = widget_definition();
    let first = definition["spec"]["versions"][0].clone();
    let mut old = first.clone();
    (old["name"], old["storage"]) = (json!("v1beta1"), json!(false));
    let mut dead = first.clone();
    (dead["name"], dead["storage"], dead["served"]) =
        (json!("v1alpha1"), json!(false), json!(false));
    definition["spec"]["versions"] = json!([first, old, dead]);
    let definitions = world.all(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
    );
    create(&definitions, definition).await.unwrap();
    create(&world.widgets(), widget("w", json!({"size": 1}))).await.unwrap();
    let old = world.all("example.com/v1beta1", "Widget", "widgets");
    assert_eq!(json_of(old.get("w").await.unwrap())["apiVersion"], "example.com/v1beta1");
    assert_eq!(
        world.raw("GET", "/apis/example.com/v1alpha1/widgets", "", Value::Null).await.0,
        404
    );
}

#[tokio::test(start_paused = true)]
async fn a_table_has_the_columns_of_the_definition() {
    let world = World::api();
    world.define_widgets().await;
    create(&world.widgets(), widget("w", json!({"size": 4}))).await.unwrap();
    let request = http::Request::get("/apis/example.com/v1/widgets")
        .header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
        .body(Vec::new())
        .unwrap();
    let table: Value = world.client.request(request).await.unwrap();
    assert_eq!(table["kind"], "Table");
    assert_eq!(table["rows"][0]["cells"], json!(["w", 4, null]));
    assert_eq!(table["columnDefinitions"][1]["name"], "Size");
}
