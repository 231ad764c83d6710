use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{ResourceRequest, json_answer};
use crate::kubernetes::api::state::{ApiResult, ApiServer, ObjectPart, Resource, StatusError};
use crate::kubernetes::api::write::patch::{self, PatchKind};
use crate::kubernetes::store::objects;

impl ApiServer {
    pub(crate) fn serve_scale(&mut self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        let resource = call.resource();
        let mut value = self.find(call)?.value.clone();
        let mut scale = scale_of(resource, &value);
        match *call.request.method() {
            Method::GET => return Ok(json_answer(StatusCode::OK, &scale)),
            Method::PUT => scale = call.body()?,
            Method::PATCH => {
                let kind = match call.content_type() {
                    "application/json-patch+json" => PatchKind::Json,
                    _ => PatchKind::Merge,
                };
                patch::apply(kind, resource, &mut scale, &call.body()?)?;
            }
            _ => return Err(StatusError::method_not_allowed()),
        }
        let replicas = objects::number(&scale, &["spec", "replicas"]).unwrap_or(0);
        let version = objects::text(&scale, &["metadata", "resourceVersion"]);
        if !version.is_empty() {
            objects::set(&mut value, &["metadata", "resourceVersion"], version);
        }
        let [path, ..] = paths(resource);
        objects::set(&mut value, &members(path), replicas);
        let mut writer = call.writer("update");
        writer.subresource = "scale";
        let stored = self.replace(resource, &call.key(), value, ObjectPart::Main, &writer)?;
        Ok(json_answer(StatusCode::OK, &scale_of(resource, &stored)))
    }
}

/// Returns the paths of the wanted and the actual number of replicas, and of the selector.
fn paths(resource: &Resource) -> [&str; 3] {
    match resource.custom().and_then(|custom| custom.scale.as_ref()) {
        Some(paths) => paths.each_ref().map(String::as_str),
        None => [".spec.replicas", ".status.replicas", ""],
    }
}

fn members(path: &str) -> Vec<&str> {
    path.split('.').filter(|part| !part.is_empty()).collect()
}

fn scale_of(resource: &Resource, object: &Value) -> Value {
    let [spec, status, selector] = paths(resource);
    let find = |path: &str| objects::at(object, &members(path)).cloned();
    let selector = if selector.is_empty() {
        let labels = objects::pairs(objects::at(object, &["spec", "selector", "matchLabels"]));
        labels.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
    } else {
        find(selector).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    };
    let metadata = &object["metadata"];
    json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": {
            "name": metadata["name"], "namespace": metadata["namespace"], "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"], "creationTimestamp": metadata["creationTimestamp"],
        },
        "spec": {"replicas": find(spec).unwrap_or(json!(0))},
        "status": {"replicas": find(status).unwrap_or(json!(0)), "selector": selector},
    })
}
