use http::{Method, StatusCode};
use jiff::Timestamp;
use serde_json::Value;

use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{ResourceRequest, success};
use crate::kubernetes::api::state::{ApiResult, ApiServer, StatusError};
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
        self.place(&pod, text(&body, &["target", "name"]), call.now);
        Ok(success(StatusCode::CREATED))
    }

    pub(crate) fn place(&mut self, pod: &Value, node: &str, now: Timestamp) {
        self.amend("pods", pod, now, |pod| {
            objects::set(pod, &["spec", "nodeName"], node);
            objects::set_condition(pod, "PodScheduled", "True", "", "", now);
        });
    }
}
