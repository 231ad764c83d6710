use futures::StreamExt as _;
use kube::api::ListParams;
use serde_json::json;

use super::*;

#[tokio::test(start_paused = true)]
async fn continued_list_of_forgotten_history_is_gone() {
    let world = World::api();
    let maps = world.maps();
    for name in ["a", "b"] {
        create(&maps, map(name, json!({}))).await.unwrap();
    }
    let first = maps.list(&ListParams::default().limit(1)).await.unwrap();
    let token = first.metadata.continue_.unwrap();
    create(&maps, map("c", json!({}))).await.unwrap();
    world.shell.with(|model, _| model.forget_history());
    let gone = maps.list(&ListParams::default().continue_token(&token)).await;
    assert_eq!(refusal(gone).0, 410);
}

#[tokio::test(start_paused = true)]
async fn unknown_token_is_rejected() {
    let world = World::api();
    let user = crate::kubernetes::User::service_account("kube-system", "mooring");
    world.shell.with(|model, _| model.add_token("t", user));
    let stranger = Client::new(InProcess::with_token(world.shell.clone(), "x"), "default");
    let nodes: Api<DynamicObject> = Api::all_with(stranger, &resource("v1", "Node", "nodes"));
    assert_eq!(refusal(nodes.get("n").await).0, 401);
}

#[tokio::test(start_paused = true)]
async fn aks_automatic_refuses_writes_in_its_namespaces() {
    let options = KubernetesOptions {
        start: start(),
        managed_namespaces: true,
        ..KubernetesOptions::default()
    };
    let world = World::new(options);
    let path = |namespace: &str, kind: &str| format!("/api/v1/namespaces/{namespace}/{kind}");
    let json = "application/json";
    for (namespace, status) in [("default", 201), ("kube-system", 403)] {
        let maps = path(namespace, "configmaps");
        let (found, body) = world.raw("POST", &maps, json, map("m", json!({}))).await;
        assert_eq!(found, status, "{body}");
        if status == 403 {
            assert!(body["message"].as_str().unwrap().contains("managed by AKS"), "{body}");
        }
        assert_eq!(world.raw("GET", &maps, json, Value::Null).await.0, 200);
        let secrets = path(namespace, "secrets");
        let secrets = world.raw("GET", &secrets, json, Value::Null).await.0;
        assert_eq!(secrets, if status == 403 { 403 } else { 200 });
    }
    assert_eq!(
        world.raw("DELETE", "/api/v1/namespaces/kube-system", json, Value::Null).await.0,
        403
    );
    assert_eq!(world.raw("GET", "/api/v1/namespaces/kube-system", json, Value::Null).await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn kube_watcher_sees_each_object_once_across_restart() {
    use kube::runtime::{WatchStreamExt as _, watcher};
    let world = World::api();
    let maps = world.maps();
    create(&maps, map("a", json!({}))).await.unwrap();
    let stream =
        watcher(maps.clone(), watcher::Config::default()).default_backoff().applied_objects();
    let mut stream = std::pin::pin!(stream);
    assert_eq!(stream.next().await.unwrap().unwrap().metadata.name.unwrap(), "a");
    create(&maps, map("b", json!({}))).await.unwrap();
    world.shell.with(|model, _| model.restart());
    let mut names = Vec::new();
    while !names.contains(&"b".to_owned()) {
        // After a restart the watcher lists again, in its own time.
        if let Ok(object) = stream.next().await.unwrap() {
            names.push(object.metadata.name.unwrap());
        }
    }
    assert_eq!(names, ["a", "b"]);
}
