use http::StatusCode;
use serde_json::Value;

use super::field_set::{Shape, fields_of};
use super::merge::merge;
use super::owners::{Owner, set_owners};
use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{
    ResourceRequest, converted, json_or_yaml, object_answer, to_stored,
};
use crate::kubernetes::api::state::{
    ApiResult, ApiServer, FieldError, ObjectPart, Resource, StatusError,
};
use crate::kubernetes::api::write::pipeline::decode;
use crate::kubernetes::store::objects;

impl ApiServer {
    pub(crate) fn serve_apply(&mut self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        let (resource, part) = (call.resource(), call.part());
        if call.query.get("fieldManager").is_empty() {
            let error = FieldError::required("fieldManager", "is required for apply patch");
            return Err(StatusError::bad_option("PatchOptions", &error));
        }
        let body = json_or_yaml(call.request.body())
            .map_err(|error| StatusError::bad_request(format!("error decoding YAML: {error}")))?;
        let mut applied = decode(resource, body)?;
        if objects::at(&applied, &["metadata", "managedFields"]).is_some_and(|list| !list.is_null())
        {
            return Err(StatusError::bad_request("metadata.managedFields must be nil"));
        }
        objects::set(&mut applied, &["metadata", "name"], call.name());
        if let Some(namespace) = call.namespace() {
            objects::set(&mut applied, &["metadata", "namespace"], namespace);
        }
        only_part(resource, &mut applied, part);
        let mut writer = call.writer("patch");
        writer.applies = true;
        let shape = Shape::of(resource);
        let fields = fields_of(&shape, &applied);
        let mine = Owner::new(&writer, "Apply", &resource.api_version(), fields);
        let live = match self.find(call) {
            Err(_) if part == ObjectPart::Main => {
                set_owners(&mut applied, vec![mine]);
                let body = converted(resource, &applied);
                let stored = self.create_object(resource, call.namespace(), body, &writer)?;
                return Ok(object_answer(call, StatusCode::CREATED, &stored));
            }
            live => &live?.value,
        };
        let merged = merge(resource, &shape, live, &applied, mine, call.query.flag("force"))?;
        let merged = to_stored(resource, merged);
        let stored = self.replace(resource, &call.key(), merged, part, &writer)?;
        Ok(object_answer(call, StatusCode::OK, &stored))
    }
}

/// Reduces an applied configuration to the part that the path names.
fn only_part(resource: &Resource, applied: &mut Value, part: ObjectPart) {
    if !resource.status {
        return;
    }
    match part {
        ObjectPart::Main => {
            objects::members(applied).remove("status");
        }
        ObjectPart::Status => {
            let kept = ["apiVersion", "kind", "metadata", "status"];
            objects::members(applied).retain(|name, _| kept.contains(&name.as_str()));
        }
    }
}
