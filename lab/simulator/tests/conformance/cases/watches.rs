//! Watches: start, events, end.

use futures::TryStreamExt as _;
use serde_json::json;

use crate::answer::{text, version};
use crate::case::cases;
use crate::cluster::{Cluster, Patch, REQUEST_TIMEOUT, condition};

cases!("watches":
    watch_continues_after_a_list,
    a_watch_from_zero_begins_with_what_is_there,
    a_change_of_status_is_a_modification,
    deletion_event_has_last_state_and_new_version,
    an_object_with_finalizers_is_modified_before_it_is_deleted,
    an_object_that_leaves_the_selection_is_deleted_from_it,
    an_object_that_enters_the_selection_is_added_to_it,
    one_object_can_be_watched,
    metadata_alone_can_be_watched,
    a_watch_resumes_after_the_last_event_seen,
    a_watch_ends_at_its_time,
    a_bookmark_comes_before_the_end,
    a_watch_from_long_ago_is_gone,
    the_runtime_watcher_follows_a_claim,
);

async fn maps(c: &Cluster) -> String {
    format!("{}/configmaps", c.namespace().await)
}

fn map(name: &str, label: &str) -> serde_json::Value {
    json!({"metadata": {"name": name, "labels": {"label": label}}})
}

async fn version_of_list(c: &Cluster, path: &str) -> String {
    text(&c.get(path).await.is(200), "/metadata/resourceVersion").to_owned()
}

async fn watch_continues_after_a_list(c: Cluster) {
    let path = maps(&c).await;
    c.post(&path, &map("before", "x")).await.is(201);
    let since = version_of_list(&c, &path).await;
    c.post(&path, &map("between", "x")).await.is(201);
    let mut watch = c.watch(&path, &format!("resourceVersion={since}")).await;
    c.post(&path, &map("after", "x")).await.is(201);
    assert_eq!(watch.event().await, ("ADDED".to_owned(), "between".to_owned()));
    let object = watch.expect("ADDED").await;
    assert_eq!(text(&object, "/metadata/name"), "after");
    assert_eq!(object["kind"], "ConfigMap", "objects of events say what they are");
    assert_eq!(object["apiVersion"], "v1");
}

async fn a_watch_from_zero_begins_with_what_is_there(c: Cluster) {
    let (_, _) = c.new_claim("claim").await;
    let selector = format!("fieldSelector=metadata.name%3D{}", c.name("claim"));
    // The cache may lag; the object comes with the initial events or after them.
    let mut watch = c.watch(&c.claims(), &format!("resourceVersion=0&{selector}")).await;
    assert_eq!(watch.event().await, ("ADDED".to_owned(), c.name("claim")));
}

async fn a_change_of_status_is_a_modification(c: Cluster) {
    let (path, claim) = c.claim_with_conditions(&["Launched"]).await;
    let since = text(&claim, "/metadata/resourceVersion");
    let selector = format!("fieldSelector=metadata.name%3D{}", c.name("claim"));
    let mut watch = c.watch(&c.claims(), &format!("resourceVersion={since}&{selector}")).await;
    let patch =
        json!([{"op": "add", "path": "/status/conditions/-", "value": condition("Ready", "True")}]);
    let written = c.patch(Patch::Json, &format!("{path}/status"), &patch).await.is(200);
    assert_eq!(watch.expect("MODIFIED").await, written);
}

async fn deletion_event_has_last_state_and_new_version(c: Cluster) {
    let path = maps(&c).await;
    let made = c.post(&path, &map("a", "x")).await.is(201);
    let since = text(&made, "/metadata/resourceVersion");
    let mut watch = c.watch(&path, &format!("resourceVersion={since}")).await;
    c.delete(&format!("{path}/a")).await.is(200);
    let last = watch.expect("DELETED").await;
    assert_eq!(last["metadata"]["uid"], made["metadata"]["uid"]);
    assert_eq!(last["metadata"]["labels"], made["metadata"]["labels"]);
    assert!(version(&last) > version(&made));
}

async fn an_object_with_finalizers_is_modified_before_it_is_deleted(c: Cluster) {
    let mut claim = c.claim("claim");
    claim["metadata"]["finalizers"] = json!(["karpenter.sh/termination"]);
    let made = c.post(&c.claims(), &claim).await.is(201);
    let path = format!("{}/{}", c.claims(), c.name("claim"));
    let since = text(&made, "/metadata/resourceVersion");
    let selector = format!("fieldSelector=metadata.name%3D{}", c.name("claim"));
    let mut watch = c.watch(&c.claims(), &format!("resourceVersion={since}&{selector}")).await;
    c.delete(&path).await.is(200);
    let deleting = watch.expect("MODIFIED").await;
    text(&deleting, "/metadata/deletionTimestamp");
    c.patch(Patch::Merge, &path, &json!({"metadata": {"finalizers": null}})).await.is(200);
    let gone = watch.expect("DELETED").await;
    assert!(version(&gone) > version(&deleting));
}

async fn an_object_that_leaves_the_selection_is_deleted_from_it(c: Cluster) {
    let path = maps(&c).await;
    c.post(&path, &map("a", "in")).await.is(201);
    let since = version_of_list(&c, &path).await;
    let query = format!("resourceVersion={since}&labelSelector=label%3Din");
    let mut watch = c.watch(&path, &query).await;
    let patch = json!({"metadata": {"labels": {"label": "out"}}});
    let patched = c.patch(Patch::Merge, &format!("{path}/a"), &patch).await.is(200);
    let object = watch.expect("DELETED").await;
    assert_eq!(object["metadata"]["labels"]["label"], "in", "as it was in the selection");
    assert_eq!(version(&object), version(&patched), "under the version of the change");
    c.delete(&format!("{path}/a")).await.is(200);
    c.post(&path, &map("b", "in")).await.is(201);
    assert_eq!(watch.event().await, ("ADDED".to_owned(), "b".to_owned()));
}

