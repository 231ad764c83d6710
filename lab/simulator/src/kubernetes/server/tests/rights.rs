use kube::api::{ListParams, Patch, PatchParams};
use serde_json::json;

use super::*;
use crate::kubernetes::User;

async fn bound(world: &World, rules: Value) -> Client {
    let cluster_roles = world.all("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles");
    create(
        &cluster_roles,
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "r"}, "rules": rules}),
    )
    .await
    .unwrap();
    let bindings =
        world.all("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings");
    create(&bindings, json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "b"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"},
        "subjects": [{"kind": "ServiceAccount", "namespace": "kube-system", "name": "mooring"}]})).await.unwrap();
    let user = User::service_account("kube-system", "mooring");
    world.shell.with(|model, _| model.add_token("t", user));
    Client::new(InProcess::with_token(world.shell.clone(), "t"), "default")
}

#[tokio::test(start_paused = true)]
async fn a_call_that_no_rule_allows_is_forbidden_by_name() {
    let world = World::api();
    world.define_widgets().await;
    create(&world.widgets(), widget("w", json!({"size": 1}))).await.unwrap();
    let client = bound(&world, json!([
        {"apiGroups": ["example.com"], "resources": ["widgets"], "verbs": ["get", "list"]},
        {"apiGroups": ["example.com"], "resources": ["widgets/status"], "verbs": ["patch"]},
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["mine"], "verbs": ["get"]},
    ]))
    .await;
    let widgets: Api<DynamicObject> =
        Api::all_with(client.clone(), &resource("example.com/v1", "Widget", "widgets"));
    assert!(widgets.get("w").await.is_ok());
    let patch = Patch::Merge(json!({"spec": {"size": 2}}));
    let (code, reason, message) =
        refusal(widgets.patch("w", &PatchParams::default(), &patch).await);
    assert_eq!((code, reason.as_str()), (403, "Forbidden"));
    assert_eq!(
        message,
        "widgets.example.com \"w\" is forbidden: User \"system:serviceaccount:kube-system:mooring\" cannot patch \
         resource \"widgets\" in API group \"example.com\" at the cluster scope"
    );
    assert!(
        widgets
            .patch_status("w", &PatchParams::default(), &Patch::Merge(json!({"status": {}})))
            .await
            .is_ok()
    );
    let maps: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), "default", &resource("v1", "ConfigMap", "configmaps"));
    assert_eq!(refusal(maps.get("mine").await).0, 404);
    assert_eq!(refusal(maps.get("other").await).0, 403);
    let (_, _, message) = refusal(maps.list(&ListParams::default()).await);
    assert_eq!(
        message,
        "configmaps is forbidden: User \"system:serviceaccount:kube-system:mooring\" cannot list resource \
         \"configmaps\" in API group \"\" in the namespace \"default\""
    );
}

#[tokio::test(start_paused = true)]
async fn unknown_token_is_rejected_and_users_review_access() {
    let world = World::api();
    let client =
        bound(&world, json!([{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}])).await;
    let stranger = Client::new(InProcess::with_token(world.shell.clone(), "x"), "default");
    let nodes: Api<DynamicObject> = Api::all_with(stranger, &resource("v1", "Node", "nodes"));
    assert_eq!(refusal(nodes.get("n").await).0, 401);
    for (verb, allowed) in [("get", true), ("delete", false)] {
        let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {"verb": verb, "resource": "nodes"}}});
        let request = http::Request::post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
            .body(review.to_string().into_bytes())
            .unwrap();
        let answer: Value = client.request(request).await.unwrap();
        assert_eq!(answer["status"]["allowed"], allowed);
    }
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
