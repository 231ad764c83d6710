//! Discovery: versions, groups, resources, readiness.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

use super::response::{json_answer, with_type};
use crate::exchange::{Body, Response};
use crate::kubernetes::api::state::{ApiServer, Resource, api_version};

/// Returns the response to a non-resource path; none if the path is unknown.
pub(crate) fn answer(model: &ApiServer, accept: &str, path: &str) -> Option<Response> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let ok = |value: Value| Some(json_answer(StatusCode::OK, &value));
    let aggregated = accept.contains("v=v2;as=APIGroupDiscoveryList");
    match (parts.as_slice(), aggregated) {
        (["readyz"], _) => {
            Some(with_type(StatusCode::OK, "text/plain; charset=utf-8", Body::Full("ok".into())))
        }
        (["version"], _) => ok(version()),
        (["api"], true) => Some(all_groups(model, true)),
        (["apis"], true) => Some(all_groups(model, false)),
        (["apis"], false) => {
            let groups = model.catalog.groups().into_iter().filter(|(group, _)| !group.is_empty());
            let groups: Vec<Value> =
                groups.map(|(group, versions)| group_of(&group, &versions)).collect();
            ok(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
        }
        (["api", version], _) => resources(model, "", version).and_then(ok),
        (["apis", group, version], _) => resources(model, group, version).and_then(ok),
        _ => None,
    }
}

fn version() -> Value {
    json!({
        "major": "1", "minor": "33", "gitVersion": "v1.33.5", "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": "none", "platform": "linux/amd64",
    })
}

fn group_of(group: &str, versions: &[String]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| json!({"groupVersion": api_version(group, version), "version": version}))
        .collect();
    json!({"name": group, "versions": versions, "preferredVersion": versions.first()})
}

fn resources(model: &ApiServer, group: &str, version: &str) -> Option<Value> {
    let mut listed = Vec::new();
    for resource in model.catalog.in_version(group, version) {
        let mut entry = json!({
            "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
            "kind": resource.kind, "verbs": resource.verbs(),
        });
        if !resource.short_names.is_empty() {
            entry["shortNames"] = json!(resource.short_names);
        }
        if !resource.categories.is_empty() {
            entry["categories"] = json!(resource.categories);
        }
        listed.push(entry);
        for (part, kind, verbs) in parts(resource) {
            let mut entry = json!({
                "name": format!("{}/{part}", resource.plural), "singularName": "",
                "namespaced": resource.namespaced, "kind": kind.2, "verbs": verbs,
            });
            if kind.0 != resource.group || kind.1 != resource.version {
                entry["group"] = kind.0.into();
                entry["version"] = kind.1.into();
            }
            listed.push(entry);
        }
    }
    let list = json!({
        "kind": "APIResourceList", "apiVersion": "v1",
        "groupVersion": api_version(group, version), "resources": listed,
    });
    (!listed.is_empty()).then_some(list)
}

type Kind<'a> = (&'a str, &'a str, &'a str);

fn parts(resource: &Resource) -> Vec<(&'static str, Kind<'_>, &'static [&'static str])> {
    let own = (resource.group.as_str(), resource.version.as_str(), resource.kind.as_str());
    let mut parts: Vec<(&'static str, Kind<'_>, &'static [&'static str])> = Vec::new();
    if resource.status {
        parts.push(("status", own, &["get", "patch", "update"]));
    }
    for part in &resource.subresources {
        parts.push(match *part {
            "scale" => ("scale", ("autoscaling", "v1", "Scale"), &["get", "patch", "update"]),
            "eviction" => ("eviction", ("policy", "v1", "Eviction"), &["create"]),
            other => (other, own, &["update"]),
        });
    }
    parts
}

/// Returns all groups with their resources in one response.
fn all_groups(model: &ApiServer, core: bool) -> Response {
    let groups = model.catalog.groups().into_iter().filter(|(group, _)| group.is_empty() == core);
    let items: Vec<Value> = groups
        .map(|(group, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|version| {
                    let resources: Vec<Value> =
                        model.catalog.in_version(&group, version).map(aggregated).collect();
                    json!({"version": version, "freshness": "Current", "resources": resources})
                })
                .collect();
            let metadata = if group.is_empty() { json!({}) } else { json!({"name": group}) };
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    let list = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {}, "items": items,
    });
    let kind = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    with_type(StatusCode::OK, kind, Body::Full(Bytes::from(list.to_string())))
}

fn aggregated(resource: &Resource) -> Value {
    let kind = |(group, version, kind): Kind<'_>| json!({"group": group, "version": version, "kind": kind});
    let own = (resource.group.as_str(), resource.version.as_str(), resource.kind.as_str());
    let parts: Vec<Value> = parts(resource)
        .into_iter()
        .map(|(name, of, verbs)| json!({"subresource": name, "responseKind": kind(of), "verbs": verbs}))
        .collect();
    json!({
        "resource": resource.plural, "responseKind": kind(own),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular, "verbs": resource.verbs(),
        "shortNames": resource.short_names, "categories": resource.categories, "subresources": parts,
    })
}
