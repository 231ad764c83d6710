//! What goes wrong with calls and events, by rule.

use jiff::{SignedDuration, Timestamp};

use super::model::{Kubernetes, error_answer};
use super::request::{Call as ApiCall, Query, ResourceTarget, Target};
use super::resources::Resource;
use super::status_error::StatusError;
use super::watch::Delivery;
use crate::exchange::{Outcome, Request, Response};
use crate::faults::{Call, Fault, Faults, Service};

fn is_about_events(fault: &Fault) -> bool {
    matches!(fault, Fault::DropWatch | Fault::DuplicateEvent | Fault::ReorderEvent)
}

/// How the next event of a watch of this resource goes.
pub(crate) fn next_delivery(faults: &mut Faults, resource: &Resource, now: Timestamp) -> Delivery {
    let path = if resource.group.is_empty() {
        format!("/api/{}/{}", resource.version, resource.plural)
    } else {
        format!("/apis/{}/{}/{}", resource.group, resource.version, resource.plural)
    };
    let call = Call { service: Service::Kubernetes, method: "WATCH", path: &path, writes: false };
    match faults.next_of(call, now, is_about_events) {
        Some(Fault::DropWatch) => Delivery::EndWatch,
        Some(Fault::DuplicateEvent) => Delivery::Twice,
        Some(Fault::ReorderEvent) => Delivery::AfterTheNext,
        _ => Delivery::Once,
    }
}

impl Kubernetes {
    pub(crate) fn handle_with_faults(&mut self, request: &Request, now: Timestamp) -> Outcome {
        let method = request.method().as_str();
        let path = request.uri().path().to_owned();
        let writes = !matches!(method, "GET" | "HEAD" | "OPTIONS") && !path.contains("reviews");
        let call = Call { service: Service::Kubernetes, method, path: &path, writes };
        let fault = self.faults.next_of(call, now, |fault| !is_about_events(fault));
        match fault {
            Some(Fault::Status { status, code, retry_after }) => {
                Outcome::Answer(refusal(status, code.as_deref(), retry_after))
            }
            Some(Fault::TimeoutBefore) => Outcome::Silence,
            Some(Fault::TimeoutAfter) => {
                self.answer(request, now);
                Outcome::Silence
            }
            Some(Fault::DropBefore) => Outcome::Dropped,
            Some(Fault::DropAfter) => {
                self.answer(request, now);
                Outcome::Dropped
            }
            Some(Fault::Truncate) => {
                let response = self.answer(request, now);
                let half = response.body().bytes().len() / 2;
                Outcome::CutShort(response, half)
            }
            Some(Fault::Stale { seconds }) => Outcome::Answer(self.stale(request, seconds, now)),
            Some(Fault::Restart) => {
                self.restart();
                Outcome::Dropped
            }
            // Faults of Azure's operations and clocks say nothing about this API.
            None | Some(_) => Outcome::Answer(self.answer(request, now)),
        }
    }

    /// The answer to a read out of an old state; writes are answered as always.
    fn stale(&mut self, request: &Request, seconds: u64, now: Timestamp) -> Response {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        let then = now.checked_sub(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MIN);
        self.read_at(request, then, now).unwrap_or_else(|| self.answer(request, now))
    }

    fn read_at(&self, request: &Request, then: Timestamp, now: Timestamp) -> Option<Response> {
        if *request.method() != http::Method::GET {
            return None;
        }
        let Ok(Target::Resource(target)) = Target::parse(&self.catalogue, request.uri().path())
        else {
            return None;
        };
        let call = ApiCall {
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
        let key = super::Key::new(namespace, name);
        let object =
            then.get(&key).ok_or_else(|| StatusError::not_found(&target.resource, name))?;
        let bytes = super::list::shown(&target.resource, object);
        Ok(super::model::bytes_answer(http::StatusCode::OK, bytes))
    }
}

/// An error that has nothing to do with the request.
fn refusal(status: u16, code: Option<&str>, retry_after: Option<u64>) -> Response {
    let (reason, message) = match status {
        401 => ("Unauthorized", "Unauthorized"),
        403 => ("Forbidden", "forbidden by a fault rule"),
        404 => ("NotFound", "the server could not find the requested resource"),
        409 => (
            "Conflict",
            "Operation cannot be fulfilled: the object has been modified; please apply your changes to the \
             latest version and try again",
        ),
        410 => ("Expired", "too old resource version"),
        429 => (
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later",
        ),
        500 => ("InternalError", "Internal error occurred: etcdserver: request timed out"),
        503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
        504 => ("Timeout", "the server was unable to return a response in the time allotted"),
        _ => ("", "an error made by a fault rule"),
    };
    let mut error = StatusError::new(status, reason, code.unwrap_or(message));
    if let Some(seconds) = retry_after {
        error = error.with_details(serde_json::json!({"retryAfterSeconds": seconds}));
    }
    error_answer(&error)
}
