//! Structural schemas: rejected, dropped and defaulted members.

use serde_json::{Value, json};

use crate::answer::{causes, causes_before_rules, text};
use crate::case::cases;
use crate::cluster::{Cluster, Patch, condition};

cases!("schema":
    defaults_are_filled_in,
    defaults_inside_defaults_are_filled_in,
    null_gives_way_to_a_default,
    unknown_fields_of_custom_objects_are_pruned,
    unknown_fields_of_core_objects_are_dropped,
    a_missing_required_field_is_refused,
    a_value_outside_an_enumeration_is_refused,
    a_value_against_a_pattern_is_refused,
    a_value_of_another_type_is_refused,
    a_number_out_of_range_is_refused,
    too_many_items_are_refused,
    a_text_that_is_too_long_is_refused,
    a_time_must_be_a_time,
    a_quantity_is_a_number_or_a_text,
    a_set_has_no_duplicates,
    all_schema_errors_are_returned_at_once,
    a_status_is_validated_when_written,
    two_versions_show_one_object,
    a_quoted_number_is_no_number;
    since 25:
    a_rule_keeps_a_spec_as_it_is,
    a_rule_refuses_a_restricted_label,
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
    refused_with(c, change, |status| causes_before_rules(c, status)).await
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

async fn null_gives_way_to_a_default(c: Cluster) {
    let mut claim = c.claim("claim");
    claim["spec"]["expireAfter"] = Value::Null;
    let made = c.post(&c.claims(), &claim).await.is(201);
    assert_eq!(made["spec"]["expireAfter"], "720h");
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

async fn unknown_fields_of_core_objects_are_dropped(c: Cluster) {
    let maps = format!("{}/configmaps", c.namespace().await);
    let body =
        json!({"metadata": {"name": "m", "unknown": 1}, "unknown": {"a": 1}, "data": {"a": "b"}});
    let made = c.post(&maps, &body).await.is(201);
    assert!(made["unknown"].is_null());
    assert!(made["metadata"]["unknown"].is_null());
    assert_eq!(made["data"], json!({"a": "b"}));
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

async fn a_number_out_of_range_is_refused(c: Cluster) {
    let spec = json!({"osDiskSizeGB": 10});
    let status = c.post(CLASSES, &class(&c, &spec)).await.fails(422, "Invalid");
    assert_eq!(causes(&status), [("FieldValueInvalid", "spec.osDiskSizeGB")]);
    assert!(
        text(&status, "/message").contains("should be greater than or equal to 30"),
        "{status}"
    );
}

async fn too_many_items_are_refused(c: Cluster) {
    let (_, field, _) = refused_before_rules(&c, |claim| {
        let requirement = claim["spec"]["requirements"][0].clone();
        claim["spec"]["requirements"] = vec![requirement; 101].into();
    })
    .await;
    assert_eq!(field, "spec.requirements");
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
    let causes = causes_before_rules(&c, &status);
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

async fn a_set_has_no_duplicates(c: Cluster) {
    let mut pool = pool(&c);
    pool["spec"]["disruption"] = json!({"consolidateAfter": "1m", "budgets": [{"nodes": "1", "reasons": ["Empty", "Empty"]}]});
    let status = c.post(POOLS, &pool).await.fails(422, "Invalid");
    assert_eq!(causes(&status), [("FieldValueDuplicate", "spec.disruption.budgets[0].reasons[1]")]);
}

async fn all_schema_errors_are_returned_at_once(c: Cluster) {
    let mut claim = c.claim("claim");
    claim["spec"]["expireAfter"] = json!("soon");
    claim["spec"]["terminationGracePeriod"] = json!("later");
    let status = c.post(&c.claims(), &claim).await.fails(422, "Invalid");
    let mut fields: Vec<&str> = causes(&status).into_iter().map(|(_, field)| field).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["spec.expireAfter", "spec.terminationGracePeriod"]);
    assert_eq!(status["details"]["kind"], "NodeClaim");
    assert_eq!(status["details"]["group"], "karpenter.sh");
    let message = text(&status, "/message");
    let start = format!("NodeClaim.karpenter.sh \"{}\" is invalid: [", c.name("claim"));
    assert!(message.starts_with(&start), "{message}");
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
    let answer = c.get(&old).await;
    let warning = answer.headers.get("warning").map(|value| value.to_str().unwrap().to_owned());
    assert_eq!(warning.as_deref(), Some("299 - \"use v1beta1.AKSNodeClass instead\""));
    let read = answer.is(200);
    assert_eq!(read["apiVersion"], "karpenter.azure.com/v1alpha2");
    assert_eq!(read["metadata"]["uid"], made["metadata"]["uid"]);
    assert_eq!(read["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
    assert_eq!(read["spec"], made["spec"]);
}

async fn a_quoted_number_is_no_number(c: Cluster) {
    let spec = json!({"maxPods": "30"});
    let status = c.post(CLASSES, &class(&c, &spec)).await.fails(422, "Invalid");
    assert_eq!(causes(&status)[0].1, "spec.maxPods");
}

async fn a_rule_keeps_a_spec_as_it_is(c: Cluster) {
    let (path, _) = c.new_claim("claim").await;
    let patch = json!({"spec": {"expireAfter": "1h"}});
    let answer = c.patch(Patch::Merge, &path, &patch).await;
    answer.fails_saying(422, "Invalid", "spec is immutable");
}

async fn a_rule_refuses_a_restricted_label(c: Cluster) {
    let (_, _, message) = refused(&c, |claim| {
        claim["spec"]["requirements"][0]["key"] = json!("kubernetes.io/hostname");
    })
    .await;
    assert!(message.contains("is restricted"), "{message}");
}
