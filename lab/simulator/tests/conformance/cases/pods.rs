//! Pods: grace, binding, eviction and PDBs.

use serde_json::{Value, json};

use crate::answer::{causes, text};
use crate::case::cases;
use crate::cluster::{Cluster, Patch, pod};

cases!("pods":
    a_new_pod_is_pending_with_defaults,
    a_pod_without_node_is_deleted_at_once,
    a_pod_on_a_node_is_deleted_after_its_grace,
    a_grace_of_zero_removes_a_pod,
    a_grace_can_be_shortened_not_lengthened,
    an_eviction_without_budget_deletes,
    an_eviction_of_a_missing_pod_is_not_found,
    an_eviction_passes_its_options_on,
    an_eviction_under_another_uid_conflicts,
    an_exhausted_budget_refuses_with_429,
    a_budget_allows_as_many_as_it_says,
    a_budget_that_was_not_observed_refuses,
    two_budgets_refuse,
    pending_pod_is_evicted_regardless_of_pdb,
    finished_pod_is_evicted_regardless_of_pdb;
    since 21:
    an_eviction_of_v1_is_taken,
);

async fn running(c: &Cluster, name: &str) -> String {
    let pods = format!("/api/v1/namespaces/{}/pods", c.name("ns"));
    let mut body = pod(name);
    body["metadata"]["labels"] = json!({"app": "app"});
    body["spec"]["nodeName"] = json!(c.name("node"));
    c.post(&pods, &body).await.is(201);
    let status = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    c.patch(Patch::Strategic, &format!("{pods}/{name}/status"), &status).await.is(200);
    format!("{pods}/{name}")
}

async fn evict(c: &Cluster, path: &str, options: Value) -> crate::answer::Answer {
    let name = path.rsplit('/').next().unwrap();
    let body = json!({
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": c.name("ns")},
        "deleteOptions": options,
    });
    c.post(&format!("{path}/eviction"), &body).await
}

/// Creates a PDB for the running pods, as its controller would have updated it.
async fn budget(c: &Cluster, name: &str, allowed: i32, observed: bool) -> String {
    let group = if c.is_before(21) { "policy/v1beta1" } else { "policy/v1" };
    let budgets = format!("/apis/{group}/namespaces/{}/poddisruptionbudgets", c.name("ns"));
    let body = json!({
        "apiVersion": group, "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "app"}}},
    });
    let mut made = c.post(&budgets, &body).await.is(201);
    made["status"] = json!({
        "observedGeneration": if observed { made["metadata"]["generation"].clone() } else { json!(0) },
        "disruptionsAllowed": allowed, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2,
    });
    c.put(&format!("{budgets}/{name}/status"), &made).await.is(200);
    format!("{budgets}/{name}")
}

async fn a_new_pod_is_pending_with_defaults(c: Cluster) {
    let pods = format!("{}/pods", c.namespace().await);
    let made = c.post(&pods, &pod("p")).await.is(201);
    assert_eq!(made["status"]["phase"], "Pending");
    assert_eq!(made["status"]["qosClass"], "BestEffort");
    assert_eq!(made["spec"]["terminationGracePeriodSeconds"], 30);
    assert_eq!(made["spec"]["restartPolicy"], "Always");
    let tolerations = made["spec"]["tolerations"].as_array().unwrap();
    let keys: Vec<&str> = tolerations.iter().map(|one| text(one, "/key")).collect();
    assert_eq!(keys, ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]);
}

async fn a_pod_without_node_is_deleted_at_once(c: Cluster) {
    let pods = format!("{}/pods", c.namespace().await);
    c.post(&pods, &pod("p")).await.is(201);
    let answered = c.delete(&format!("{pods}/p")).await.is(200);
    assert_eq!(answered["kind"], "Pod");
    c.get(&format!("{pods}/p")).await.fails(404, "NotFound");
}

async fn a_pod_on_a_node_is_deleted_after_its_grace(c: Cluster) {
    c.namespace().await;
    let path = running(&c, "p").await;
    let answered = c.delete(&path).await.is(200);
    assert_eq!(answered["metadata"]["deletionGracePeriodSeconds"], 30);
    let left = c.get(&path).await.is(200);
    text(&left, "/metadata/deletionTimestamp");
    assert_eq!(left["metadata"]["uid"], answered["metadata"]["uid"]);
}

async fn a_grace_of_zero_removes_a_pod(c: Cluster) {
    c.namespace().await;
    let path = running(&c, "p").await;
    c.delete_with(&path, &json!({"gracePeriodSeconds": 0})).await.is(200);
    c.get(&path).await.fails(404, "NotFound");
}

async fn a_grace_can_be_shortened_not_lengthened(c: Cluster) {
    c.namespace().await;
    let path = running(&c, "p").await;
    c.delete_with(&path, &json!({"gracePeriodSeconds": 20})).await.is(200);
    c.delete_with(&path, &json!({"gracePeriodSeconds": 600})).await.is(200);
    assert_eq!(c.get(&path).await.is(200)["metadata"]["deletionGracePeriodSeconds"], 20);
    c.delete_with(&path, &json!({"gracePeriodSeconds": 10})).await.is(200);
    assert_eq!(c.get(&path).await.is(200)["metadata"]["deletionGracePeriodSeconds"], 10);
}

