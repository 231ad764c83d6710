//! Objects that Mooring stores in a cluster: Leases, Events, `ConfigMaps` as journal, Secrets.

use serde_json::{Value, json};

use crate::answer::{causes, names, text, version};
use crate::case::cases;
use crate::cluster::{Cluster, Patch};

cases!("records":
    a_lease_is_taken_by_the_first,
    a_lease_is_renewed_by_its_version,
    concurrent_lease_updates_conflict,
    a_lease_keeps_microseconds,
    an_event_is_seen_in_both_apis,
    a_core_event_is_seen_in_both_apis,
    an_event_needs_an_action_and_a_reporter,
    a_note_has_at_most_a_kilobyte,
    an_event_belongs_to_the_namespace_of_its_object,
    events_are_selected_by_their_object,
    events_of_an_object_without_a_namespace_are_selected_as_describe_does,
    a_new_event_outside_of_the_systems_namespaces_needs_its_objects,
    a_journal_is_appended_under_its_version,
    a_journal_has_at_most_a_mebibyte,
    a_journal_key_must_be_a_file_name,
    binary_data_is_base64,
    an_immutable_map_stays,
    a_secret_is_base64_and_takes_plain_text;
    since 23:
    the_librarys_recorder_is_understood,
    an_event_in_default_needs_no_namespace_on_its_object,
);

fn lease(name: &str, holder: &str) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": name},
        "spec": {
            "holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 0,
            "acquireTime": "2026-11-15T08:00:00.000001Z", "renewTime": "2026-11-15T08:00:00.000001Z",
        },
    })
}

async fn leases(c: &Cluster) -> String {
    c.namespace().await;
    format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", c.name("ns"))
}

async fn a_lease_is_taken_by_the_first(c: Cluster) {
    let leases = leases(&c).await;
    c.post(&leases, &lease("l", "one")).await.is(201);
    c.post(&leases, &lease("l", "two")).await.fails(409, "AlreadyExists");
    assert_eq!(c.get(&format!("{leases}/l")).await.is(200)["spec"]["holderIdentity"], "one");
}

async fn a_lease_is_renewed_by_its_version(c: Cluster) {
    let leases = leases(&c).await;
    let mut held = c.post(&leases, &lease("l", "one")).await.is(201);
    held["spec"]["renewTime"] = json!("2026-11-15T08:00:05.000000Z");
    let renewed = c.put(&format!("{leases}/l"), &held).await.is(200);
    assert!(version(&renewed) > version(&held));
    c.put(&format!("{leases}/l"), &held).await.fails(409, "Conflict");
}

async fn concurrent_lease_updates_conflict(c: Cluster) {
    let leases = leases(&c).await;
    let seen = c.post(&leases, &lease("l", "dead")).await.is(201);
    let take = |holder: &str| {
        let mut taken = seen.clone();
        taken["spec"]["holderIdentity"] = json!(holder);
        taken["spec"]["leaseTransitions"] = json!(1);
        taken
    };
    c.put(&format!("{leases}/l"), &take("one")).await.is(200);
    c.put(&format!("{leases}/l"), &take("two")).await.fails(409, "Conflict");
    let held = c.get(&format!("{leases}/l")).await.is(200);
    assert_eq!(held["spec"]["holderIdentity"], "one");
}

async fn a_lease_keeps_microseconds(c: Cluster) {
    let leases = leases(&c).await;
    let made = c.post(&leases, &lease("l", "one")).await.is(201);
    assert_eq!(made["spec"]["renewTime"], "2026-11-15T08:00:00.000001Z");
    let mut bad = lease("m", "one");
    bad["spec"]["leaseDurationSeconds"] = json!(0);
    let status = c.post(&leases, &bad).await.fails(422, "Invalid");
    assert_eq!(causes(&status), [("FieldValueInvalid", "spec.leaseDurationSeconds")]);
}

