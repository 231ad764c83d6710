//! Merge patches: JSON merge, as Karpenter writes, and strategic merge, as kubectl and kubelets write.

use serde_json::json;

use crate::answer::version;
use crate::case::cases;
use crate::cluster::{Cluster, Patch, condition, condition_types, pod};

cases!("merge_patch":
    null_removes_and_objects_merge,
    a_merge_patch_of_a_missing_object_is_not_found,
    conditions_of_a_node_merge_by_type,
    a_condition_of_a_node_is_removed_by_directive,
    taints_of_a_node_are_replaced,
    containers_merge_by_name,
    a_strategic_patch_of_a_custom_object_is_unsupported,
    a_node_is_cordoned_and_uncordoned;
    on_both:
    a_merge_patch_replaces_the_list_and_drops_a_foreign_condition,
    a_merge_patch_with_a_stale_version_conflicts,
    a_merge_patch_that_changes_nothing_keeps_the_version,
);

async fn a_merge_patch_replaces_the_list_and_drops_a_foreign_condition(c: Cluster) {
    let (path, _) = c.claim_with_conditions(&["Launched", "CSEProvisioned"]).await;
    let patch = json!({"status": {"conditions": [condition("Launched", "True")]}});
    let written = c.patch(Patch::Merge, &format!("{path}/status"), &patch).await.is(200);
    assert_eq!(condition_types(&written), ["Launched"]);
}

async fn a_merge_patch_with_a_stale_version_conflicts(c: Cluster) {
    let (path, claim) = c.claim_with_conditions(&["Launched"]).await;
    let status = format!("{path}/status");
    c.patch(Patch::Merge, &status, &json!({"status": {"nodeName": "n"}})).await.is(200);
    let patch = json!({
        "metadata": {"resourceVersion": claim["metadata"]["resourceVersion"]},
        "status": {"nodeName": "m"},
    });
    let answer = c.patch(Patch::Merge, &status, &patch).await;
    answer.fails_saying(409, "Conflict", "the object has been modified");
    assert_eq!(c.get(&path).await.is(200)["status"]["nodeName"], "n");
}

async fn a_merge_patch_that_changes_nothing_keeps_the_version(c: Cluster) {
    let (path, claim) = c.claim_with_conditions(&["Launched"]).await;
    let patch = json!({"status": {"conditions": claim["status"]["conditions"]}});
    let written = c.patch(Patch::Merge, &format!("{path}/status"), &patch).await.is(200);
    assert_eq!(version(&written), version(&claim));
}

async fn null_removes_and_objects_merge(c: Cluster) {
    let (path, _) = c.new_claim("claim").await;
    let patch = json!({"metadata": {"annotations": {"a": "1", "b": "2"}}});
    c.patch(Patch::Merge, &path, &patch).await.is(200);
    let patch = json!({"metadata": {"annotations": {"a": null, "c": "3", "absent": null}}});
    let written = c.patch(Patch::Merge, &path, &patch).await.is(200);
    assert_eq!(written["metadata"]["annotations"], json!({"b": "2", "c": "3"}));
}

async fn a_merge_patch_of_a_missing_object_is_not_found(c: Cluster) {
    let path = format!("{}/{}", c.claims(), c.name("absent"));
    c.patch(Patch::Merge, &path, &json!({})).await.fails(404, "NotFound");
}

async fn node(c: &Cluster) -> String {
    let name = c.name("node");
    let body = json!({"metadata": {"name": name}, "spec": {"providerID": "azure:///x"}});
    c.post("/api/v1/nodes", &body).await.is(201);
    format!("/api/v1/nodes/{name}")
}

fn ready(kind: &str, status: &str) -> serde_json::Value {
    json!({"type": kind, "status": status})
}

async fn conditions_of_a_node_merge_by_type(c: Cluster) {
    let path = format!("{}/status", node(&c).await);
    let both =
        json!({"status": {"conditions": [ready("Ready", "True"), ready("DiskPressure", "False")]}});
    c.patch(Patch::Strategic, &path, &both).await.is(200);
    let one =
        json!({"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Gone"}]}});
    let written = c.patch(Patch::Strategic, &path, &one).await.is(200);
    let mut types = condition_types(&written);
    types.sort_unstable();
    assert_eq!(types, ["DiskPressure", "Ready"]);
    let changed = written["status"]["conditions"].as_array().unwrap().iter();
    let changed = changed.filter(|condition| condition["type"] == "Ready");
    assert_eq!(changed.map(|condition| &condition["status"]).collect::<Vec<_>>(), ["False"]);
}

async fn a_condition_of_a_node_is_removed_by_directive(c: Cluster) {
    let path = format!("{}/status", node(&c).await);
    let both =
        json!({"status": {"conditions": [ready("Ready", "True"), ready("DiskPressure", "False")]}});
    c.patch(Patch::Strategic, &path, &both).await.is(200);
    let patch = json!({"status": {"conditions": [{"$patch": "delete", "type": "DiskPressure"}]}});
    let written = c.patch(Patch::Strategic, &path, &patch).await.is(200);
    assert_eq!(condition_types(&written), ["Ready"]);
}

async fn taints_of_a_node_are_replaced(c: Cluster) {
    let path = node(&c).await;
    let taint = |key: &str| json!({"key": key, "effect": "NoSchedule"});
    let patch = json!({"spec": {"taints": [taint("a"), taint("b")]}});
    let written = c.patch(Patch::Strategic, &path, &patch).await.is(200);
    assert_eq!(written["spec"]["taints"], json!([taint("a"), taint("b")]));
    let patch = json!({"spec": {"taints": [taint("c")]}});
    let written = c.patch(Patch::Strategic, &path, &patch).await.is(200);
    assert_eq!(written["spec"]["taints"], json!([taint("c")]));
    let patch = json!({"spec": {"taints": null}});
    let written = c.patch(Patch::Strategic, &path, &patch).await.is(200);
    assert!(written["spec"]["taints"].is_null());
}

async fn containers_merge_by_name(c: Cluster) {
    let pods = format!("{}/pods", c.namespace().await);
    c.post(&pods, &pod("p")).await.is(201);
    let patch = json!({"spec": {"containers": [{"name": "c", "image": "example.invalid/d"}]}});
    let written = c.patch(Patch::Strategic, &format!("{pods}/p"), &patch).await.is(200);
    assert_eq!(written["spec"]["containers"].as_array().unwrap().len(), 1);
    assert_eq!(written["spec"]["containers"][0]["image"], "example.invalid/d");
    assert_eq!(written["spec"]["containers"][0]["imagePullPolicy"], "Always", "a default, kept");
}

async fn a_strategic_patch_of_a_custom_object_is_unsupported(c: Cluster) {
    let (path, _) = c.new_claim("claim").await;
    let answer = c.patch(Patch::Strategic, &path, &json!({"metadata": {"labels": {}}})).await;
    answer.fails(415, "UnsupportedMediaType");
}

async fn a_node_is_cordoned_and_uncordoned(c: Cluster) {
    let path = node(&c).await;
    let cordon = json!({"spec": {"unschedulable": true}});
    let written = c.patch(Patch::Strategic, &path, &cordon).await.is(200);
    assert_eq!(written["spec"]["unschedulable"], true);
    assert_eq!(written["spec"]["providerID"], "azure:///x");
    let uncordon = json!({"spec": {"unschedulable": false}});
    let written = c.patch(Patch::Strategic, &path, &uncordon).await.is(200);
    assert!(written["spec"]["unschedulable"].is_null(), "false is left out");
}
