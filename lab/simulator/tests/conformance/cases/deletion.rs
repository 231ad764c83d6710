//! Finalizers, preconditions, propagation, collections.

use serde_json::{Value, json};

use crate::answer::{causes, text, version};
use crate::case::cases;
use crate::cluster::{Cluster, Patch};

cases!("deletion":
    a_finalizer_keeps_a_deleted_object,
    removing_the_last_finalizer_completes_the_deletion,
    a_finalizer_is_removed_under_a_version,
    only_one_of_two_finalizers_goes,
    a_deleting_object_takes_no_new_finalizer,
    a_deleting_object_stays_deleting,
    a_second_deletion_changes_nothing,
    a_deletion_counts_as_a_generation,
    a_deletion_under_another_uid_conflicts,
    a_deletion_under_the_right_uid_is_taken,
    a_background_deletion_is_immediate,
);

async fn finalized(c: &Cluster, finalizers: &[&str]) -> (String, Value) {
    let mut claim = c.claim("claim");
    claim["metadata"]["finalizers"] = json!(finalizers);
    let made = c.post(&c.claims(), &claim).await.is(201);
    (format!("{}/{}", c.claims(), c.name("claim")), made)
}

async fn a_finalizer_keeps_a_deleted_object(c: Cluster) {
    let (path, made) = finalized(&c, &["karpenter.sh/termination"]).await;
    let deleting = c.delete(&path).await.is(200);
    assert_eq!(deleting["kind"], "NodeClaim", "the object, not a Status");
    text(&deleting, "/metadata/deletionTimestamp");
    assert_eq!(deleting["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_eq!(deleting["metadata"]["uid"], made["metadata"]["uid"]);
    assert!(version(&deleting) > version(&made));
    c.get(&path).await.is(200);
}

async fn removing_the_last_finalizer_completes_the_deletion(c: Cluster) {
    let (path, _) = finalized(&c, &["karpenter.sh/termination"]).await;
    c.delete(&path).await.is(200);
    let patch = json!({"metadata": {"finalizers": []}});
    let last = c.patch(Patch::Merge, &path, &patch).await.is(200);
    assert!(last["metadata"]["finalizers"].is_null());
    c.get(&path).await.fails(404, "NotFound");
}

async fn a_finalizer_is_removed_under_a_version(c: Cluster) {
    let (path, made) = finalized(&c, &["karpenter.sh/termination"]).await;
    let deleting = c.delete(&path).await.is(200);
    let patch =
        |version: &Value| json!({"metadata": {"resourceVersion": version, "finalizers": null}});
    let stale = patch(&made["metadata"]["resourceVersion"]);
    c.patch(Patch::Merge, &path, &stale).await.fails(409, "Conflict");
    let fresh = patch(&deleting["metadata"]["resourceVersion"]);
    c.patch(Patch::Merge, &path, &fresh).await.is(200);
    c.get(&path).await.fails(404, "NotFound");
}

async fn only_one_of_two_finalizers_goes(c: Cluster) {
    let (path, _) = finalized(&c, &["a.example/ours", "b.example/theirs"]).await;
    c.delete(&path).await.is(200);
    let patch = json!([
        {"op": "test", "path": "/metadata/finalizers/0", "value": "a.example/ours"},
        {"op": "remove", "path": "/metadata/finalizers/0"},
    ]);
    c.patch(Patch::Json, &path, &patch).await.is(200);
    let left = c.get(&path).await.is(200);
    assert_eq!(left["metadata"]["finalizers"], json!(["b.example/theirs"]));
}

async fn a_deleting_object_takes_no_new_finalizer(c: Cluster) {
    let (path, _) = finalized(&c, &["a.example/a"]).await;
    c.delete(&path).await.is(200);
    let patch = json!({"metadata": {"finalizers": ["a.example/a", "a.example/b"]}});
    let status = c.patch(Patch::Merge, &path, &patch).await.fails(422, "Invalid");
    assert_eq!(causes(&status)[0], ("FieldValueForbidden", "metadata.finalizers"));
    assert!(
        text(&status, "/message")
            .contains("no new finalizers can be added if the object is being deleted")
    );
}

async fn a_deleting_object_stays_deleting(c: Cluster) {
    let (path, _) = finalized(&c, &["a.example/a"]).await;
    let deleting = c.delete(&path).await.is(200);
    let patch = json!({"metadata": {"deletionTimestamp": null, "labels": {"a": "b"}}});
    let patched = c.patch(Patch::Merge, &path, &patch).await.is(200);
    assert_eq!(patched["metadata"]["deletionTimestamp"], deleting["metadata"]["deletionTimestamp"]);
    assert_eq!(patched["metadata"]["labels"]["a"], "b");
}

async fn a_second_deletion_changes_nothing(c: Cluster) {
    let (path, _) = finalized(&c, &["a.example/a"]).await;
    let first = c.delete(&path).await.is(200);
    let second = c.delete(&path).await.is(200);
    assert_eq!(version(&first), version(&second));
}

async fn a_deletion_counts_as_a_generation(c: Cluster) {
    let (path, made) = finalized(&c, &["a.example/a"]).await;
    assert_eq!(made["metadata"]["generation"], 1);
    assert_eq!(c.delete(&path).await.is(200)["metadata"]["generation"], 2);
}

async fn a_deletion_under_another_uid_conflicts(c: Cluster) {
    let (path, _) = c.new_claim("claim").await;
    let options = json!({"preconditions": {"uid": "6f0f7a52-6c4e-4a8f-9c0c-0f2b0f1d7a11"}});
    let answer = c.delete_with(&path, &options).await;
    answer.fails_saying(409, "Conflict", "UID in the precondition");
    c.get(&path).await.is(200);
}

async fn a_deletion_under_the_right_uid_is_taken(c: Cluster) {
    let (path, made) = c.new_claim("claim").await;
    let options = json!({"preconditions": {
        "uid": made["metadata"]["uid"],
        "resourceVersion": made["metadata"]["resourceVersion"],
    }});
    c.delete_with(&path, &options).await.is(200);
    c.get(&path).await.fails(404, "NotFound");
}

/// Creates a NodeClaim and another that it owns, which a finalizer keeps.
async fn owner_and_dependent(c: &Cluster) -> String {
    let (path, owner) = c.new_claim("owner").await;
    let mut dependent = c.claim("dependent");
    dependent["metadata"]["finalizers"] = json!(["a.example/a"]);
    dependent["metadata"]["ownerReferences"] = json!([{
        "apiVersion": owner["apiVersion"], "kind": "NodeClaim", "blockOwnerDeletion": true,
        "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
    }]);
    c.post(&c.claims(), &dependent).await.is(201);
    path
}

async fn a_background_deletion_is_immediate(c: Cluster) {
    let path = owner_and_dependent(&c).await;
    c.delete_with(&path, &json!({"propagationPolicy": "Background"})).await.is(200);
    c.get(&path).await.fails(404, "NotFound");
    c.get(&format!("{}/{}", c.claims(), c.name("dependent"))).await.is(200);
}