/// Returns an event on a NodeClaim, in the newer API. A NodeClaim has no namespace, but old servers
/// accept an event in this one only if its object names it as well; new ones accept both.
fn event(name: &str) -> Value {
    json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event",
        "metadata": {"name": name, "namespace": "default"},
        "eventTime": "2026-11-15T08:00:00.000000Z",
        "type": "Warning", "reason": "CSEFailed", "action": "Provision",
        "note": "CSE exited with code 211",
        "reportingController": "mooring", "reportingInstance": "mooring-0",
        "regarding": {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "namespace": "default", "name": name, "uid": "u"},
    })
}

const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";
const CORE_EVENTS: &str = "/api/v1/namespaces/default/events";

async fn an_event_is_seen_in_both_apis(c: Cluster) {
    let name = c.name("event");
    let made = c.post(EVENTS, &event(&name)).await.is(201);
    assert_eq!(made["kind"], "Event");
    assert_eq!(made["apiVersion"], "events.k8s.io/v1");
    let core = c.get(&format!("{CORE_EVENTS}/{name}")).await.is(200);
    assert_eq!(core["apiVersion"], "v1");
    assert_eq!(core["message"], "CSE exited with code 211");
    assert_eq!(core["reason"], "CSEFailed");
    assert_eq!(core["involvedObject"]["kind"], "NodeClaim");
    assert_eq!(core["reportingComponent"], "mooring");
    assert_eq!(core["reportingInstance"], "mooring-0");
    assert_eq!(core["eventTime"], "2026-11-15T08:00:00.000000Z");
    assert_eq!(core["metadata"]["uid"], made["metadata"]["uid"]);
}

async fn a_core_event_is_seen_in_both_apis(c: Cluster) {
    let name = c.name("event");
    let body = json!({
        "metadata": {"name": name, "namespace": "default"},
        "involvedObject": {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": "claim"},
        "reason": "AsyncProvisioningError", "type": "Warning", "message": "Failed to register: x",
        "source": {"component": "karpenter"}, "count": 3,
        "firstTimestamp": "2026-11-15T08:00:00Z", "lastTimestamp": "2026-11-15T08:01:00Z",
    });
    c.post(CORE_EVENTS, &body).await.is(201);
    let read = c.get(&format!("{EVENTS}/{name}")).await.is(200);
    assert_eq!(read["note"], "Failed to register: x");
    assert_eq!(read["regarding"]["name"], "claim");
    assert_eq!(read["deprecatedSource"], json!({"component": "karpenter"}));
    assert_eq!(read["deprecatedCount"], 3);
    assert_eq!(read["deprecatedLastTimestamp"], "2026-11-15T08:01:00Z");
}

async fn an_event_needs_an_action_and_a_reporter(c: Cluster) {
    for (field, expected) in [
        ("action", "action"),
        ("reason", "reason"),
        ("reportingController", "reportingController"),
        ("reportingInstance", "reportingInstance"),
        ("eventTime", "eventTime"),
    ] {
        let mut body = event(&c.name("event"));
        body.as_object_mut().unwrap().remove(field);
        let status = c.post(EVENTS, &body).await.fails(422, "Invalid");
        assert!(causes(&status).iter().any(|(_, field)| *field == expected), "{field}: {status}");
    }
}

async fn a_note_has_at_most_a_kilobyte(c: Cluster) {
    let mut body = event(&c.name("event"));
    body["note"] = json!("x".repeat(1025));
    let status = c.post(EVENTS, &body).await.fails(422, "Invalid");
    assert!(text(&status, "/message").contains("can have at most 1024 characters"), "{status}");
    body["note"] = json!("x".repeat(1024));
    c.post(EVENTS, &body).await.is(201);
}

async fn an_event_belongs_to_the_namespace_of_its_object(c: Cluster) {
    let namespace = c.namespace().await;
    let body = json!({
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "NodeClaim", "name": "claim"},
        "reason": "R", "message": "m",
    });
    let status = c.post(&format!("{namespace}/events"), &body).await.fails(422, "Invalid");
    assert_eq!(causes(&status), [("FieldValueInvalid", "involvedObject.namespace")]);
    c.post(
        &format!("{namespace}/events"),
        &json!({
            "metadata": {"name": "e"},
            "involvedObject": {"kind": "Pod", "name": "p", "namespace": c.name("ns")},
            "reason": "R", "message": "m",
        }),
    )
    .await
    .is(201);
}

