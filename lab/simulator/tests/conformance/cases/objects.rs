//! Create, read, update, delete, and the server's metadata.

use serde_json::{Value, json};

use crate::answer::{causes, text, version};
use crate::case::cases;
use crate::cluster::{Cluster, Patch};

cases!("objects":
    a_new_object_has_uid_version_and_creation_time,
    a_new_custom_object_has_generation_one,
    system_fields_of_a_new_object_are_the_servers,
    a_new_object_must_not_have_a_version,
    a_name_exists_once,
    a_generated_name_begins_as_asked,
    an_object_needs_a_name,
    a_name_must_be_a_dns_name,
    a_missing_object_is_not_found,
    an_object_in_a_missing_namespace_is_not_found,
    an_update_without_version_overwrites_a_core_object,
    an_update_without_version_is_refused_for_a_custom_object,
    a_stale_update_conflicts,
    an_update_of_a_missing_object_is_not_found,
    an_update_that_changes_nothing_keeps_the_version,
    generation_counts_changes_of_the_spec_only,
    deleted_object_is_reported_by_uid,
    deleting_a_missing_object_is_not_found,
    a_recreated_object_has_another_uid,
);

fn map(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": value}})
}

fn pool(name: &str) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": [],
        }}},
    })
}

const POOLS: &str = "/apis/karpenter.sh/v1/nodepools";

async fn a_new_object_has_uid_version_and_creation_time(c: Cluster) {
    let maps = format!("{}/configmaps", c.namespace().await);
    let made = c.post(&maps, &map("m", "1")).await.is(201);
    assert_eq!(text(&made, "/metadata/uid").len(), 36);
    assert!(version(&made) > 0);
    let time = text(&made, "/metadata/creationTimestamp");
    assert_eq!(time.len(), "2026-11-15T08:00:00Z".len(), "whole seconds: {time}");
    assert!(time.ends_with('Z'));
    assert_eq!(made["kind"], "ConfigMap");
    assert!(made["metadata"]["generation"].is_null(), "a ConfigMap has no generation");
    assert!(made["metadata"]["selfLink"].is_null());
    assert_eq!(c.get(&format!("{maps}/m")).await.is(200), made);
}

async fn a_new_custom_object_has_generation_one(c: Cluster) {
    let (_, claim) = c.new_claim("claim").await;
    assert_eq!(claim["metadata"]["generation"], 1);
    assert_eq!(claim["kind"], "NodeClaim");
    assert_eq!(claim["apiVersion"], "karpenter.sh/v1");
}

async fn system_fields_of_a_new_object_are_the_servers(c: Cluster) {
    let mut claim = c.claim("claim");
    claim["metadata"]["uid"] = json!("6f0f7a52-6c4e-4a8f-9c0c-0f2b0f1d7a11");
    claim["metadata"]["creationTimestamp"] = json!("2001-01-01T00:00:00Z");
    claim["metadata"]["generation"] = json!(7);
    claim["metadata"]["deletionTimestamp"] = json!("2001-01-01T00:00:00Z");
    let made = c.post(&c.claims(), &claim).await.is(201);
    assert_ne!(made["metadata"]["uid"], claim["metadata"]["uid"]);
    assert_ne!(made["metadata"]["creationTimestamp"], claim["metadata"]["creationTimestamp"]);
    assert_eq!(made["metadata"]["generation"], 1);
    assert!(made["metadata"]["deletionTimestamp"].is_null());
}

async fn a_new_object_must_not_have_a_version(c: Cluster) {
    let mut claim = c.claim("claim");
    claim["metadata"]["resourceVersion"] = json!("1");
    let answer = c.post(&c.claims(), &claim).await;
    answer.fails_saying(500, "", "resourceVersion should not be set on objects to be created");
}

async fn a_name_exists_once(c: Cluster) {
    let maps = format!("{}/configmaps", c.namespace().await);
    c.post(&maps, &map("m", "1")).await.is(201);
    let status = c.post(&maps, &map("m", "2")).await.fails(409, "AlreadyExists");
    assert_eq!(text(&status, "/message"), "configmaps \"m\" already exists");
    assert_eq!(status["details"], json!({"name": "m", "kind": "configmaps"}));
    let (_, _) = c.new_claim("claim").await;
    let status = c.post(&c.claims(), &c.claim("claim")).await.fails(409, "AlreadyExists");
    let name = c.name("claim");
    assert_eq!(
        text(&status, "/message"),
        format!("nodeclaims.karpenter.sh \"{name}\" already exists")
    );
    assert_eq!(
        status["details"],
        json!({"name": name, "group": "karpenter.sh", "kind": "nodeclaims"})
    );
}

async fn a_generated_name_begins_as_asked(c: Cluster) {
    let prefix = c.name("");
    let mut claim = c.claim("claim");
    claim["metadata"] = json!({"generateName": prefix});
    let mut names = Vec::new();
    for _ in 0..3 {
        let made = c.post(&c.claims(), &claim).await.is(201);
        assert_eq!(text(&made, "/metadata/generateName"), prefix);
        let name = text(&made, "/metadata/name").to_owned();
        assert!(name.starts_with(&prefix) && name.len() == prefix.len() + 5, "{name}");
        names.push(name);
    }
    names.dedup();
    assert_eq!(names.len(), 3);
}

async fn an_object_needs_a_name(c: Cluster) {
    let mut claim = c.claim("claim");
    claim["metadata"] = json!({});
    let status = c.post(&c.claims(), &claim).await.fails(422, "Invalid");
    assert!(text(&status, "/message").contains("name or generateName is required"), "{status}");
    assert_eq!(causes(&status)[0], ("FieldValueRequired", "metadata.name"));
}

