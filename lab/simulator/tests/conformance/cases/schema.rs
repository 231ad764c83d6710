//! Structural schemas: rejected, dropped and defaulted members.

use serde_json::{Value, json};

use crate::answer::{causes, causes_before_rules, text};
use crate::case::cases;
use crate::cluster::{Cluster, Patch, condition};

cases!("schema":
    defaults_are_filled_in,
    defaults_inside_defaults_are_filled_in,
    unknown_fields_of_custom_objects_are_pruned,
    a_missing_required_field_is_refused,
    a_value_outside_an_enumeration_is_refused,
    a_value_against_a_pattern_is_refused,
    a_value_of_another_type_is_refused,
    a_text_that_is_too_long_is_refused,
    a_time_must_be_a_time,
    a_quantity_is_a_number_or_a_text,
    a_status_is_validated_when_written,
    two_versions_show_one_object,
);

const POOLS: &str = "/apis/karpenter.sh/v1/nodepools";
const CLASSES: &str = "/apis/karpenter.azure.com/v1beta1/aksnodeclasses";

fn pool(c: &Cluster) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": c.name("pool")},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": [],
        }}},
    })
}

fn class(c: &Cluster, spec: &Value) -> Value {
    json!({
        "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass",
        "metadata": {"name": c.name("class")},
        "spec": spec,
    })
}

/// Returns the only cause for which a changed NodeClaim is rejected.
async fn refused(c: &Cluster, change: impl FnOnce(&mut Value)) -> (String, String, String) {
    refused_with(c, change, causes).await
}

/// Returns the same if the cause keeps the rules of the schema from being checked.
async fn refused_before_rules(
    c: &Cluster,
    change: impl FnOnce(&mut Value),
) -> (String, String, String) {
    refused_with(c, change, causes_before_rules).await
}

async fn refused_with(
    c: &Cluster,
    change: impl FnOnce(&mut Value),
    causes: impl for<'a> Fn(&'a Value) -> Vec<(&'a str, &'a str)>,
) -> (String, String, String) {
    let mut claim = c.claim("claim");
    change(&mut claim);
    let status = c.post(&c.claims(), &claim).await.fails(422, "Invalid");
    let causes = causes(&status);
    assert_eq!(causes.len(), 1, "{status}");
    (causes[0].0.to_owned(), causes[0].1.to_owned(), text(&status, "/message").to_owned())
}

async fn defaults_are_filled_in(c: Cluster) {
    let (_, claim) = c.new_claim("claim").await;
    assert_eq!(claim["spec"]["expireAfter"], "720h");
    let class = c.post(CLASSES, &class(&c, &json!({"kubelet": {}}))).await.is(201);
    assert_eq!(class["spec"]["imageFamily"], "Ubuntu");
    assert_eq!(class["spec"]["osDiskSizeGB"], 128);
    let kubelet = &class["spec"]["kubelet"];
    assert_eq!(kubelet["containerLogMaxFiles"], 5);
    assert_eq!(kubelet["containerLogMaxSize"], "50Mi");
    assert_eq!(kubelet["cpuManagerPolicy"], "none");
}

async fn defaults_inside_defaults_are_filled_in(c: Cluster) {
    let pool = c.post(POOLS, &pool(&c)).await.is(201);
    assert_eq!(
        pool["spec"]["disruption"],
        json!({
            "budgets": [{"nodes": "10%"}],
            "consolidateAfter": "0s",
            "consolidationPolicy": "WhenEmptyOrUnderutilized",
        })
    );
    assert_eq!(pool["spec"]["template"]["spec"]["expireAfter"], "720h");
}

async fn unknown_fields_of_custom_objects_are_pruned(c: Cluster) {
    let mut claim = c.claim("claim");
    claim["spec"]["unknown"] = json!(1);
    claim["spec"]["nodeClassRef"]["unknown"] = json!(1);
    claim["unknown"] = json!(1);
    let made = c.post(&c.claims(), &claim).await.is(201);
    assert!(made["unknown"].is_null());
    assert!(made["spec"]["unknown"].is_null());
    assert!(made["spec"]["nodeClassRef"]["unknown"].is_null());
}

async fn a_missing_required_field_is_refused(c: Cluster) {
    let (reason, field, message) = refused_before_rules(&c, |claim| {
        claim["spec"].as_object_mut().unwrap().remove("requirements");
    })
    .await;
    assert_eq!((reason.as_str(), field.as_str()), ("FieldValueRequired", "spec.requirements"));
    assert!(message.contains("spec.requirements: Required value"), "{message}");
}

