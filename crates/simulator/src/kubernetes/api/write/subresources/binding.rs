use http::{Method, StatusCode};
use serde_json::Value;

use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{ResourceRequest, success};
use crate::kubernetes::api::state::{ApiResult, ApiServer, StatusError, WriteContext};
use crate::kubernetes::store::objects::{self, text};

impl ApiServer {
    /// Serves the binding of a pod by a scheduler.
    pub(crate) fn bind(&mut self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        call.check_method(&Method::POST)?;
        let body = call.body()?;
        let pod = self.find(call)?.value.clone();
        let node = text(&pod, &["spec", "nodeName"]);
        if !node.is_empty() {
            let why = format!("pod {} is already assigned to node {node:?}", call.name());
            return Err(StatusError::conflict(call.resource(), call.name(), &why));
        }
        self.place(&pod, text(&body, &["target", "name"]), &WriteContext::controller(call.now));
        Ok(success(StatusCode::CREATED))
    }

    pub(crate) fn place(&mut self, pod: &Value, node: &str, writer: &WriteContext) {
        self.amend("pods", pod, writer, |pod| {
            objects::set(pod, &["spec", "nodeName"], node);
            objects::set_condition(pod, "PodScheduled", "True", "", "", writer.now);
        });
    }
}
