//! Writes of subresources: evictions, scales, and finalizers of namespaces.

mod eviction;
mod scale;

use http::{Method, StatusCode};

use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{ResourceRequest, object_answer};
use crate::kubernetes::api::state::{ApiResult, ApiServer};
use crate::kubernetes::store::objects;

impl ApiServer {
    /// Serves the subresource `finalize` of namespaces.
    pub(crate) fn finalize_namespace(&mut self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        call.check_method(&Method::PUT)?;
        let body = call.body()?;
        let mut value = self.find(call)?.value.clone();
        let finalizers = objects::list(&body, &["spec", "finalizers"]).to_vec();
        objects::set(&mut value, &["spec", "finalizers"], finalizers);
        let stored = self.finish("namespaces", value, &call.writer("update"));
        Ok(object_answer(call, StatusCode::OK, &stored))
    }
}