async fn a_value_outside_an_enumeration_is_refused(c: Cluster) {
    let (reason, field, message) = refused_before_rules(&c, |claim| {
        claim["spec"]["requirements"][0]["operator"] = json!("Like");
    })
    .await;
    assert_eq!(reason, "FieldValueNotSupported");
    assert!(field.starts_with("spec.requirements") && field.ends_with("operator"), "{field}");
    assert!(message.contains("Unsupported value: \"Like\": supported values: "), "{message}");
}

async fn a_value_against_a_pattern_is_refused(c: Cluster) {
    let (reason, field, message) =
        refused(&c, |claim| claim["spec"]["expireAfter"] = json!("soon")).await;
    assert_eq!((reason.as_str(), field.as_str()), ("FieldValueInvalid", "spec.expireAfter"));
    assert!(message.contains("should match '^(([0-9]+(s|m|h))+|Never)$'"), "{message}");
}

async fn a_value_of_another_type_is_refused(c: Cluster) {
    let (reason, field, message) =
        refused_before_rules(&c, |claim| claim["spec"]["expireAfter"] = json!(720)).await;
    // 1.20 does not tell a wrong type from another wrong value.
    let expected = if c.is_before(25) { "FieldValueInvalid" } else { "FieldValueTypeInvalid" };
    assert_eq!(reason, expected);
    assert_eq!(field, "spec.expireAfter");
    assert!(message.contains("must be of type string: \"integer\""), "{message}");
}

async fn a_text_that_is_too_long_is_refused(c: Cluster) {
    let (path, _) = c.new_claim("claim").await;
    let mut long = condition("Ready", "True");
    long["message"] = json!("x".repeat(32769));
    let patch = json!({"status": {"conditions": [long]}});
    let status =
        c.patch(Patch::Merge, &format!("{path}/status"), &patch).await.fails(422, "Invalid");
    assert!(causes(&status)[0].1.ends_with("message"), "{:?}", causes(&status));
    let mut long = condition("Ready", "True");
    long["message"] = json!("x".repeat(32768));
    let patch = json!({"status": {"conditions": [long]}});
    c.patch(Patch::Merge, &format!("{path}/status"), &patch).await.is(200);
}

async fn a_time_must_be_a_time(c: Cluster) {
    let (path, _) = c.new_claim("claim").await;
    let patch = json!({"status": {"lastPodEventTime": "yesterday"}});
    let status =
        c.patch(Patch::Merge, &format!("{path}/status"), &patch).await.fails(422, "Invalid");
    let causes = causes_before_rules(&status);
    // 1.20 does not tell a wrong type from another wrong value.
    let reason = if c.is_before(25) { "FieldValueInvalid" } else { "FieldValueTypeInvalid" };
    assert_eq!(causes, [(reason, "status.lastPodEventTime")]);
}

async fn a_quantity_is_a_number_or_a_text(c: Cluster) {
    let mut claim = c.claim("claim");
    claim["spec"]["resources"] = json!({"requests": {"cpu": "500m", "pods": 5}});
    let made = c.post(&c.claims(), &claim).await.is(201);
    assert_eq!(made["spec"]["resources"]["requests"], json!({"cpu": "500m", "pods": 5}));
    claim["metadata"]["name"] = json!(c.name("other"));
    claim["spec"]["resources"] = json!({"requests": {"cpu": "much"}});
    let status = c.post(&c.claims(), &claim).await.fails(422, "Invalid");
    assert_eq!(causes(&status)[0].1, "spec.resources.requests.cpu");
}

async fn a_status_is_validated_when_written(c: Cluster) {
    let (path, _) = c.new_claim("claim").await;
    let patch = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    let status =
        c.patch(Patch::Merge, &format!("{path}/status"), &patch).await.fails(422, "Invalid");
    assert!(causes(&status)[0].1.ends_with("lastTransitionTime"), "{:?}", causes(&status));
}

async fn two_versions_show_one_object(c: Cluster) {
    let made = c.post(CLASSES, &class(&c, &json!({}))).await.is(201);
    let old = format!("/apis/karpenter.azure.com/v1alpha2/aksnodeclasses/{}", c.name("class"));
    let read = c.get(&old).await.is(200);
    assert_eq!(read["apiVersion"], "karpenter.azure.com/v1alpha2");
    assert_eq!(read["metadata"]["uid"], made["metadata"]["uid"]);
    assert_eq!(read["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
    assert_eq!(read["spec"], made["spec"]);
}
