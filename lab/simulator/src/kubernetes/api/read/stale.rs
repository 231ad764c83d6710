//! Stale reads, for fault rules.

use http::StatusCode;
use jiff::Timestamp;

use crate::exchange::{Request, Response};
use crate::kubernetes::api::negotiate::{
    RequestQuery, ResourceRequest, ResourceTarget, bytes_answer, error_answer, shown,
};
use crate::kubernetes::api::state::{ApiResult, ApiServer, StatusError};

impl ApiServer {
    /// Returns the response to a read from the state at `then`; none for other requests.
    pub(crate) fn read_at(
        &self,
        request: &Request,
        then: Timestamp,
        now: Timestamp,
    ) -> Option<Response> {
        let target = ResourceTarget::parse(&self.catalog, request.uri().path()).ok()??;
        let query = RequestQuery::parse(request.uri().query());
        let call = ResourceRequest { request, query, user: self.who(request).ok()?, target, now };
        self.authorize(&call).ok()?;
        let revision = self.store.revision_at(&call.resource().table, then);
        let answer = match call.verb() {
            _ if *request.method() != http::Method::GET => return None,
            "list" => self.list_as_of(&call, revision),
            "get" => self.get_as_of(&call, revision),
            _ => return None,
        };
        Some(answer.unwrap_or_else(|error| error_answer(&error)))
    }

    fn get_as_of(&self, call: &ResourceRequest<'_>, revision: u64) -> ApiResult<Response> {
        let resource = call.resource();
        let then = self.store.list_at(&resource.table, call.namespace(), revision);
        let then = then.unwrap_or_default();
        let object =
            then.get(&call.key()).ok_or_else(|| StatusError::not_found(resource, call.name()))?;
        Ok(bytes_answer(StatusCode::OK, shown(resource, object)))
    }
}
