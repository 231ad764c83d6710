//! Execution of a call: budget, token, request, classification of the response, retry.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures::future::{Either, select};
use http::{HeaderValue, StatusCode, header};
use jiff::Timestamp;
use serde::de::DeserializeOwned;

use super::retry_after;
use super::retry_policy::{AttemptResult, MAX_ATTEMPTS, pause};
use super::{Call, Response};
use crate::budget::{self, BucketName, NotAdmitted};
use crate::client::Client;
use crate::error::{AzureError, BUDGET, CallInfo, Error, ErrorKind, WriteStatus};
use crate::request_class::Class;
use crate::world::{Sent, TransportError};

/// Time until a request without a response is given up. The resource manager itself times out after a minute.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(75);

struct CallState<'a> {
    call: &'a Call,
    correlation_id: String,
    request_id: String,
    names: Vec<BucketName>,
    deadline: Timestamp,
    attempts: u32,
    /// An attempt may have been applied although no response confirmed it.
    doubt: bool,
    /// The token was rejected once already.
    renewed: bool,
}

impl CallState<'_> {
    fn error(&self, kind: ErrorKind) -> Error {
        Error {
            kind,
            write_status: if self.doubt { WriteStatus::Unknown } else { WriteStatus::NotApplied },
            call: Box::new(CallInfo {
                method: self.call.method.clone(),
                path: self.call.path().to_owned(),
                correlation_id: self.correlation_id.clone(),
                attempts: self.attempts,
            }),
        }
    }
}

impl Client {
    pub(crate) async fn send(&self, call: &Call) -> Result<Response, Error> {
        self.send_by(call, self.deadline()).await
    }

    /// Sends a call and parses the response.
    pub(crate) async fn read<T: DeserializeOwned>(&self, call: Call) -> Result<T, Error> {
        self.send(&call).await?.parse(call.path())
    }

    pub(crate) async fn send_by(
        &self,
        call: &Call,
        deadline: Timestamp,
    ) -> Result<Response, Error> {
        let mut state = CallState {
            call,
            correlation_id: self.correlation_id.clone().unwrap_or_else(|| self.new_id()),
            request_id: self.new_id(),
            names: budget::buckets(call.class, &call.method, call.path()),
            deadline,
            attempts: 0,
            doubt: false,
            renewed: false,
        };
        loop {
            let request = self.prepare(&state).await?;
            state.attempts += 1;
            let result = self.attempt(&state, request).await;
            let Rejected { attempt, retry_after, kind } = match result {
                Ok(response) => match self.classify(&state, response) {
                    Ok(response) => return Ok(response),
                    Err(rejected) => *rejected,
                },
                Err(NoResponse::Deadline) => {
                    state.doubt |= call.class != Class::Read;
                    self.shared.counters.deadline();
                    return Err(state.error(ErrorKind::Deadline("a response")));
                }
                Err(NoResponse::Broken(error)) => Rejected {
                    attempt: AttemptResult::NoResponse(error.sent),
                    retry_after: None,
                    kind: ErrorKind::Transport(error),
                },
            };
            state.doubt |= attempt.may_be_applied(call.class);
            if attempt == AttemptResult::Status(StatusCode::UNAUTHORIZED) && !state.renewed {
                // Rejected before anything was applied: the token expired early, or keys were rotated.
                state.renewed = true;
                self.shared.tokens.forget(&self.shared.cloud.scope()).await;
                continue;
            }
            if !attempt.is_retryable(call.class) || state.attempts >= MAX_ATTEMPTS {
                return Err(state.error(kind));
            }
            let now = self.world().now();
            let pause = pause(state.attempts + 1, retry_after, self.world().random());
            if now.checked_add(pause).map_or(true, |then| then >= deadline) {
                // No time remains for another attempt.
                return Err(state.error(kind));
            }
            self.world().sleep(pause).await;
        }
    }

    /// Waits for the budget and the token, and builds the request. This is the only place that attaches the token,
    /// after the URL was compared with the cloud's origin.
    async fn prepare(&self, state: &CallState<'_>) -> Result<http::Request<Bytes>, Error> {
        let call = state.call;
        let url = call.target.to_url(self.shared.cloud.endpoint());
        let url = url.map_err(|error| state.error(ErrorKind::Invalid(error.to_string())))?;
        let late = |waiting_for| {
            self.shared.counters.deadline();
            state.error(ErrorKind::Deadline(waiting_for))
        };
        let admitted =
            self.shared.budget.admit(self.world(), &state.names, self.priority, state.deadline);
        match self.by(state.deadline, admitted).await {
            None | Some(Err(NotAdmitted::Closed)) => return Err(late(BUDGET)),
            Some(Ok(waited)) => self.shared.counters.waited(waited),
            Some(Err(NotAdmitted::Full)) => {
                self.shared.counters.budget_full();
                return Err(state.error(ErrorKind::BudgetFull));
            }
        }
        let scope = self.shared.cloud.scope();
        let token = match self.by(state.deadline, self.token(&scope)).await {
            None => return Err(late("a token")),
            Some(token) => token.map_err(|error| state.error(ErrorKind::Identity(error)))?,
        };
        let wrong = || state.error(ErrorKind::Invalid("invalid HTTP request".to_owned()));
        let mut authorization = HeaderValue::try_from(format!("Bearer {}", token.secret.expose()))
            .map_err(|_| wrong())?;
        authorization.set_sensitive(true);
        let mut request = http::Request::builder()
            .method(call.method.clone())
            .uri(url.as_str())
            .header(header::AUTHORIZATION, authorization)
            .header(header::ACCEPT, "application/json")
            .header("x-ms-correlation-request-id", &state.correlation_id)
            .header("x-ms-client-request-id", &state.request_id)
            .header("x-ms-return-client-request-id", "true");
        if !call.body.is_empty() {
            request = request.header(header::CONTENT_TYPE, "application/json; charset=utf-8");
        }
        if let Some((name, value)) = &call.condition {
            request = request.header(name, value);
        }
        request.body(call.body.clone()).map_err(|_| wrong())
    }