async fn an_object_that_enters_the_selection_is_added_to_it(c: Cluster) {
    let path = maps(&c).await;
    c.post(&path, &map("a", "out")).await.is(201);
    let since = version_of_list(&c, &path).await;
    let query = format!("resourceVersion={since}&labelSelector=label%3Din");
    let mut watch = c.watch(&path, &query).await;
    let patch = json!({"metadata": {"labels": {"label": "in"}}});
    let patched = c.patch(Patch::Merge, &format!("{path}/a"), &patch).await.is(200);
    assert_eq!(watch.expect("ADDED").await, patched);
}

async fn one_object_can_be_watched(c: Cluster) {
    let path = maps(&c).await;
    let since = version_of_list(&c, &path).await;
    let query = format!("resourceVersion={since}&fieldSelector=metadata.name%3Db");
    let mut watch = c.watch(&path, &query).await;
    c.post(&path, &map("a", "x")).await.is(201);
    c.post(&path, &map("b", "x")).await.is(201);
    assert_eq!(watch.event().await, ("ADDED".to_owned(), "b".to_owned()));
}

async fn a_watch_resumes_after_the_last_event_seen(c: Cluster) {
    let path = maps(&c).await;
    let since = version_of_list(&c, &path).await;
    let mut watch = c.watch(&path, &format!("resourceVersion={since}")).await;
    c.post(&path, &map("a", "x")).await.is(201);
    let seen = watch.expect("ADDED").await;
    drop(watch);
    c.post(&path, &map("b", "x")).await.is(201);
    c.delete(&format!("{path}/a")).await.is(200);
    let since = text(&seen, "/metadata/resourceVersion");
    let mut watch = c.watch(&path, &format!("resourceVersion={since}")).await;
    assert_eq!(watch.event().await, ("ADDED".to_owned(), "b".to_owned()));
    assert_eq!(watch.event().await, ("DELETED".to_owned(), "a".to_owned()));
}

async fn a_watch_ends_at_its_time(c: Cluster) {
    let path = maps(&c).await;
    let since = version_of_list(&c, &path).await;
    let mut watch = c.watch(&path, &format!("resourceVersion={since}&timeoutSeconds=1")).await;
    assert!(watch.next().await.is_none());
}

async fn a_bookmark_comes_before_the_end(c: Cluster) {
    let path = maps(&c).await;
    let since = version_of_list(&c, &path).await;
    let query = format!("resourceVersion={since}&allowWatchBookmarks=true&timeoutSeconds=5");
    // Best effort of the server: on a busy one, the end may come first.
    let mut bookmark = None;
    for _ in 0..5 {
        let mut watch = c.watch(&path, &query).await;
        bookmark = watch.next().await;
        if bookmark.is_some() {
            break;
        }
    }
    let event = bookmark.expect("a bookmark");
    assert_eq!(event["type"], "BOOKMARK");
    let bookmark = &event["object"];
    assert_eq!(bookmark["kind"], "ConfigMap");
    assert!(version(bookmark) >= since.parse().unwrap());
    assert!(bookmark["metadata"]["name"].is_null());
}

async fn a_watch_from_long_ago_is_gone(c: Cluster) {
    let mut watch = c.watch(&c.claims(), "resourceVersion=1").await;
    let status = watch.expect("ERROR").await;
    assert_eq!(status["kind"], "Status");
    assert_eq!(status["code"], 410);
    assert_eq!(status["reason"], "Expired");
    assert!(text(&status, "/message").contains("too old resource version: 1"), "{status}");
    assert!(watch.next().await.is_none());
}

async fn the_runtime_watcher_follows_a_claim(c: Cluster) {
    use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
    use kube::runtime::watcher::{self, Event};
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim"));
    let api: Api<DynamicObject> = Api::all_with(c.client(), &kind);
    let (path, _) = c.new_claim("claim").await;
    let config = watcher::Config::default().fields(&format!("metadata.name={}", c.name("claim")));
    let mut events = Box::pin(watcher::watcher(api, config));
    let mut next = async || {
        tokio::time::timeout(REQUEST_TIMEOUT, events.try_next()).await.unwrap().unwrap().unwrap()
    };
    assert!(matches!(next().await, Event::Init));
    assert!(matches!(next().await, Event::InitApply(_)));
    assert!(matches!(next().await, Event::InitDone));
    let label = json!({"metadata": {"labels": {"seen": "yes"}}});
    c.patch(Patch::Merge, &path, &label).await.is(200);
    match next().await {
        Event::Apply(claim) => assert_eq!(claim.metadata.labels.unwrap()["seen"], "yes"),
        other => panic!("{other:?}"),
    }
    c.delete(&path).await.is(200);
    assert!(matches!(next().await, Event::Delete(_)));
}

async fn metadata_alone_can_be_watched(c: Cluster) {
    let accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json";
    let (path, claim) = c.new_claim("claim").await;
    let query = format!(
        "resourceVersion={}&fieldSelector=metadata.name%3D{}",
        version(&claim),
        c.name("claim")
    );
    let mut watch = c.watch_as(accept, &c.claims(), &query).await;
    let patch = json!({"metadata": {"labels": {"seen": "yes"}}});
    c.patch(Patch::Merge, &path, &patch).await.is(200);
    let object = watch.expect("MODIFIED").await;
    assert_eq!(object["kind"], "PartialObjectMetadata");
    assert_eq!(object["apiVersion"], "meta.k8s.io/v1");
    assert_eq!(object["metadata"]["labels"]["seen"], "yes");
    assert!(object["spec"].is_null());
}
