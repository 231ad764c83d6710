//! Reads from an earlier state, for fault rules.

use jiff::Timestamp;

use crate::exchange::{Request, Response};
use crate::kubernetes::api::negotiate::{
    Call, Query, ResourceTarget, Target, bytes_answer, error_answer, shown,
};
use crate::kubernetes::api::state::{ApiServer, StatusError};
use crate::kubernetes::store::objects::Key;

impl ApiServer {
    /// Returns the response to a read from the state at `then`; none for other requests.
    pub(crate) fn read_at(
        &self,
        request: &Request,
        then: Timestamp,
        now: Timestamp,
    ) -> Option<Response> {
        if *request.method() != http::Method::GET {
            return None;
        }
        let Ok(Target::Resource(target)) = Target::parse(&self.catalogue, request.uri().path())
        else {
            return None;
        };
        let call = Call {
            request,
            query: Query::parse(request.uri().query()),
            user: self.who(request).ok()?,
        };
        self.authorize(&call, &target).ok()?;
        let revision = self.store.revision_at(&target.resource.table, then);
        let answer = match (call.verb(&target), target.name.as_deref()) {
            ("list", _) => self.list_as_of(&call, &target, revision, now),
            ("get", Some(name)) => self.get_as_of(&target, name, revision),
            _ => return None,
        };
        Some(answer.unwrap_or_else(|error| error_answer(&error)))
    }

    fn get_as_of(
        &self,
        target: &ResourceTarget,
        name: &str,
        revision: u64,
    ) -> Result<Response, StatusError> {
        let namespace = target.namespace.as_deref();
        let then =
            self.store.list_at(&target.resource.table, namespace, revision).unwrap_or_default();
        let key = Key::new(namespace, name);
        let object =
            then.get(&key).ok_or_else(|| StatusError::not_found(&target.resource, name))?;
        let bytes = shown(&target.resource, object);
        Ok(bytes_answer(http::StatusCode::OK, bytes))
    }
}