async fn a_name_must_be_a_dns_name(c: Cluster) {
    let maps = format!("{}/configmaps", c.namespace().await);
    let status = c.post(&maps, &map("Not_A_Name", "1")).await.fails(422, "Invalid");
    assert_eq!(causes(&status), [("FieldValueInvalid", "metadata.name")]);
}

async fn a_missing_object_is_not_found(c: Cluster) {
    let status = c.get(&format!("{}/absent", c.claims())).await.fails(404, "NotFound");
    assert_eq!(text(&status, "/message"), "nodeclaims.karpenter.sh \"absent\" not found");
    assert_eq!(
        status["details"],
        json!({"name": "absent", "group": "karpenter.sh", "kind": "nodeclaims"})
    );
    let status = c.get("/api/v1/nodes/absent").await.fails(404, "NotFound");
    assert_eq!(text(&status, "/message"), "nodes \"absent\" not found");
    assert_eq!(status["details"], json!({"name": "absent", "kind": "nodes"}));
    assert_eq!(status["metadata"], json!({}));
}

async fn an_object_in_a_missing_namespace_is_not_found(c: Cluster) {
    let answer = c.post("/api/v1/namespaces/absent/configmaps", &map("m", "1")).await;
    let status = answer.fails(404, "NotFound");
    assert_eq!(text(&status, "/message"), "namespaces \"absent\" not found");
}

async fn an_update_without_version_overwrites_a_core_object(c: Cluster) {
    let maps = format!("{}/configmaps", c.namespace().await);
    let made = c.post(&maps, &map("m", "1")).await.is(201);
    let updated = c.put(&format!("{maps}/m"), &map("m", "2")).await.is(200);
    assert_eq!(updated["data"], json!({"key": "2"}));
    assert_eq!(updated["metadata"]["uid"], made["metadata"]["uid"]);
    assert!(version(&updated) > version(&made));
}

async fn an_update_without_version_is_refused_for_a_custom_object(c: Cluster) {
    let (path, _) = c.new_claim("claim").await;
    let status = c.put(&path, &c.claim("claim")).await.fails(422, "Invalid");
    assert_eq!(causes(&status), [("FieldValueInvalid", "metadata.resourceVersion")]);
    assert!(text(&status, "/message").contains("must be specified for an update"), "{status}");
}

async fn a_stale_update_conflicts(c: Cluster) {
    let maps = format!("{}/configmaps", c.namespace().await);
    let first = c.post(&maps, &map("m", "1")).await.is(201);
    let path = format!("{maps}/m");
    c.put(&path, &map("m", "2")).await.is(200);
    let status = c.put(&path, &first).await.fails(409, "Conflict");
    assert_eq!(
        text(&status, "/message"),
        "Operation cannot be fulfilled on configmaps \"m\": the object has been modified; \
         please apply your changes to the latest version and try again"
    );
    assert_eq!(status["details"], json!({"name": "m", "kind": "configmaps"}));
    assert_eq!(c.get(&path).await.is(200)["data"], json!({"key": "2"}));
}

async fn an_update_of_a_missing_object_is_not_found(c: Cluster) {
    let maps = format!("{}/configmaps", c.namespace().await);
    c.put(&format!("{maps}/m"), &map("m", "1")).await.fails(404, "NotFound");
}

async fn an_update_that_changes_nothing_keeps_the_version(c: Cluster) {
    let (path, claim) = c.new_claim("claim").await;
    let same = c.put(&path, &claim).await.is(200);
    assert_eq!(version(&same), version(&claim));
    let same = c.patch(Patch::Merge, &path, &json!({"metadata": {"labels": null}})).await.is(200);
    assert_eq!(version(&same), version(&claim));
}

async fn generation_counts_changes_of_the_spec_only(c: Cluster) {
    c.post(POOLS, &pool(&c.name("pool"))).await.is(201);
    let path = format!("{POOLS}/{}", c.name("pool"));
    let labels = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(c.patch(Patch::Merge, &path, &labels).await.is(200)["metadata"]["generation"], 1);
    let spec = json!({"spec": {"weight": 10}});
    assert_eq!(c.patch(Patch::Merge, &path, &spec).await.is(200)["metadata"]["generation"], 2);
    let status = json!({"status": {"nodes": 3}});
    let written = c.patch(Patch::Merge, &format!("{path}/status"), &status).await.is(200);
    assert_eq!(written["metadata"]["generation"], 2);
    assert_eq!(c.patch(Patch::Merge, &path, &spec).await.is(200)["metadata"]["generation"], 2);
}

async fn deleted_object_is_reported_by_uid(c: Cluster) {
    let (path, claim) = c.new_claim("claim").await;
    let status = c.delete(&path).await.is(200);
    assert_eq!(status["kind"], "Status");
    assert_eq!(status["status"], "Success");
    assert_eq!(status["details"]["name"], claim["metadata"]["name"]);
    assert_eq!(status["details"]["uid"], claim["metadata"]["uid"]);
    assert_eq!(status["details"]["group"], "karpenter.sh");
    assert_eq!(status["details"]["kind"], "nodeclaims");
    c.get(&path).await.fails(404, "NotFound");
}

async fn deleting_a_missing_object_is_not_found(c: Cluster) {
    c.delete(&format!("{}/absent", c.claims())).await.fails(404, "NotFound");
}

async fn a_recreated_object_has_another_uid(c: Cluster) {
    let (path, first) = c.new_claim("claim").await;
    c.delete(&path).await.is(200);
    let (_, second) = c.new_claim("claim").await;
    assert_ne!(first["metadata"]["uid"], second["metadata"]["uid"]);
    assert_eq!(second["metadata"]["generation"], 1);
}