async fn events_are_selected_by_their_object(c: Cluster) {
    let name = c.name("event");
    c.post(EVENTS, &event(&name)).await.is(201);
    let selector = format!("involvedObject.kind%3DNodeClaim,involvedObject.name%3D{name}");
    let list = c.get(&format!("{CORE_EVENTS}?fieldSelector={selector}")).await.is(200);
    assert_eq!(names(&list), [name.as_str()]);
    let selector = format!("{selector},reason%3DOther");
    let list = c.get(&format!("{CORE_EVENTS}?fieldSelector={selector}")).await.is(200);
    assert!(names(&list).is_empty());
}

/// Lists events by the selector of `kubectl describe`, over all namespaces.
async fn described(c: &Cluster, name: &str, uid: &str) -> Vec<String> {
    let fields = [("name", name), ("namespace", ""), ("kind", "NodeClaim"), ("uid", uid)];
    let selector = fields.map(|(field, value)| format!("involvedObject.{field}%3D{value}"));
    let path = format!("/api/v1/events?fieldSelector={}&limit=500", selector.join(","));
    let list = c.get(&path).await.is(200);
    names(&list).into_iter().map(str::to_owned).collect()
}

async fn events_of_an_object_without_a_namespace_are_selected_as_describe_does(c: Cluster) {
    let claim = c.name("claim");
    for (suffix, about) in [
        ("shown", json!({"kind": "NodeClaim", "name": claim, "uid": "u1"})),
        ("no-uid", json!({"kind": "NodeClaim", "name": claim})),
        (
            "placed",
            json!({"kind": "NodeClaim", "name": claim, "uid": "u1", "namespace": "default"}),
        ),
    ] {
        let body = json!({
            "metadata": {"name": c.name(suffix), "namespace": "default"}, "involvedObject": about,
            "reason": "R", "message": "m", "type": "Warning",
        });
        c.post(CORE_EVENTS, &body).await.is(201);
    }
    assert_eq!(described(&c, &claim, "u1").await, [c.name("shown")]);
}

async fn a_new_event_outside_of_the_systems_namespaces_needs_its_objects(c: Cluster) {
    c.namespace().await;
    let name = c.name("ns");
    let mut body = event("e");
    body["metadata"]["namespace"] = json!(name);
    body["regarding"].as_object_mut().unwrap().remove("namespace");
    let list = format!("/apis/events.k8s.io/v1/namespaces/{name}/events");
    let status = c.post(&list, &body).await.fails(422, "Invalid");
    assert!(
        text(&status, "/message").contains(
            "involvedObject.namespace: Invalid value: \"\": does not match event.namespace"
        ),
        "{status}"
    );
}

async fn the_librarys_recorder_is_understood(c: Cluster) {
    use kube::runtime::events::{Event, EventType, Recorder, Reporter};
    let reporter = Reporter { controller: c.name("reporter"), instance: Some("one".to_owned()) };
    let recorder = Recorder::new(c.client(), reporter);
    let regarding = k8s_openapi::api::core::v1::ObjectReference {
        api_version: Some("karpenter.sh/v1".to_owned()),
        kind: Some("NodeClaim".to_owned()),
        name: Some(c.name("claim")),
        ..Default::default()
    };
    let event = Event {
        type_: EventType::Warning,
        reason: "CSEFailed".to_owned(),
        note: Some("CSE exited with code 211".to_owned()),
        action: "Provision".to_owned(),
        secondary: None,
    };
    for _ in 0..2 {
        recorder.publish(&event, &regarding).await.unwrap();
    }
    let selector = format!("involvedObject.name%3D{}", c.name("claim"));
    let list = c.get(&format!("{CORE_EVENTS}?fieldSelector={selector}")).await.is(200);
    assert_eq!(names(&list).len(), 1, "the second is counted on the first");
    assert_eq!(list["items"][0]["series"]["count"], 2);
}

