use serde_json::json;

use super::*;

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
