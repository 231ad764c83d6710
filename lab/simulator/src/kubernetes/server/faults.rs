//! Faults of requests, by rule.

use jiff::{SignedDuration, Timestamp};

use super::model::Kubernetes;
use crate::exchange::{Request, Response, ServerReply};
use crate::faults::{Fault, MatchedCall, ServiceName};
use crate::kubernetes::api::negotiate::error_answer;
use crate::kubernetes::api::read::watch::is_about_events;
use crate::kubernetes::api::state::StatusError;

impl Kubernetes {
    pub(crate) fn handle_with_faults(&mut self, request: &Request, now: Timestamp) -> ServerReply {
        let method = request.method().as_str();
        let path = request.uri().path().to_owned();
        let writes = !matches!(method, "GET" | "HEAD" | "OPTIONS") && !path.contains("reviews");
        let call = MatchedCall { service: ServiceName::Kubernetes, method, path: &path, writes };
        let fault = self.faults.next_of(call, now, |fault| !is_about_events(fault));
        match fault {
            Some(Fault::Status { status, code, retry_after }) => {
                ServerReply::Answer(refusal(status, code.as_deref(), retry_after))
            }
            Some(Fault::Stale { seconds }) => {
                ServerReply::Answer(self.stale(request, seconds, now))
            }
            Some(Fault::Restart) => {
                self.restart();
                ServerReply::Dropped
            }
            fault => Fault::deliver(fault.as_ref(), || self.answer(request, now)),
        }
    }

    /// Returns the response to a read from an old state; writes are served normally.
    fn stale(&mut self, request: &Request, seconds: u64, now: Timestamp) -> Response {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        let then = now.checked_sub(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MIN);
        self.read_at(request, then, now).unwrap_or_else(|| self.answer(request, now))
    }
}

/// Returns an error that does not depend on the request.
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
