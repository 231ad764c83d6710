//! Lists: selectors, pages and consistency.

use serde_json::{Value, json};

use crate::answer::{names, text};
use crate::case::cases;
use crate::cluster::{Cluster, Patch, pod};

cases!("lists":
    a_list_has_a_kind_and_a_version,
    items_of_custom_lists_say_what_they_are,
    items_are_ordered_by_name,
    a_list_without_namespace_spans_all,
    label_selectors_select,
    objects_are_selected_by_name,
    pods_are_selected_by_node_and_phase,
    an_unknown_field_selector_is_refused,
    a_custom_object_has_only_its_name_to_select_by,
    pages_cover_everything_once,
    pages_show_the_list_as_it_was_at_the_first,
    page_has_the_remaining_item_count,
    pages_respect_selectors,
);

async fn maps(c: &Cluster, names: &[&str]) -> String {
    let path = format!("{}/configmaps", c.namespace().await);
    for name in names {
        let body = json!({"metadata": {"name": name, "labels": {"name": name, "kind": "map"}}});
        c.post(&path, &body).await.is(201);
    }
    path
}

fn continued(list: &Value) -> &str {
    list["metadata"]["continue"].as_str().unwrap_or("")
}

async fn a_list_has_a_kind_and_a_version(c: Cluster) {
    let list = c.get(&maps(&c, &["a"]).await).await.is(200);
    assert_eq!(list["kind"], "ConfigMapList");
    assert_eq!(list["apiVersion"], "v1");
    assert!(text(&list, "/metadata/resourceVersion").parse::<u64>().unwrap() > 0);
    assert!(list["items"][0]["kind"].is_null(), "items of core lists do not repeat the kind");
}

async fn items_of_custom_lists_say_what_they_are(c: Cluster) {
    c.new_claim("claim").await;
    let list = c.get(&c.claims()).await.is(200);
    assert_eq!(list["kind"], "NodeClaimList");
    assert_eq!(list["apiVersion"], "karpenter.sh/v1");
    assert_eq!(list["items"][0]["kind"], "NodeClaim");
    assert_eq!(list["items"][0]["apiVersion"], "karpenter.sh/v1");
}

async fn items_are_ordered_by_name(c: Cluster) {
    let list = c.get(&maps(&c, &["c", "a", "b"]).await).await.is(200);
    assert_eq!(names(&list), ["a", "b", "c"]);
}

async fn a_list_without_namespace_spans_all(c: Cluster) {
    let name = c.name("lone");
    maps(&c, &[&name]).await;
    let list = c.get("/api/v1/configmaps").await.is(200);
    assert!(names(&list).contains(&name.as_str()));
}

async fn label_selectors_select(c: Cluster) {
    let path = maps(&c, &["a", "b", "c"]).await;
    c.post(&path, &json!({"metadata": {"name": "plain"}})).await.is(201);
    for (selector, expected) in [
        ("name=a", &["a"][..]),
        ("name==a", &["a"]),
        ("name!=a", &["b", "c", "plain"]),
        ("kind", &["a", "b", "c"]),
        ("kind=map,name!=b", &["a", "c"]),
        ("absent", &[]),
    ] {
        let list = c.get(&format!("{path}?labelSelector={selector}")).await.is(200);
        assert_eq!(names(&list), expected, "{selector}");
    }
}

async fn objects_are_selected_by_name(c: Cluster) {
    let path = maps(&c, &["a", "b"]).await;
    let list = c.get(&format!("{path}?fieldSelector=metadata.name%3Da")).await.is(200);
    assert_eq!(names(&list), ["a"]);
    let list = c.get(&format!("{path}?fieldSelector=metadata.name!%3Da")).await.is(200);
    assert_eq!(names(&list), ["b"]);
}

