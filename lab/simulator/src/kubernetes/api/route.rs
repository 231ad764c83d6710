use http::Method;
use jiff::Timestamp;

use crate::exchange::{Request, Response};
use crate::kubernetes::api::negotiate::{
    RequestQuery, ResourceRequest, ResourceTarget, discovery, error_answer, header, openapi,
};
use crate::kubernetes::api::state::{ApiResult, ApiServer, StatusError};
use crate::kubernetes::api::write::pipeline;

impl ApiServer {
    /// Returns the response without faults.
    pub(crate) fn answer(&mut self, request: &Request, now: Timestamp) -> Response {
        match self.route(request, now) {
            Ok(response) => response,
            Err(error) => error_answer(&error),
        }
    }

    fn route(&mut self, request: &Request, now: Timestamp) -> ApiResult<Response> {
        let user = self.who(request)?;
        let path = request.uri().path();
        let Some(target) = ResourceTarget::parse(&self.catalog, path)? else {
            let accept = header(request, http::header::ACCEPT);
            return openapi::answer(self, path)
                .or_else(|| discovery::answer(self, accept, path))
                .ok_or_else(StatusError::page_not_found);
        };
        let query = RequestQuery::parse(request.uri().query());
        let call = ResourceRequest { request, query, user, target, now };
        self.authorize(&call)?;
        self.check_managed(&call)?;
        self.serve(&call)
    }

    fn serve(&mut self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        let target = &call.target;
        if target.resource.is_review() {
            call.check_method(&Method::POST)?;
            return Ok(self.review(call, pipeline::decode(call.resource(), call.body()?)?));
        }
        match target.subresource.as_deref() {
            None | Some("status") => {}
            Some("eviction") => return self.evict(call),
            Some("scale") => return self.serve_scale(call),
            Some(_) => return Err(StatusError::no_such_resource()),
        }
        match (call.verb(), target.name.is_some()) {
            ("get", true) => self.serve_get(call),
            ("list", _) => self.serve_list(call),
            ("watch", _) => self.serve_watch(call),
            ("create", false) => self.serve_create(call),
            ("update", true) => self.serve_update(call),
            ("patch", true) => self.serve_patch(call),
            ("delete", true) if target.subresource.is_none() => self.serve_delete(call),
            _ => Err(StatusError::method_not_allowed()),
        }
    }
}
