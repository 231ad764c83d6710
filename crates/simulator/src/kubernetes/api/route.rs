//! Routing: from a request to the verb that serves it.

use bytes::Bytes;
use http::{HeaderValue, Method};
use jiff::Timestamp;

use crate::exchange::{Body, Request, Response};
use crate::kubernetes::api::negotiate::{Call, Query, ResourceTarget, Target, error_answer};
use crate::kubernetes::api::negotiate::{discovery, openapi};
use crate::kubernetes::api::state::{ApiServer, StatusError};

impl ApiServer {
    /// The answer when nothing goes wrong.
    pub(crate) fn answer(&mut self, request: &Request, now: Timestamp) -> Response {
        match self.route(request, now) {
            Ok(response) if *request.method() == Method::HEAD => {
                response.map(|_| Body::Full(Bytes::new()))
            }
            Ok(response) => response,
            Err(error) => error_answer(&error),
        }
    }

    fn route(&mut self, request: &Request, now: Timestamp) -> Result<Response, StatusError> {
        let user = self.who(request)?;
        let call = Call { request, query: Query::parse(request.uri().query()), user };
        let path = request.uri().path();
        match Target::parse(&self.catalogue, path) {
            Ok(Target::Resource(target)) => {
                self.authorize(&call, &target)?;
                self.check_managed(&call, &target)?;
                call.check_options()?;
                let mut response = self.serve(&call, &target, now)?;
                if let Some(warning) =
                    target.resource.custom().and_then(|custom| custom.warning.as_ref())
                    && let Ok(warning) = HeaderValue::try_from(format!("299 - {warning:?}"))
                {
                    response.headers_mut().insert(http::header::WARNING, warning);
                }
                Ok(response)
            }
            Ok(Target::Path) => {
                self.authorize_path(&call, path)?;
                if let Some(answer) = openapi::answer(self, path) {
                    return Ok(answer);
                }
                discovery::answer(self, &call, path).ok_or_else(StatusError::page_not_found)
            }
            Err(error) => Err(error),
        }
    }

    fn serve(
        &mut self,
        call: &Call<'_>,
        target: &ResourceTarget,
        now: Timestamp,
    ) -> Result<Response, StatusError> {
        if target.resource.is_review() {
            return self.review(call, target);
        }
        match target.subresource.as_deref() {
            None | Some("status") => {}
            Some("eviction") => return self.evict(call, target, now),
            Some("scale") => return self.serve_scale(call, target, now),
            Some("finalize") => return self.finalize_namespace(call, target, now),
            Some("binding") => return self.bind(call, target, now),
            Some(_) => return Err(StatusError::no_such_resource()),
        }
        match (call.verb(target), target.name.as_deref()) {
            ("get", Some(name)) => self.serve_get(call, target, name),
            ("list", _) => self.serve_list(call, target, now),
            ("watch", _) => self.serve_watch(call, target, now),
            ("create", None) => self.serve_create(call, target, now),
            ("update", Some(name)) => self.serve_update(call, target, name, now),
            ("patch", Some(name)) => self.serve_patch(call, target, name, now),
            ("delete", Some(name)) if target.subresource.is_none() => {
                self.serve_delete(call, target, name, now)
            }
            ("deletecollection", None) => self.serve_delete_collection(call, target, now),
            _ => Err(StatusError::method_not_allowed()),
        }
    }
}
