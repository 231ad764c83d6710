//! How a call goes: budget, token, request, judgement, and perhaps once more.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures::future::{Either, select};
use http::{HeaderValue, StatusCode, header};
use jiff::Timestamp;

use super::call::{Answer, Call};
use super::retry_after;
use super::retry_policy::{Attempt, Class, MAX_ATTEMPTS, pause};
use crate::budget::{self, Name};
use crate::client::Client;
use crate::error::{CallInfo, Error, ErrorKind, Refusal, WriteStatus};
use crate::world::{Sent, TransportError};

/// How long one request may be without an answer. The resource manager itself gives up after a minute.
const PATIENCE: Duration = Duration::from_secs(75);

/// What a call has come to so far.
struct CallState<'a> {
    call: &'a Call,
    correlation_id: String,
    request_id: String,
    names: Vec<Name>,
    deadline: Timestamp,
    attempts: u32,
    /// An attempt may have worked although we were not told.
    doubt: bool,
    /// The token was refused once already.
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
    /// Makes a call within the client's terms.
    pub(crate) async fn send(&self, call: &Call) -> Result<Answer, Error> {
        self.send_by(call, self.deadline()).await
    }

    /// Makes a call that ends at this time at the latest.
    pub(crate) async fn send_by(&self, call: &Call, deadline: Timestamp) -> Result<Answer, Error> {
        let mut course = CallState {
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
            let request = self.prepare(&course).await?;
            course.attempts += 1;
            let result = self.attempt(&course, request).await;
            let Refused { attempt, told, kind } = match result {
                Ok(answer) => match self.judge(&course, answer) {
                    Ok(answer) => return Ok(answer),
                    Err(refused) => *refused,
                },
                Err(Unanswered::Time) => {
                    course.doubt |= call.class != Class::Read;
                    self.shared.counters.deadline();
                    return Err(course.error(ErrorKind::Deadline("an answer")));
                }
                Err(Unanswered::Broken(error)) => Refused {
                    attempt: Attempt::NoAnswer(error.sent),
                    told: None,
                    kind: ErrorKind::Transport(error),
                },
            };
            course.doubt |= attempt.may_have_worked(call.class);
            if attempt == Attempt::Status(StatusCode::UNAUTHORIZED) && !course.renewed {
                // Refused before anything was done: a token that ended early, or keys that were changed.
                course.renewed = true;
                self.shared.tokens.forget(&self.shared.cloud.scope()).await;
                continue;
            }
            if !attempt.is_worth_repeating(call.class) || course.attempts >= MAX_ATTEMPTS {
                return Err(course.error(kind));
            }
            let now = self.world().now();
            let pause = pause(course.attempts + 1, told, self.world().random());
            if now.checked_add(pause).map_or(true, |then| then >= deadline) {
                // Waiting would not leave time to try again: say now what there is to say.
                return Err(course.error(kind));
            }
            self.world().sleep(pause).await;
        }
    }

    /// Waits for the budget and the token, and makes the request. This is the only place that attaches the token,
    /// and the URL has been compared with the cloud's origin before there is one.
    async fn prepare(&self, course: &CallState<'_>) -> Result<http::Request<Bytes>, Error> {
        let call = course.call;
        let url = call.target.on(self.shared.cloud.endpoint());
        let url = url.map_err(|error| course.error(ErrorKind::Invalid(error.to_string())))?;
        let late = |waiting_for| {
            self.shared.counters.deadline();
            course.error(ErrorKind::Deadline(waiting_for))
        };
        let admitted = self.shared.budget.admit(self.world(), &course.names, self.priority);
        match self.by(course.deadline, admitted).await {
            None => return Err(late("the request budget")),
            Some(Ok(waited)) => self.shared.counters.waited(waited),
            Some(Err(_)) => {
                self.shared.counters.budget_full();
                return Err(course.error(ErrorKind::BudgetFull));
            }
        }
        let scope = self.shared.cloud.scope();
        let token = match self.by(course.deadline, self.token(&scope)).await {
            None => return Err(late("a token")),
            Some(token) => token.map_err(|error| course.error(ErrorKind::Identity(error)))?,
        };
        let wrong = || course.error(ErrorKind::Invalid("the call is no HTTP request".to_owned()));
        let mut authorization = HeaderValue::try_from(format!("Bearer {}", token.secret.expose()))
            .map_err(|_| wrong())?;
        authorization.set_sensitive(true);
        let mut request = http::Request::builder()
            .method(call.method.clone())
            .uri(url.as_str())
            .header(header::AUTHORIZATION, authorization)
            .header(header::ACCEPT, "application/json")
            .header("x-ms-correlation-request-id", &course.correlation_id)
            .header("x-ms-client-request-id", &course.request_id)
            .header("x-ms-return-client-request-id", "true");
        if !call.body.is_empty() {
            request = request.header(header::CONTENT_TYPE, "application/json; charset=utf-8");
        }
        if let Some((name, value)) = &call.condition {
            request = request.header(name, value);
        }
        request.body(call.body.clone()).map_err(|_| wrong())
    }

    /// Sends one request, and counts it.
    async fn attempt(
        &self,
        course: &CallState<'_>,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, Unanswered> {
        let now = self.world().now();
        let patience = now.checked_add(PATIENCE).unwrap_or(Timestamp::MAX);
        let until = patience.min(course.deadline);
        let answered = self.by(until, self.world().send(request)).await;
        let result = match answered {
            Some(Ok(response)) if is_torn(course.call.class, &response) => {
                Err(Unanswered::Broken(TransportError::unknown("the answer broke off")))
            }
            Some(Ok(response)) => Ok(response),
            Some(Err(error)) => Err(Unanswered::Broken(error)),
            None if until < course.deadline => {
                Err(Unanswered::Broken(TransportError::unknown("no answer within 75 s")))
            }
            None => Err(Unanswered::Time),
        };
        let outcome = match &result {
            Ok(response) => response.status().as_str().to_owned(),
            Err(Unanswered::Broken(TransportError { sent: Sent::No, .. })) => "unsent".to_owned(),
            Err(_) => "no_answer".to_owned(),
        };
        tracing::debug!(
            method = %course.call.method,
            path = course.call.path(),
            outcome,
            attempt = course.attempts,
            correlation_id = course.correlation_id,
            "asked Azure"
        );
        self.shared.counters.sent(course.call.class, outcome, course.attempts);
        result
    }

    /// Success, or why not. The budget learns from both.
    fn judge(
        &self,
        course: &CallState<'_>,
        response: http::Response<Bytes>,
    ) -> Result<Answer, Box<Refused>> {
        let (parts, body) = response.into_parts();
        let (status, headers) = (parts.status, parts.headers);
        let now = self.world().now();
        self.shared.budget.learn(now, &course.names, &headers);
        if status.is_success() {
            let correlation_id = course.correlation_id.clone();
            return Ok(Answer { status, headers, body, correlation_id });
        }
        let told = retry_after(&headers, now);
        let code = headers.get("x-ms-error-code").and_then(|code| code.to_str().ok());
        let refusal = Refusal::read(status.as_u16(), code, &body);
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
                self.shared.budget.refused(now, &course.names, gate, told);
                ErrorKind::Throttled { refusal, retry_after: told }
            }
            408 => ErrorKind::Server(refusal),
            400..=499 => ErrorKind::Refused(refusal),
            _ => ErrorKind::Server(refusal),
        };
        Err(Box::new(Refused { attempt: Attempt::Status(status), told, kind }))
    }

    /// The future's result, unless the time comes first. The future is looked at first, so a result that is
    /// there at the last moment counts.
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

/// An attempt that was not answered with success.
struct Refused {
    attempt: Attempt,
    /// When Azure wants to be asked again.
    told: Option<Duration>,
    kind: ErrorKind,
}

enum Unanswered {
    /// The call's time is up.
    Time,
    /// The network failed, or one request took too long.
    Broken(TransportError),
}

/// A read's answer of success that is no whole JSON was cut on its way. What a write answers is not judged so:
/// its headers tell what matters, and it must not be repeated for the sake of its body.
fn is_torn(class: Class, response: &http::Response<Bytes>) -> bool {
    class == Class::Read
        && response.status() == StatusCode::OK
        && !response.body().is_empty()
        && serde_json::from_slice::<serde::de::IgnoredAny>(response.body()).is_err()
}
