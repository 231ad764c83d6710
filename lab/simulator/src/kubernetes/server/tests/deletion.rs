use kube::api::{DeleteParams, ListParams};
use serde_json::json;

use super::*;

fn owned(name: &str, owner: &Value) -> Value {
    let mut value = map(name, json!({}));
    value["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
    }]);
    value
}

fn map_with_finalizer(name: &str) -> Value {
    let mut value = map(name, json!({}));
    value["metadata"]["finalizers"] = json!(["example.com/hold"]);
    value
}

async fn release(world: &World, path: &str) {
    let body = json!({"metadata": {"finalizers": null}});
    let (status, _) = world.raw("PATCH", path, "application/merge-patch+json", body).await;
    assert_eq!(status, 200);
}

async fn names(api: &Api<DynamicObject>) -> Vec<String> {
    let list = api.list(&ListParams::default()).await.unwrap();
    list.items.into_iter().filter_map(|one| one.metadata.name).collect()
}

#[tokio::test(start_paused = true)]
async fn dependents_go_with_their_owner() {
    let world = World::cluster();
    let maps = world.maps();
    let owner = create(&maps, map("owner", json!({}))).await.unwrap();
    let child = create(&maps, owned("child", &owner)).await.unwrap();
    create(&maps, owned("grandchild", &child)).await.unwrap();
    maps.delete("owner", &DeleteParams::background()).await.unwrap();
    assert_eq!(names(&maps).await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn namespace_reports_remaining_objects_until_deleted() {
    let world = World::cluster();
    let namespaces = world.all("v1", "Namespace", "namespaces");
    create(
        &namespaces,
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}),
    )
    .await
    .unwrap();
    let maps = world.of("n", "v1", "ConfigMap", "configmaps");
    create(&maps, map_with_finalizer("a")).await.unwrap();
    create(&maps, map("b", json!({}))).await.unwrap();
    namespaces.delete("n", &DeleteParams::default()).await.unwrap();
    let (code, _, message) = refusal(create(&maps, map("c", json!({}))).await);
    assert_eq!(code, 403);
    assert_eq!(
        message,
        "configmaps \"c\" is forbidden: unable to create new content in namespace n because it is being terminated"
    );
    let ending = json_of(namespaces.get("n").await.unwrap());
    assert_eq!(ending["status"]["phase"], "Terminating");
    let said = |kind: &str| {
        let conditions = ending["status"]["conditions"].as_array().unwrap();
        conditions.iter().find(|one| one["type"] == kind).unwrap()["message"].clone()
    };
    assert_eq!(
        said("NamespaceContentRemaining"),
        "Some resources are remaining: configmaps has 1 resource instances"
    );
    assert_eq!(
        said("NamespaceFinalizersRemaining"),
        "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances"
    );
    release(&world, "/api/v1/namespaces/n/configmaps/a").await;
    assert_eq!(refusal(namespaces.get("n").await).0, 404);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_refuses_by_rule() {
    let world = World::api();
    let maps = world.maps();
    create(&maps, map("a", json!({}))).await.unwrap();
    world.shell.with(|model, _| {
        model.deny(crate::kubernetes::WebhookDenial {
            webhook: "guard.example.com".to_owned(),
            resource: "configmaps".to_owned(),
            operations: vec!["DELETE".to_owned()],
            name: None,
            message: "not now".to_owned(),
        });
    });
    let (code, _, message) = refusal(maps.delete("a", &DeleteParams::default()).await);
    assert_eq!(code, 403);
    assert_eq!(message, "admission webhook \"guard.example.com\" denied the request: not now");
}
