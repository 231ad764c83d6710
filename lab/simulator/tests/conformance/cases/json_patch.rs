//! JSON Patch, the patch type that writes conditions.

use serde_json::json;

use crate::answer::{causes, causes_before_rules, text, version};
use crate::case::cases;
use crate::cluster::{Cluster, Patch, condition, condition_types};

cases!("json_patch":
    a_list_removed_by_index_closes_up,
    a_key_with_a_slash_is_escaped,
    a_duplicate_type_is_taken_in_an_atomic_list;
    on_both:
    condition_is_appended_after_the_others,
    an_append_under_a_failed_test_of_uid_changes_nothing,
    a_test_of_the_version_guards_an_append,
    a_condition_is_replaced_at_its_index,
    a_failed_test_of_type_changes_nothing,
    test_after_the_end_fails,
    an_append_needs_a_list,
    a_list_is_added_where_there_is_none,
    a_whole_status_is_added_where_there_is_none,
    a_patch_of_the_object_leaves_status_alone,
    a_patch_of_status_leaves_the_rest_alone,
    a_removal_of_nothing_fails,
    operations_are_all_or_nothing,
    a_patch_of_a_deleting_claim_is_taken,
    a_patch_of_a_missing_claim_is_not_found,
    an_invalid_condition_is_refused;
    // The 1.20.2 of scripts/kube-assets accepted the duplicate; 22 is a guess.
    since 22:
    a_duplicate_type_is_refused_in_a_map,
);

/// Message of every patch that does not apply.
const REJECTED: &str = "the server rejected our request due to an error in our request";

async fn condition_is_appended_after_the_others(c: Cluster) {
    let (path, claim) = c.claim_with_conditions(&["Launched", "Registered"]).await;
    let patch = json!([
        {"op": "test", "path": "/metadata/uid", "value": claim["metadata"]["uid"]},
        {"op": "add", "path": "/status/conditions/-", "value": condition("CSEProvisioned", "False")},
    ]);
    let written = c.patch(Patch::Json, &format!("{path}/status"), &patch).await.is(200);
    assert_eq!(condition_types(&written), ["Launched", "Registered", "CSEProvisioned"]);
    assert_eq!(written["metadata"]["generation"], 1);
    assert!(version(&written) > version(&claim));
}

async fn an_append_under_a_failed_test_of_uid_changes_nothing(c: Cluster) {
    let (path, claim) = c.claim_with_conditions(&["Launched"]).await;
    let patch = json!([
        {"op": "test", "path": "/metadata/uid", "value": "6f0f7a52-6c4e-4a8f-9c0c-0f2b0f1d7a11"},
        {"op": "add", "path": "/status/conditions/-", "value": condition("CSEProvisioned", "False")},
    ]);
    let status =
        c.patch(Patch::Json, &format!("{path}/status"), &patch).await.fails(422, "Invalid");
    assert_eq!(text(&status, "/message"), REJECTED);
    assert_eq!(c.get(&path).await.is(200), claim);
}

async fn a_test_of_the_version_guards_an_append(c: Cluster) {
    let (path, claim) = c.claim_with_conditions(&["Launched"]).await;
    let patch = json!([
        {"op": "test", "path": "/metadata/resourceVersion", "value": claim["metadata"]["resourceVersion"]},
        {"op": "add", "path": "/status/conditions/-", "value": condition("CSEProvisioned", "False")},
    ]);
    let status = format!("{path}/status");
    c.patch(Patch::Json, &status, &patch).await.is(200);
    c.patch(Patch::Json, &status, &patch).await.fails(422, "Invalid");
    let claim = c.get(&path).await.is(200);
    assert_eq!(condition_types(&claim), ["Launched", "CSEProvisioned"]);
}

async fn a_condition_is_replaced_at_its_index(c: Cluster) {
    let (path, _) = c.claim_with_conditions(&["Launched", "CSEProvisioned", "Ready"]).await;
    let patch = json!([
        {"op": "test", "path": "/status/conditions/1/type", "value": "CSEProvisioned"},
        {"op": "replace", "path": "/status/conditions/1", "value": condition("CSEProvisioned", "False")},
    ]);
    let written = c.patch(Patch::Json, &format!("{path}/status"), &patch).await.is(200);
    assert_eq!(condition_types(&written), ["Launched", "CSEProvisioned", "Ready"]);
    assert_eq!(written["status"]["conditions"][1]["status"], "False");
    assert_eq!(written["status"]["conditions"][2]["status"], "Unknown");
}

