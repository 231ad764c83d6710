use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{ResourceRequest, json_answer};
use crate::kubernetes::api::state::{ApiResult, ApiServer, ObjectPart};
use crate::kubernetes::api::write::patch::{self, PatchKind};
use crate::kubernetes::store::objects;

impl ApiServer {
    pub(crate) fn serve_scale(&mut self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        call.check_method(&Method::PATCH)?;
        let resource = call.resource();
        let mut value = self.find(call)?.value.clone();
        let mut scale = scale_of(&value);
        patch::apply(PatchKind::Merge, resource, &mut scale, &call.body()?)?;
        let replicas = objects::number(&scale, &["spec", "replicas"]).unwrap_or(0);
        let version = objects::text(&scale, &["metadata", "resourceVersion"]);
        if !version.is_empty() {
            objects::set(&mut value, &["metadata", "resourceVersion"], version);
        }
        objects::set(&mut value, &["spec", "replicas"], replicas);
        let mut writer = call.writer("update");
        writer.subresource = "scale";
        let stored = self.replace(resource, &call.key(), value, ObjectPart::Main, &writer)?;
        Ok(json_answer(StatusCode::OK, &scale_of(&stored)))
    }
}

fn scale_of(object: &Value) -> Value {
    let count = |part: &str| objects::number(object, &[part, "replicas"]).unwrap_or(0);
    let labels = objects::pairs(objects::at(object, &["spec", "selector", "matchLabels"]));
    let selector = labels.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
    let metadata = &object["metadata"];
    json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1",
        "metadata": {
            "name": metadata["name"], "namespace": metadata["namespace"], "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"], "creationTimestamp": metadata["creationTimestamp"],
        },
        "spec": {"replicas": count("spec")},
        "status": {"replicas": count("status"), "selector": selector.join(",")},
    })
}