async fn pods_are_selected_by_node_and_phase(c: Cluster) {
    let pods = format!("{}/pods", c.namespace().await);
    c.post(&pods, &pod("free")).await.is(201);
    let mut bound = pod("bound");
    bound["spec"]["nodeName"] = json!(c.name("node"));
    c.post(&pods, &bound).await.is(201);
    let status = json!({"status": {"phase": "Running"}});
    c.patch(Patch::Strategic, &format!("{pods}/bound/status"), &status).await.is(200);
    for (selector, expected) in [
        (format!("spec.nodeName%3D{}", c.name("node")), "bound"),
        ("spec.nodeName%3D".to_owned(), "free"),
        ("status.phase%3DRunning".to_owned(), "bound"),
        ("status.phase!%3DRunning".to_owned(), "free"),
    ] {
        let list = c.get(&format!("{pods}?fieldSelector={selector}")).await.is(200);
        assert_eq!(names(&list), [expected], "{selector}");
    }
}

async fn an_unknown_field_selector_is_refused(c: Cluster) {
    let path = maps(&c, &[]).await;
    let answer = c.get(&format!("{path}?fieldSelector=data.key%3Da")).await;
    answer.fails_saying(400, "BadRequest", "data.key");
}

async fn a_custom_object_has_only_its_name_to_select_by(c: Cluster) {
    c.new_claim("claim").await;
    let selector = format!("fieldSelector=metadata.name%3D{}", c.name("claim"));
    let list = c.get(&format!("{}?{selector}", c.claims())).await.is(200);
    assert_eq!(names(&list), [c.name("claim")]);
    let answer = c.get(&format!("{}?fieldSelector=spec.expireAfter%3D1h", c.claims())).await;
    answer.fails_saying(400, "BadRequest", "field label not supported: spec.expireAfter");
}

async fn pages_cover_everything_once(c: Cluster) {
    let path = maps(&c, &["a", "b", "c", "d", "e"]).await;
    let mut seen: Vec<String> = Vec::new();
    let mut page = c.get(&format!("{path}?limit=2")).await.is(200);
    let version = page["metadata"]["resourceVersion"].clone();
    loop {
        assert!(page["items"].as_array().unwrap().len() <= 2);
        assert_eq!(page["metadata"]["resourceVersion"], version, "one version for all pages");
        seen.extend(names(&page).into_iter().map(str::to_owned));
        if continued(&page).is_empty() {
            break;
        }
        page = c.get(&format!("{path}?limit=2&continue={}", continued(&page))).await.is(200);
    }
    assert_eq!(seen, ["a", "b", "c", "d", "e"]);
}

async fn pages_show_the_list_as_it_was_at_the_first(c: Cluster) {
    let path = maps(&c, &["a", "b", "c"]).await;
    let page = c.get(&format!("{path}?limit=1")).await.is(200);
    c.post(&path, &json!({"metadata": {"name": "bb"}})).await.is(201);
    c.delete(&format!("{path}/c")).await.is(200);
    let rest = c.get(&format!("{path}?continue={}", continued(&page))).await.is(200);
    assert_eq!(names(&rest), ["b", "c"]);
}

async fn page_has_the_remaining_item_count(c: Cluster) {
    let path = maps(&c, &["a", "b", "c"]).await;
    let page = c.get(&format!("{path}?limit=1")).await.is(200);
    assert_eq!(page["metadata"]["remainingItemCount"], 2);
    let whole = c.get(&format!("{path}?limit=3")).await.is(200);
    assert!(whole["metadata"]["remainingItemCount"].is_null());
    assert!(continued(&whole).is_empty());
}

async fn pages_respect_selectors(c: Cluster) {
    let path = maps(&c, &["a", "b", "c", "d"]).await;
    let selector = "labelSelector=name!=a,name!=c";
    let page = c.get(&format!("{path}?limit=1&{selector}")).await.is(200);
    assert_eq!(names(&page), ["b"]);
    assert!(page["metadata"]["remainingItemCount"].is_null(), "unknown under a selector");
    let page =
        c.get(&format!("{path}?limit=1&{selector}&continue={}", continued(&page))).await.is(200);
    assert_eq!(names(&page), ["d"]);
}