async fn an_eviction_without_budget_deletes(c: Cluster) {
    c.namespace().await;
    let path = running(&c, "p").await;
    let status = evict(&c, &path, json!({})).await.is(201);
    assert_eq!(status["kind"], "Status");
    assert_eq!(status["status"], "Success");
    text(&c.get(&path).await.is(200), "/metadata/deletionTimestamp");
}

async fn an_eviction_of_v1_is_taken(c: Cluster) {
    eviction_of(&c, "policy/v1").await;
}

async fn eviction_of(c: &Cluster, api_version: &str) {
    c.namespace().await;
    let path = running(c, "p").await;
    let body = json!({
        "apiVersion": api_version, "kind": "Eviction",
        "metadata": {"name": "p", "namespace": c.name("ns")},
    });
    c.post(&format!("{path}/eviction"), &body).await.is(201);
}

async fn an_eviction_of_a_missing_pod_is_not_found(c: Cluster) {
    let path = format!("{}/pods/absent", c.namespace().await);
    evict(&c, &path, json!({})).await.fails(404, "NotFound");
}

async fn an_eviction_passes_its_options_on(c: Cluster) {
    c.namespace().await;
    let path = running(&c, "p").await;
    evict(&c, &path, json!({"gracePeriodSeconds": 7})).await.is(201);
    assert_eq!(c.get(&path).await.is(200)["metadata"]["deletionGracePeriodSeconds"], 7);
    let path = running(&c, "q").await;
    evict(&c, &path, json!({"gracePeriodSeconds": 0})).await.is(201);
    c.get(&path).await.fails(404, "NotFound");
}

async fn an_eviction_under_another_uid_conflicts(c: Cluster) {
    c.namespace().await;
    let path = running(&c, "p").await;
    let options = json!({"preconditions": {"uid": "6f0f7a52-6c4e-4a8f-9c0c-0f2b0f1d7a11"}});
    evict(&c, &path, options).await.fails(409, "Conflict");
    assert!(c.get(&path).await.is(200)["metadata"]["deletionTimestamp"].is_null());
}

async fn an_exhausted_budget_refuses_with_429(c: Cluster) {
    c.namespace().await;
    let path = running(&c, "p").await;
    budget(&c, "b", 0, true).await;
    let status = evict(&c, &path, json!({})).await.fails(429, "TooManyRequests");
    assert_eq!(
        text(&status, "/message"),
        "Cannot evict pod as it would violate the pod's disruption budget."
    );
    assert_eq!(causes(&status), [("DisruptionBudget", "")]);
    // 1.20 compares with what is needed also where enough are healthy.
    let why = if c.is_before(25) {
        "The disruption budget b needs 1 healthy pods and has 2 currently"
    } else {
        "The disruption budget b does not allow evicting pods currently"
    };
    assert_eq!(text(&status, "/details/causes/0/message"), why);
    assert!(c.get(&path).await.is(200)["metadata"]["deletionTimestamp"].is_null());
}

async fn a_budget_allows_as_many_as_it_says(c: Cluster) {
    c.namespace().await;
    let (first, second) = (running(&c, "p").await, running(&c, "q").await);
    let path = budget(&c, "b", 1, true).await;
    evict(&c, &first, json!({})).await.is(201);
    let left = c.get(&path).await.is(200);
    assert_eq!(left["status"]["disruptionsAllowed"], 0);
    text(&left, "/status/disruptedPods/p");
    evict(&c, &second, json!({})).await.fails(429, "TooManyRequests");
}

async fn a_budget_that_was_not_observed_refuses(c: Cluster) {
    c.namespace().await;
    let path = running(&c, "p").await;
    budget(&c, "b", 1, false).await;
    evict(&c, &path, json!({})).await.fails(429, "TooManyRequests");
}

async fn two_budgets_refuse(c: Cluster) {
    c.namespace().await;
    let path = running(&c, "p").await;
    budget(&c, "a", 1, true).await;
    budget(&c, "b", 1, true).await;
    let answer = evict(&c, &path, json!({})).await;
    assert_eq!(answer.status, 500, "{answer}");
    assert!(text(&answer.body, "/message").contains("more than one PodDisruptionBudget"));
}

async fn pending_pod_is_evicted_regardless_of_pdb(c: Cluster) {
    let pods = format!("{}/pods", c.namespace().await);
    let mut body = pod("p");
    body["metadata"]["labels"] = json!({"app": "app"});
    c.post(&pods, &body).await.is(201);
    budget(&c, "b", 0, true).await;
    evict(&c, &format!("{pods}/p"), json!({})).await.is(201);
    c.get(&format!("{pods}/p")).await.fails(404, "NotFound");
}

async fn finished_pod_is_evicted_regardless_of_pdb(c: Cluster) {
    c.namespace().await;
    let path = running(&c, "p").await;
    let status = json!({"status": {"phase": "Succeeded"}});
    c.patch(Patch::Strategic, &format!("{path}/status"), &status).await.is(200);
    budget(&c, "b", 0, true).await;
    evict(&c, &path, json!({})).await.is(201);
}
