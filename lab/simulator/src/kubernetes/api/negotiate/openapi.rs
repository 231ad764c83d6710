//! The part of the `OpenAPI` description that `kubectl` needs to see that the server validates, and
//! to explain custom kinds: paths with their parameters, and the schemas of CRDs.

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::response::json_answer;
use crate::exchange::Response;
use crate::kubernetes::api::state::{ApiServer, CRDS, Resource, api_path};
use crate::kubernetes::store::objects::{self, Key};

pub(crate) fn answer(model: &ApiServer, path: &str) -> Option<Response> {
    let rest = path.strip_prefix("/openapi/")?;
    let ok = |value: Value| Some(json_answer(StatusCode::OK, &value));
    if rest == "v2" {
        let everything: Vec<&Resource> = model.catalog.all().collect();
        return ok(json!({
            "swagger": "2.0", "info": {"title": "Kubernetes", "version": "v1.33.5"},
            "paths": paths(&everything, true), "definitions": definitions(model, &everything),
        }));
    }
    let rest = rest.strip_prefix("v3")?.trim_matches('/');
    if rest.is_empty() {
        let paths: Map<String, Value> = model
            .catalog
            .groups()
            .iter()
            .flat_map(|(group, versions)| {
                versions.iter().map(move |version| api_path(group, version))
            })
            .map(|path| {
                let url = format!("/openapi/v3/{path}?hash={}", model.store.revision());
                (path, json!({"serverRelativeURL": url}))
            })
            .collect();
        return ok(json!({"paths": paths}));
    }
    let found: Vec<&Resource> =
        model.catalog.all().filter(|one| api_path(&one.group, &one.version) == rest).collect();
    if found.is_empty() {
        return None;
    }
    ok(json!({
        "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.33.5"},
        "paths": paths(&found, false), "components": {"schemas": definitions(model, &found)},
    }))
}

fn paths(resources: &[&Resource], old_form: bool) -> Map<String, Value> {
    let mut paths = Map::new();
    for resource in resources {
        let scope = if resource.namespaced { "/namespaces/{namespace}" } else { "" };
        let path = api_path(&resource.group, &resource.version);
        let base = format!("/{path}{scope}/{}", resource.plural);
        let kind = json!({
            "group": resource.group, "version": resource.version, "kind": resource.kind,
        });
        let parameter = |name: &str| {
            if old_form {
                json!({"name": name, "in": "query", "type": "string", "uniqueItems": true})
            } else {
                json!({"name": name, "in": "query", "schema": {"type": "string"}})
            }
        };
        let operation = |action: &str| {
            json!({
                "x-kubernetes-action": action, "x-kubernetes-group-version-kind": kind,
                "parameters": [parameter("dryRun"), parameter("fieldManager"), parameter("fieldValidation")],
                "responses": {"200": {"description": "OK"}},
            })
        };
        paths.insert(base.clone(), json!({"get": operation("list"), "post": operation("post")}));
        paths.insert(
            format!("{base}/{{name}}"),
            json!({"get": operation("get"), "put": operation("put"), "patch": operation("patch"),
                "delete": operation("delete")}),
        );
    }
    paths
}

/// Returns custom kinds as their CRDs describe them; every built-in kind as an object without members.
fn definitions(model: &ApiServer, resources: &[&Resource]) -> Map<String, Value> {
    let definition = |resource: &&Resource| {
        let group = if resource.group.is_empty() { "core" } else { &resource.group };
        let name = format!("io.k8s.api.{group}.{}.{}", resource.version, resource.kind);
        let mut value = custom_schema(model, resource).unwrap_or_else(
            || json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        );
        value["x-kubernetes-group-version-kind"] = json!([
            {"group": resource.group, "version": resource.version, "kind": resource.kind},
        ]);
        (name, value)
    };
    resources.iter().map(definition).collect()
}

fn custom_schema(model: &ApiServer, resource: &Resource) -> Option<Value> {
    let definition = model.get(CRDS, &Key::new(None, &resource.table))?;
    let version = objects::list(definition, &["spec", "versions"])
        .iter()
        .find(|version| objects::text(version, &["name"]) == resource.version)?;
    objects::at(version, &["schema", "openAPIV3Schema"]).cloned()
}
