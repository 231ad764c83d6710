//! Server-side apply: field ownership.

use serde_json::{Value, json};

use crate::answer::{causes, version};
use crate::case::cases;
use crate::cluster::{Cluster, condition, condition_types};

cases!("apply":
    a_forced_apply_wipes_an_atomic_list,
    an_apply_creates_what_is_missing,
    an_apply_needs_a_manager,
    an_apply_must_not_name_managed_fields,
    an_applied_field_conflicts_with_its_owner;
    on_both:
    a_forced_apply_takes_the_field,
    the_same_apply_changes_nothing,
    a_field_that_is_no_longer_applied_is_removed,
    an_update_by_another_takes_the_field;
    // The 1.20.2 of scripts/kube-assets took conditions for one value. It is unknown if that is
    // 1.20 or this build, and 22 is a guess.
    since 22:
    a_map_keeps_the_conditions_of_others,
    a_conflict_of_conditions_is_per_field,
);

fn status_of(c: &Cluster, conditions: &[Value]) -> Value {
    let claim = c.claim("claim");
    json!({
        "apiVersion": claim["apiVersion"],
        "kind": "NodeClaim",
        "metadata": {"name": c.name("claim")},
        "status": {"conditions": conditions},
    })
}

fn labelled(c: &Cluster, labels: &Value) -> Value {
    let mut claim = c.claim("claim");
    claim["metadata"]["labels"] = labels.clone();
    claim
}

async fn a_map_keeps_the_conditions_of_others(c: Cluster) {
    let (path, _) = c.claim_with_conditions(&["Launched", "Registered"]).await;
    let ours = status_of(&c, &[condition("CSEProvisioned", "False")]);
    let written = c.apply(&format!("{path}/status"), "mooring", false, &ours).await.is(200);
    assert_eq!(condition_types(&written), ["Launched", "Registered", "CSEProvisioned"]);
    let again = status_of(&c, &[condition("CSEProvisioned", "True")]);
    let written = c.apply(&format!("{path}/status"), "mooring", false, &again).await.is(200);
    assert_eq!(condition_types(&written), ["Launched", "Registered", "CSEProvisioned"]);
    assert_eq!(written["status"]["conditions"][2]["status"], "True");
}

async fn a_forced_apply_wipes_an_atomic_list(c: Cluster) {
    let c = c.on_atomic();
    let (path, _) = c.claim_with_conditions(&["Launched", "Registered"]).await;
    let ours = status_of(&c, &[condition("CSEProvisioned", "False")]);
    let answer = c.apply(&format!("{path}/status"), "mooring", false, &ours).await;
    let status = answer.fails(409, "Conflict");
    assert_eq!(causes(&status), [("FieldManagerConflict", ".status.conditions")]);
    let written = c.apply(&format!("{path}/status"), "mooring", true, &ours).await.is(200);
    assert_eq!(condition_types(&written), ["CSEProvisioned"]);
}

async fn an_apply_creates_what_is_missing(c: Cluster) {
    let path = format!("{}/{}", c.claims(), c.name("claim"));
    let made = c.apply(&path, "one", false, &labelled(&c, &json!({"a": "1"}))).await.is(201);
    let fields = &made["metadata"]["managedFields"][0];
    assert_eq!(fields["manager"], "one");
    assert_eq!(fields["operation"], "Apply");
    assert_eq!(fields["fieldsType"], "FieldsV1");
    assert_eq!(fields["fieldsV1"]["f:metadata"]["f:labels"]["f:a"], json!({}));
}

async fn an_apply_needs_a_manager(c: Cluster) {
    let path = format!("{}/{}", c.claims(), c.name("claim"));
    let answer = c.patch(crate::cluster::Patch::Apply, &path, &c.claim("claim")).await;
    let status = answer.fails(422, "Invalid");
    assert_eq!(causes(&status), [("FieldValueRequired", "fieldManager")]);
}

