//! The part of the `OpenAPI` description that `kubectl apply` needs to see that the server validates: paths with their
//! parameters.

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::response::json_answer;
use crate::exchange::Response;
use crate::kubernetes::api::state::{ApiServer, Resource, api_path};

pub(crate) fn answer(model: &ApiServer, path: &str) -> Option<Response> {
    let ok = |value: Value| Some(json_answer(StatusCode::OK, &value));
    let rest = path.strip_prefix("/openapi/v3")?.trim_matches('/');
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
        "paths": paths(&found), "components": {"schemas": {}},
    }))
}

fn paths(resources: &[&Resource]) -> Map<String, Value> {
    let mut paths = Map::new();
    for resource in resources {
        let scope = if resource.namespaced { "/namespaces/{namespace}" } else { "" };
        let path = api_path(&resource.group, &resource.version);
        let base = format!("/{path}{scope}/{}", resource.plural);
        let kind = json!({
            "group": resource.group, "version": resource.version, "kind": resource.kind,
        });
        let parameter =
            |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
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