async fn an_event_in_default_needs_no_namespace_on_its_object(c: Cluster) {
    let mut body = event(&c.name("event"));
    body["regarding"].as_object_mut().unwrap().remove("namespace");
    c.post(EVENTS, &body).await.is(201);
}

async fn maps(c: &Cluster) -> String {
    format!("{}/configmaps", c.namespace().await)
}

async fn a_journal_is_appended_under_its_version(c: Cluster) {
    let maps = maps(&c).await;
    let mut journal =
        c.post(&maps, &json!({"metadata": {"name": "j"}, "data": {"0": "begin"}})).await.is(201);
    let stale = journal.clone();
    journal["data"]["1"] = json!("intent");
    let written = c.put(&format!("{maps}/j"), &journal).await.is(200);
    assert_eq!(written["data"], json!({"0": "begin", "1": "intent"}));
    let mut other = stale;
    other["data"]["1"] = json!("another's");
    c.put(&format!("{maps}/j"), &other).await.fails(409, "Conflict");
}

async fn a_journal_has_at_most_a_mebibyte(c: Cluster) {
    let maps = maps(&c).await;
    let body = |bytes: usize| json!({"metadata": {"name": "j"}, "data": {"k": "x".repeat(bytes)}});
    let status = c.post(&maps, &body(1024 * 1024 + 1)).await.fails(422, "Invalid");
    // 1.20 says it in other words.
    let limit = if c.is_before(25) { "must have at most" } else { "may not be more than" };
    assert!(text(&status, "/message").contains(&format!("{limit} 1048576 bytes")), "{status}");
    c.post(&maps, &body(1024 * 1024)).await.is(201);
}

async fn a_journal_key_must_be_a_file_name(c: Cluster) {
    let maps = maps(&c).await;
    let body = json!({"metadata": {"name": "j"}, "data": {"not/a/key": "x"}});
    let status = c.post(&maps, &body).await.fails(422, "Invalid");
    assert_eq!(causes(&status)[0], ("FieldValueInvalid", "data[not/a/key]"));
}

async fn binary_data_is_base64(c: Cluster) {
    let maps = maps(&c).await;
    let body = json!({"metadata": {"name": "j"}, "binaryData": {"k": "AAECAw=="}});
    assert_eq!(c.post(&maps, &body).await.is(201)["binaryData"]["k"], "AAECAw==");
    let body = json!({"metadata": {"name": "k"}, "binaryData": {"k": "not base64!"}});
    c.post(&maps, &body).await.fails(400, "BadRequest");
}

async fn an_immutable_map_stays(c: Cluster) {
    let maps = maps(&c).await;
    let body = json!({"metadata": {"name": "j"}, "immutable": true, "data": {"a": "1"}});
    c.post(&maps, &body).await.is(201);
    let patch = json!({"data": {"a": "2"}});
    let status = c.patch(Patch::Merge, &format!("{maps}/j"), &patch).await.fails(422, "Invalid");
    assert_eq!(causes(&status), [("FieldValueForbidden", "data")]);
}

async fn a_secret_is_base64_and_takes_plain_text(c: Cluster) {
    let secrets = format!("{}/secrets", c.namespace().await);
    let body = json!({"metadata": {"name": "s"}, "stringData": {"k": "plain"}});
    let made = c.post(&secrets, &body).await.is(201);
    assert_eq!(made["data"], json!({"k": "cGxhaW4="}));
    assert!(made["stringData"].is_null());
    assert_eq!(made["type"], "Opaque");
}