async fn an_apply_must_not_name_managed_fields(c: Cluster) {
    let path = format!("{}/{}", c.claims(), c.name("claim"));
    let made = c.apply(&path, "one", false, &c.claim("claim")).await.is(201);
    let answer = c.apply(&path, "one", false, &made).await;
    answer.fails_saying(400, "BadRequest", "metadata.managedFields must be nil");
}

async fn an_applied_field_conflicts_with_its_owner(c: Cluster) {
    let path = format!("{}/{}", c.claims(), c.name("claim"));
    c.apply(&path, "one", false, &labelled(&c, &json!({"a": "1"}))).await.is(201);
    let answer = c.apply(&path, "two", false, &labelled(&c, &json!({"a": "2"}))).await;
    let status = answer.fails(409, "Conflict");
    let message = status["message"].as_str().unwrap();
    assert!(
        message.starts_with("Apply failed with 1 conflict: conflict with \"one\""),
        "{message}"
    );
    assert_eq!(causes(&status), [("FieldManagerConflict", ".metadata.labels.a")]);
    // The same value does not conflict: both own it then.
    c.apply(&path, "two", false, &labelled(&c, &json!({"a": "1"}))).await.is(200);
}

async fn a_conflict_of_conditions_is_per_field(c: Cluster) {
    let (path, _) = c.new_claim("claim").await;
    let status = format!("{path}/status");
    c.apply(&status, "one", false, &status_of(&c, &[condition("Ready", "True")])).await.is(200);
    let answer =
        c.apply(&status, "two", false, &status_of(&c, &[condition("Ready", "False")])).await;
    let refused = answer.fails(409, "Conflict");
    assert_eq!(
        causes(&refused),
        [("FieldManagerConflict", ".status.conditions[type=\"Ready\"].status")]
    );
}

async fn a_forced_apply_takes_the_field(c: Cluster) {
    let path = format!("{}/{}", c.claims(), c.name("claim"));
    c.apply(&path, "one", false, &labelled(&c, &json!({"a": "1"}))).await.is(201);
    let taken = c.apply(&path, "two", true, &labelled(&c, &json!({"a": "2"}))).await.is(200);
    assert_eq!(taken["metadata"]["labels"]["a"], "2");
    let answer = c.apply(&path, "one", false, &labelled(&c, &json!({"a": "1"}))).await;
    answer.fails(409, "Conflict");
}

async fn the_same_apply_changes_nothing(c: Cluster) {
    let path = format!("{}/{}", c.claims(), c.name("claim"));
    let body = labelled(&c, &json!({"a": "1"}));
    let first = c.apply(&path, "one", false, &body).await.is(201);
    let second = c.apply(&path, "one", false, &body).await.is(200);
    assert_eq!(version(&first), version(&second));
}

async fn a_field_that_is_no_longer_applied_is_removed(c: Cluster) {
    let path = format!("{}/{}", c.claims(), c.name("claim"));
    c.apply(&path, "one", false, &labelled(&c, &json!({"a": "1", "b": "1"}))).await.is(201);
    c.apply(&path, "two", false, &labelled(&c, &json!({"c": "1"}))).await.is(200);
    let written = c.apply(&path, "one", false, &labelled(&c, &json!({"a": "1"}))).await.is(200);
    assert_eq!(written["metadata"]["labels"], json!({"a": "1", "c": "1"}));
}

async fn an_update_by_another_takes_the_field(c: Cluster) {
    let path = format!("{}/{}", c.claims(), c.name("claim"));
    c.apply(&path, "one", false, &labelled(&c, &json!({"a": "1"}))).await.is(201);
    let patch = json!({"metadata": {"labels": {"a": "2"}}});
    let merge = format!("{path}?fieldManager=two");
    c.patch(crate::cluster::Patch::Merge, &merge, &patch).await.is(200);
    let answer = c.apply(&path, "one", false, &labelled(&c, &json!({"a": "1"}))).await;
    answer.fails(409, "Conflict");
}
