//! Namespaces, nodes and CRDs.

use serde_json::{Value, json};

use crate::answer::{causes, text};
use crate::case::cases;
use crate::cluster::{Cluster, Patch};

cases!("cluster_objects":
    a_new_namespace_is_active_and_held_by_the_cluster,
    a_deleted_namespace_terminates,
    nothing_is_created_in_a_terminating_namespace,
    what_is_in_a_terminating_namespace_can_be_changed,
    a_new_node_is_tainted_until_it_is_ready,
    a_nodes_status_and_spec_are_apart,
    a_definition_becomes_established,
    a_deleted_definition_waits_for_its_objects,
    a_deleted_definition_takes_its_objects_along,
    an_unserved_version_is_not_found,
    a_definition_without_status_subresource_writes_status_with_the_rest,
    a_namespaced_kind_lists_by_namespace_and_across,
);

async fn a_new_namespace_is_active_and_held_by_the_cluster(c: Cluster) {
    let made = c.get(&c.namespace().await).await.is(200);
    assert_eq!(made["status"]["phase"], "Active");
    assert_eq!(made["spec"]["finalizers"], json!(["kubernetes"]));
    assert!(made["metadata"]["finalizers"].is_null());
}

/// Returns a namespace that an object inside keeps from being deleted.
async fn terminating(c: &Cluster) -> String {
    let path = c.namespace().await;
    let held = json!({"metadata": {"name": "held", "finalizers": ["a.example/a"]}});
    c.post(&format!("{path}/configmaps"), &held).await.is(201);
    c.delete(&path).await.is(200);
    path
}

async fn a_deleted_namespace_terminates(c: Cluster) {
    let path = terminating(&c).await;
    let left = c.get(&path).await.is(200);
    assert_eq!(left["status"]["phase"], "Terminating");
    text(&left, "/metadata/deletionTimestamp");
}

async fn nothing_is_created_in_a_terminating_namespace(c: Cluster) {
    let path = terminating(&c).await;
    let body = json!({"metadata": {"name": "new"}});
    let status = c.post(&format!("{path}/configmaps"), &body).await.fails(403, "Forbidden");
    let message = text(&status, "/message");
    assert!(message.contains("because it is being terminated"), "{message}");
    assert_eq!(causes(&status), [("NamespaceTerminating", "metadata.namespace")]);
}

async fn what_is_in_a_terminating_namespace_can_be_changed(c: Cluster) {
    let path = terminating(&c).await;
    let patch = json!({"metadata": {"labels": {"a": "b"}}});
    c.patch(Patch::Merge, &format!("{path}/configmaps/held"), &patch).await.is(200);
}

async fn a_new_node_is_tainted_until_it_is_ready(c: Cluster) {
    let made =
        c.post("/api/v1/nodes", &json!({"metadata": {"name": c.name("node")}})).await.is(201);
    assert_eq!(
        made["spec"]["taints"],
        json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])
    );
}

async fn a_nodes_status_and_spec_are_apart(c: Cluster) {
    c.post("/api/v1/nodes", &json!({"metadata": {"name": c.name("node")}})).await.is(201);
    let path = format!("/api/v1/nodes/{}", c.name("node"));
    let patch =
        json!({"spec": {"unschedulable": true}, "status": {"nodeInfo": {"kubeletVersion": "v1"}}});
    let written = c.patch(Patch::Merge, &format!("{path}/status"), &patch).await.is(200);
    assert!(written["spec"]["unschedulable"].is_null());
    assert_eq!(written["status"]["nodeInfo"]["kubeletVersion"], "v1");
    let patch =
        json!({"spec": {"unschedulable": true}, "status": {"nodeInfo": {"kubeletVersion": "v2"}}});
    let written = c.patch(Patch::Merge, &path, &patch).await.is(200);
    assert_eq!(written["spec"]["unschedulable"], true);
    assert_eq!(written["status"]["nodeInfo"]["kubeletVersion"], "v1");
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Returns a CRD in a separate group, whose versions are (name, served, stored).
fn definition(c: &Cluster, scope: &str, versions: &[(&str, bool, bool)]) -> Value {
    let group = format!("{}.example.com", c.name("g"));
    let schema = json!({"openAPIV3Schema": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
    }});
    let versions: Vec<Value> = versions
        .iter()
        .map(|(name, served, storage)| {
            json!({"name": name, "served": served, "storage": storage, "schema": schema})
        })
        .collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("things.{group}")},
        "spec": {
            "group": group, "scope": scope,
            "names": {"plural": "things", "kind": "Thing"},
            "versions": versions,
        },
    })
}

fn things(c: &Cluster, version: &str) -> String {
    format!("/apis/{}.example.com/{version}/things", c.name("g"))
}

fn thing(c: &Cluster, version: &str, name: &str) -> Value {
    let api_version = format!("{}.example.com/{version}", c.name("g"));
    json!({"apiVersion": api_version, "kind": "Thing", "metadata": {"name": name}})
}