    async fn attempt(
        &self,
        state: &CallState<'_>,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, NoResponse> {
        let now = self.world().now();
        let timeout = now.checked_add(RESPONSE_TIMEOUT).unwrap_or(Timestamp::MAX);
        let until = timeout.min(state.deadline);
        let response = self.by(until, self.world().send(request)).await;
        let result = match response {
            Some(Ok(response)) if is_truncated(state.call.class, &response) => {
                Err(NoResponse::Broken(TransportError::unknown("truncated response")))
            }
            Some(Ok(response)) => Ok(response),
            Some(Err(error)) => Err(NoResponse::Broken(error)),
            None if until < state.deadline => {
                Err(NoResponse::Broken(TransportError::unknown("no response within 75s")))
            }
            None => Err(NoResponse::Deadline),
        };
        let outcome = match &result {
            Ok(response) => response.status().as_str().to_owned(),
            Err(NoResponse::Broken(TransportError { sent: Sent::No, .. })) => "unsent".to_owned(),
            Err(_) => "no_answer".to_owned(),
        };
        let took = self.world().now().duration_since(now);
        tracing::debug!(
            method = %state.call.method,
            path = state.call.path(),
            outcome,
            attempt = state.attempts,
            milliseconds = i64::try_from(took.as_millis()).unwrap_or(i64::MAX),
            correlation_id = state.correlation_id,
            "request sent to Azure"
        );
        self.shared.counters.sent(state.call.class, outcome, state.attempts);
        result
    }

    /// Updates the budget from the headers, and turns a status that is not success into an error.
    fn classify(
        &self,
        state: &CallState<'_>,
        response: http::Response<Bytes>,
    ) -> Result<Response, Box<Rejected>> {
        let (parts, body) = response.into_parts();
        let (status, headers) = (parts.status, parts.headers);
        let now = self.world().now();
        self.shared.budget.learn(now, &state.names, &headers);
        if status.is_success() {
            let correlation_id = state.correlation_id.clone();
            return Ok(Response { status, headers, body, correlation_id });
        }
        let retry_after = retry_after(&headers, now);
        let code = headers.get("x-ms-error-code").and_then(|code| code.to_str().ok());
        let refusal = AzureError::read(status.as_u16(), code, &body);
        let kind = match status.as_u16() {
            401 => ErrorKind::Unauthorized(refusal),
            403 => ErrorKind::Forbidden(refusal),
            404 => ErrorKind::NotFound(refusal),
            409 if refusal.has_code("ScopeLocked") => ErrorKind::Locked(refusal),
            409 => ErrorKind::Conflict(refusal),
            412 => ErrorKind::PreconditionFailed(refusal),
            429 => {
                let gate = refusal.has_code("SubscriptionRequestsThrottled")
                    || headers.get("x-ms-failure-cause").is_some_and(|cause| cause == "gateway");
                self.shared.budget.throttled(now, &state.names, gate, retry_after);
                ErrorKind::Throttled { refusal, retry_after }
            }
            408 => ErrorKind::Server(refusal),
            400..=499 => ErrorKind::Refused(refusal),
            _ => ErrorKind::Server(refusal),
        };
        Err(Box::new(Rejected { attempt: AttemptResult::Status(status), retry_after, kind }))
    }

    /// Returns the future's result, or nothing at the deadline. A result that is ready at the deadline counts.
    async fn by<T>(&self, deadline: Timestamp, future: impl Future<Output = T>) -> Option<T> {
        let left = deadline.duration_since(self.world().now());
        let left = Duration::try_from(left).unwrap_or(Duration::ZERO);
        if left.is_zero() {
            return None;
        }
        futures::pin_mut!(future);
        match select(future, self.world().sleep(left)).await {
            Either::Left((result, _)) => Some(result),
            Either::Right(_) => None,
        }
    }
}

/// An attempt without a successful response.
struct Rejected {
    attempt: AttemptResult,
    retry_after: Option<Duration>,
    kind: ErrorKind,
}

enum NoResponse {
    Deadline,
    /// The network failed, or one request timed out.
    Broken(TransportError),
}

/// Returns true if the successful response to a read is not complete JSON. Writes are exempt: their headers
/// suffice, and they must not be retried because of their body.
fn is_truncated(class: Class, response: &http::Response<Bytes>) -> bool {
    class == Class::Read
        && response.status() == StatusCode::OK
        && !response.body().is_empty()
        && serde_json::from_slice::<serde::de::IgnoredAny>(response.body()).is_err()
}