async fn a_failed_test_of_type_changes_nothing(c: Cluster) {
    let (path, claim) = c.claim_with_conditions(&["CSEProvisioned", "Launched"]).await;
    let patch = json!([
        {"op": "test", "path": "/status/conditions/1/type", "value": "CSEProvisioned"},
        {"op": "replace", "path": "/status/conditions/1", "value": condition("CSEProvisioned", "False")},
    ]);
    let status =
        c.patch(Patch::Json, &format!("{path}/status"), &patch).await.fails(422, "Invalid");
    assert_eq!(text(&status, "/message"), REJECTED);
    assert_eq!(c.get(&path).await.is(200), claim);
}

async fn test_after_the_end_fails(c: Cluster) {
    let (path, _) = c.claim_with_conditions(&["Launched"]).await;
    let patch =
        json!([{"op": "test", "path": "/status/conditions/7/type", "value": "CSEProvisioned"}]);
    c.patch(Patch::Json, &format!("{path}/status"), &patch).await.fails(422, "Invalid");
}

async fn an_append_needs_a_list(c: Cluster) {
    let (path, _) = c.new_claim("claim").await;
    let status = format!("{path}/status");
    let append =
        json!([{"op": "add", "path": "/status/conditions/-", "value": condition("Ready", "True")}]);
    c.patch(Patch::Json, &status, &append).await.fails(422, "Invalid");
    c.patch(Patch::Merge, &status, &json!({"status": {"nodeName": "n"}})).await.is(200);
    c.patch(Patch::Json, &status, &append).await.fails(422, "Invalid");
}

async fn a_list_is_added_where_there_is_none(c: Cluster) {
    let (path, _) = c.new_claim("claim").await;
    let status = format!("{path}/status");
    c.patch(Patch::Merge, &status, &json!({"status": {"nodeName": "n"}})).await.is(200);
    let patch =
        json!([{"op": "add", "path": "/status/conditions", "value": [condition("Ready", "True")]}]);
    let written = c.patch(Patch::Json, &status, &patch).await.is(200);
    assert_eq!(condition_types(&written), ["Ready"]);
    assert_eq!(written["status"]["nodeName"], "n");
}

async fn a_whole_status_is_added_where_there_is_none(c: Cluster) {
    let (path, _) = c.new_claim("claim").await;
    let value = json!({"conditions": [condition("Ready", "True")]});
    let patch = json!([{"op": "add", "path": "/status", "value": value}]);
    let written = c.patch(Patch::Json, &format!("{path}/status"), &patch).await.is(200);
    assert_eq!(condition_types(&written), ["Ready"]);
}

async fn a_patch_of_the_object_leaves_status_alone(c: Cluster) {
    let (path, claim) = c.claim_with_conditions(&["Launched"]).await;
    let patch =
        json!([{"op": "add", "path": "/status/conditions/-", "value": condition("Ready", "True")}]);
    let answered = c.patch(Patch::Json, &path, &patch).await.is(200);
    assert_eq!(condition_types(&answered), ["Launched"]);
    assert_eq!(version(&answered), version(&claim), "nothing has changed");
}

async fn a_patch_of_status_leaves_the_rest_alone(c: Cluster) {
    let (path, claim) = c.claim_with_conditions(&["Launched"]).await;
    let patch = json!([
        {"op": "replace", "path": "/spec/expireAfter", "value": "1h"},
        {"op": "add", "path": "/status/nodeName", "value": "n"},
    ]);
    let written = c.patch(Patch::Json, &format!("{path}/status"), &patch).await.is(200);
    assert_eq!(written["spec"], claim["spec"]);
    assert_eq!(written["status"]["nodeName"], "n");
    assert_eq!(written["metadata"]["generation"], 1);
}

async fn a_removal_of_nothing_fails(c: Cluster) {
    let (path, _) = c.claim_with_conditions(&["Launched"]).await;
    let patch = json!([{"op": "remove", "path": "/status/imageID"}]);
    c.patch(Patch::Json, &format!("{path}/status"), &patch).await.fails(422, "Invalid");
    let patch = json!([{"op": "remove", "path": "/status/conditions/3"}]);
    c.patch(Patch::Json, &format!("{path}/status"), &patch).await.fails(422, "Invalid");
}

async fn operations_are_all_or_nothing(c: Cluster) {
    let (path, claim) = c.claim_with_conditions(&["Launched"]).await;
    let patch = json!([
        {"op": "add", "path": "/status/nodeName", "value": "n"},
        {"op": "test", "path": "/status/nodeName", "value": "other"},
    ]);
    c.patch(Patch::Json, &format!("{path}/status"), &patch).await.fails(422, "Invalid");
    assert_eq!(c.get(&path).await.is(200), claim);
}