/// Creates the CRD, waits until it is served, and returns its path.
async fn defined(c: &Cluster, definition: &Value, served: &str) -> String {
    c.post(DEFINITIONS, definition).await.is(201);
    c.eventually(served, |answer| answer.status == 200).await;
    format!("{DEFINITIONS}/{}", text(definition, "/metadata/name"))
}

fn holds(answer: &crate::answer::Answer, kind: &str) -> bool {
    let conditions = answer.body["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.iter().any(|one| one["type"] == kind && one["status"] == "True")
}

async fn a_definition_becomes_established(c: Cluster) {
    let definition = definition(&c, "Cluster", &[("v1", true, true)]);
    let path = defined(&c, &definition, &things(&c, "v1")).await;
    let read = c.eventually(&path, |answer| holds(answer, "Established")).await;
    assert!(holds(&read, "NamesAccepted"));
    assert_eq!(read.body["status"]["acceptedNames"]["kind"], "Thing");
    assert_eq!(read.body["status"]["acceptedNames"]["singular"], "thing");
    assert_eq!(read.body["status"]["storedVersions"], json!(["v1"]));
    assert_eq!(read.body["spec"]["names"]["listKind"], "ThingList");
}

async fn a_deleted_definition_waits_for_its_objects(c: Cluster) {
    let definition = definition(&c, "Cluster", &[("v1", true, true)]);
    let things = things(&c, "v1");
    let path = defined(&c, &definition, &things).await;
    let mut held = thing(&c, "v1", "held");
    held["metadata"]["finalizers"] = json!(["a.example/a"]);
    c.post(&things, &held).await.is(201);
    c.delete(&path).await.is(200);
    let deleting = c.eventually(&path, |answer| holds(answer, "Terminating")).await.body;
    assert_eq!(
        deleting["metadata"]["finalizers"],
        json!(["customresourcecleanup.apiextensions.k8s.io"])
    );
    let held = format!("{things}/held");
    c.eventually(&held, |answer| answer.body["metadata"]["deletionTimestamp"].is_string()).await;
    let patch = json!({"metadata": {"finalizers": null}});
    c.patch(Patch::Merge, &held, &patch).await.is(200);
    c.eventually(&path, |answer| answer.status == 404).await;
}

async fn a_deleted_definition_takes_its_objects_along(c: Cluster) {
    let definition = definition(&c, "Cluster", &[("v1", true, true)]);
    let things = things(&c, "v1");
    let path = defined(&c, &definition, &things).await;
    c.post(&things, &thing(&c, "v1", "a")).await.is(201);
    c.delete(&path).await.is(200);
    c.eventually(&path, |answer| answer.status == 404).await;
    let gone = c.eventually(&things, |answer| answer.status == 404).await;
    assert!(gone.body["kind"] == "Status" || gone.body == "404 page not found\n", "{gone}");
}

async fn an_unserved_version_is_not_found(c: Cluster) {
    let definition = definition(&c, "Cluster", &[("v1", true, true), ("v1alpha1", false, false)]);
    defined(&c, &definition, &things(&c, "v1")).await;
    let answer = c.get(&things(&c, "v1alpha1")).await;
    assert_eq!(answer.status, 404, "{answer}");
    assert_eq!(answer.body, "404 page not found\n");
}

async fn a_definition_without_status_subresource_writes_status_with_the_rest(c: Cluster) {
    let definition = definition(&c, "Cluster", &[("v1", true, true)]);
    let things = things(&c, "v1");
    defined(&c, &definition, &things).await;
    let mut body = thing(&c, "v1", "a");
    body["status"] = json!({"phase": "Done"});
    let made = c.post(&things, &body).await.is(201);
    assert_eq!(made["status"]["phase"], "Done");
    let patch = json!({"status": {"phase": "Undone"}});
    let written = c.patch(Patch::Merge, &format!("{things}/a"), &patch).await.is(200);
    assert_eq!(written["metadata"]["generation"], 2, "everything but metadata counts");
    assert_eq!(c.get(&format!("{things}/a/status")).await.status, 404);
}

async fn a_namespaced_kind_lists_by_namespace_and_across(c: Cluster) {
    let definition = definition(&c, "Namespaced", &[("v1", true, true)]);
    defined(&c, &definition, &things(&c, "v1")).await;
    c.namespace().await;
    let inside = format!("/apis/{}.example.com/v1/namespaces/{}/things", c.name("g"), c.name("ns"));
    c.post(&inside, &thing(&c, "v1", "a")).await.is(201);
    for path in [&inside, &things(&c, "v1")] {
        let list = c.get(path).await.is(200);
        assert_eq!(list["items"][0]["metadata"]["namespace"], c.name("ns"));
        assert_eq!(list["kind"], "ThingList");
    }
    let answer = c.post(&things(&c, "v1"), &thing(&c, "v1", "b")).await;
    assert_eq!(answer.status, 404, "{answer}");
}
