//! The subresource `binding` of pods.

use http::{Method, StatusCode};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{Call, ResourceTarget, json_answer};
use crate::kubernetes::api::state::{ApiServer, StatusError};
use crate::kubernetes::store::objects::{self, text};

impl ApiServer {
    /// The subresource by which a scheduler places a pod.
    pub(crate) fn bind(
        &mut self,
        call: &Call<'_>,
        target: &ResourceTarget,
        now: Timestamp,
    ) -> Result<Response, StatusError> {
        if *call.request.method() != Method::POST {
            return Err(StatusError::method_not_allowed());
        }
        let name = target.name.as_deref().unwrap_or_default();
        let body = call.body()?;
        let pod = self.find(target, name)?.value.clone();
        let node = text(&pod, &["spec", "nodeName"]);
        if !node.is_empty() {
            let why = format!("pod {name} is already assigned to node {node:?}");
            return Err(StatusError::conflict(&target.resource, name, &why));
        }
        self.place(&pod, text(&body, &["target", "name"]), now);
        let status =
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"});
        Ok(json_answer(StatusCode::CREATED, &status))
    }

    /// Assigns a pod to a node.
    pub(crate) fn place(&mut self, pod: &Value, node: &str, now: Timestamp) {
        let mut value = pod.clone();
        objects::set(&mut value, &["spec", "nodeName"], node);
        objects::set_condition(&mut value, "PodScheduled", "True", "", "", now);
        self.store_object("pods", value, now, None);
    }
}