async fn a_patch_of_a_deleting_claim_is_taken(c: Cluster) {
    let mut claim = c.claim("claim");
    claim["metadata"]["finalizers"] = json!(["karpenter.sh/termination"]);
    c.post(&c.claims(), &claim).await.is(201);
    let path = format!("{}/{}", c.claims(), c.name("claim"));
    let deleting = c.delete(&path).await.is(200);
    assert_eq!(deleting["metadata"]["generation"], 2, "deletion counts as a change");
    let value = json!({"conditions": [condition("CSEProvisioned", "False")]});
    let patch = json!([{"op": "add", "path": "/status", "value": value}]);
    let written = c.patch(Patch::Json, &format!("{path}/status"), &patch).await.is(200);
    assert_eq!(condition_types(&written), ["CSEProvisioned"]);
    assert_eq!(written["metadata"]["generation"], 2);
}

async fn a_patch_of_a_missing_claim_is_not_found(c: Cluster) {
    let path = format!("{}/{}/status", c.claims(), c.name("absent"));
    c.patch(Patch::Json, &path, &json!([])).await.fails(404, "NotFound");
}

async fn an_invalid_condition_is_refused(c: Cluster) {
    let (path, claim) = c.claim_with_conditions(&["Launched"]).await;
    let mut wrong = condition("CSEProvisioned", "Perhaps");
    wrong["reason"] = json!("not a reason");
    let patch = json!([{"op": "add", "path": "/status/conditions/-", "value": wrong}]);
    let status =
        c.patch(Patch::Json, &format!("{path}/status"), &patch).await.fails(422, "Invalid");
    let mut fields = causes_before_rules(&status);
    fields.sort_unstable();
    assert_eq!(fields.len(), 2, "{status}");
    assert!(
        fields.iter().any(|(reason, field)| {
            *reason == "FieldValueNotSupported"
                && field.starts_with("status.conditions")
                && field.ends_with("status")
        }),
        "{fields:?}"
    );
    assert!(
        fields.iter().any(|(reason, field)| {
            *reason == "FieldValueInvalid"
                && field.starts_with("status.conditions")
                && field.ends_with("reason")
        }),
        "{fields:?}"
    );
    assert_eq!(c.get(&path).await.is(200), claim);
}

async fn a_list_removed_by_index_closes_up(c: Cluster) {
    let mut claim = c.claim("claim");
    claim["metadata"]["finalizers"] = json!(["a.example/1", "a.example/2", "a.example/3"]);
    c.post(&c.claims(), &claim).await.is(201);
    let path = format!("{}/{}", c.claims(), c.name("claim"));
    let patch = json!([
        {"op": "test", "path": "/metadata/finalizers/1", "value": "a.example/2"},
        {"op": "remove", "path": "/metadata/finalizers/1"},
    ]);
    let written = c.patch(Patch::Json, &path, &patch).await.is(200);
    assert_eq!(written["metadata"]["finalizers"], json!(["a.example/1", "a.example/3"]));
}

async fn a_key_with_a_slash_is_escaped(c: Cluster) {
    let (path, _) = c.new_claim("claim").await;
    let patch = json!([
        {"op": "add", "path": "/metadata/annotations", "value": {}},
        {"op": "add", "path": "/metadata/annotations/a.example~1key", "value": "v"},
    ]);
    let written = c.patch(Patch::Json, &path, &patch).await.is(200);
    assert_eq!(written["metadata"]["annotations"], json!({"a.example/key": "v"}));
}

async fn a_duplicate_type_is_refused_in_a_map(c: Cluster) {
    let (path, _) = c.claim_with_conditions(&["CSEProvisioned"]).await;
    let patch = json!([{"op": "add", "path": "/status/conditions/-", "value": condition("CSEProvisioned", "True")}]);
    let status =
        c.patch(Patch::Json, &format!("{path}/status"), &patch).await.fails(422, "Invalid");
    assert_eq!(causes(&status), [("FieldValueDuplicate", "status.conditions[1]")]);
}

async fn a_duplicate_type_is_taken_in_an_atomic_list(c: Cluster) {
    let c = c.on_atomic();
    let (path, _) = c.claim_with_conditions(&["CSEProvisioned"]).await;
    let patch = json!([{"op": "add", "path": "/status/conditions/-", "value": condition("CSEProvisioned", "True")}]);
    let written = c.patch(Patch::Json, &format!("{path}/status"), &patch).await.is(200);
    assert_eq!(condition_types(&written), ["CSEProvisioned", "CSEProvisioned"]);
}
