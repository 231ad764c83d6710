use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use serde_json::json;
use std::time::Duration;

use super::*;

async fn deployment(world: &World, replicas: i64) {
    let api = world.of("default", "apps/v1", "Deployment", "deployments");
    create(&api, json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    }))
    .await
    .unwrap();
}

async fn budget(world: &World, name: &str, least: i64) {
    let api = world.of("default", "policy/v1", "PodDisruptionBudget", "poddisruptionbudgets");
    create(
        &api,
        json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
            "spec": {"minAvailable": least, "selector": {"matchLabels": {"app": "web"}}},
        }),
    )
    .await
    .unwrap();
}

async fn cordon(world: &World, node: &str) {
    let patch = Patch::Merge(json!({"spec": {"unschedulable": true}}));
    world.nodes().patch(node, &PatchParams::default(), &patch).await.unwrap();
}

/// Name, node and phase of the pods that are not terminating.
async fn running(world: &World) -> Vec<(String, String)> {
    let list = world.pods().list(&ListParams::default()).await.unwrap();
    list.items
        .iter()
        .filter(|pod| {
            pod.metadata.deletion_timestamp.is_none() && pod.data["status"]["phase"] == "Running"
        })
        .map(|pod| {
            let node = pod.data["spec"]["nodeName"].as_str().unwrap_or_default();
            (pod.metadata.name.clone().unwrap(), node.to_owned())
        })
        .collect()
}

async fn evict(world: &World, pod: &str, body: Value) -> (u16, Value) {
    let path = format!("/api/v1/namespaces/default/pods/{pod}/eviction");
    world.raw("POST", &path, "application/json", body).await
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn drained_pods_land_elsewhere() {
    let world = World::cluster();
    create(&world.nodes(), node("one")).await.unwrap();
    deployment(&world, 3).await;
    pass(5).await;
    assert_eq!(running(&world).await.len(), 3);
    create(&world.nodes(), node("two")).await.unwrap();
    cordon(&world, "one").await;
    for (pod, _) in running(&world).await {
        let body = json!({"kind": "Eviction", "metadata": {"name": pod, "namespace": "default"}});
        assert_eq!(evict(&world, &pod, body).await.0, 201);
    }
    pass(10).await;
    let after = running(&world).await;
    assert_eq!(after.len(), 3);
    assert!(after.iter().all(|(_, node)| node == "two"), "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn a_budget_stops_evictions_until_enough_pods_are_ready() {
    let world = World::cluster();
    create(&world.nodes(), node("one")).await.unwrap();
    deployment(&world, 2).await;
    budget(&world, "web", 1).await;
    pass(5).await;
    let pods = running(&world).await;
    assert_eq!(
        evict(&world, &pods[0].0, json!({"apiVersion": "policy/v1", "kind": "Eviction"})).await.0,
        201
    );
    let (status, error) = evict(&world, &pods[1].0, json!({})).await;
    assert_eq!((status, error["reason"].as_str()), (429, Some("TooManyRequests")));
    assert_eq!(
        error["message"],
        "Cannot evict pod as it would violate the pod's disruption budget."
    );
    assert_eq!(error["details"]["causes"][0]["reason"], "DisruptionBudget");
    assert_eq!(
        error["details"]["causes"][0]["message"],
        "The disruption budget web needs 1 healthy pods and has 1 currently"
    );
    pass(10).await;
    assert_eq!(evict(&world, &pods[1].0, json!({})).await.0, 201);
}

#[tokio::test(start_paused = true)]
async fn a_pod_ends_in_its_grace_period_and_at_once_without_one() {
    let world = World::cluster();
    create(&world.nodes(), node("one")).await.unwrap();
    create(&world.pods(), pod("a")).await.unwrap();
    create(&world.pods(), pod("b")).await.unwrap();
    pass(5).await;
    world.pods().delete("a", &DeleteParams::default()).await.unwrap();
    let going = world.pods().get("a").await.unwrap();
    assert_eq!(going.metadata.deletion_grace_period_seconds, Some(30));
    pass(2).await;
    assert_eq!(refusal(world.pods().get("a").await).0, 404);
    world.pods().delete("b", &DeleteParams::default().grace_period(0)).await.unwrap();
    assert_eq!(refusal(world.pods().get("b").await).0, 404);
}

#[tokio::test(start_paused = true)]
async fn pods_keep_off_taints_and_go_with_their_node() {
    let world = World::cluster();
    let mut tainted = node("tainted");
    tainted["spec"] = json!({"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]});
    create(&world.nodes(), tainted).await.unwrap();
    create(&world.pods(), pod("plain")).await.unwrap();
    let mut tolerant = pod("tolerant");
    tolerant["spec"]["tolerations"] = json!([{"key": "k", "operator": "Exists"}]);
    create(&world.pods(), tolerant).await.unwrap();
    pass(5).await;
    assert_eq!(running(&world).await, [("tolerant".to_owned(), "tainted".to_owned())]);
    world.nodes().delete("tainted", &DeleteParams::default()).await.unwrap();
    assert_eq!(refusal(world.pods().get("tolerant").await).0, 404);
}
