//! Following an operation to its end.

use std::time::Duration;

use http::StatusCode;
use jiff::Timestamp;
use serde_json::Value;

use super::start::{POLL, POLL_AT_LEAST};
use super::state::{State, failure, provisioning_state, state};
use super::{Kind, Monitor, Operation, Outcome, Progress};
use crate::client::Client;
use crate::error::{CallInfo, Error, ErrorKind, Refusal, WriteStatus};
use crate::raw::Document;
use crate::request::{Answer, Call, retry_after};

/// So many times in a row Azure must not know an operation before that is believed: right after the write, and
/// on a stale replica, it may not know it yet.
const BELIEVED_MISSING: u8 = 3;
/// No single wait is longer: a record may come from a machine whose clock goes wrong.
const LONGEST_WAIT: Duration = Duration::from_mins(5);

impl Client {
    /// Waits until Azure wants to be asked, asks once, and notes in the operation when to ask next.
    ///
    /// Dropped at any time, the operation is as it was before, and can be asked again.
    pub async fn poll(&self, operation: &mut Operation) -> Result<Progress, Error> {
        let now = self.world().now();
        let wait = Duration::try_from(operation.next.duration_since(now)).unwrap_or(Duration::ZERO);
        if !wait.is_zero() {
            self.world().sleep(wait.min(LONGEST_WAIT)).await;
        }
        match operation.monitor.clone() {
            Monitor::Resource => self.look_at_resource(operation).await,
            Monitor::Status(target) | Monitor::Location(target) => {
                match self.send(&Call::follow(target)).await {
                    Ok(answer) => {
                        operation.missing = 0;
                        self.read_monitor(operation, &answer).await
                    }
                    Err(error) if error.is_not_found() => self.not_known(operation).await,
                    Err(error) => end_by_location(operation, error),
                }
            }
        }
    }

    /// Follows an operation to its end, or until `until`; what goes on then is told as an error of the kind
    /// [`ErrorKind::Deadline`], and the operation can be followed further. Each change of state is told to
    /// `seen`, with the operation for the record.
    pub async fn wait(
        &self,
        operation: &mut Operation,
        until: Timestamp,
        mut seen: impl FnMut(&Operation, &str) + Send,
    ) -> Result<Outcome, Error> {
        let mut last = String::new();
        loop {
            if operation.next >= until {
                let call = CallInfo {
                    path: operation.resource().to_owned(),
                    correlation_id: operation.correlation_id.clone(),
                    ..CallInfo::default()
                };
                return Err(Error {
                    kind: ErrorKind::Deadline("the operation's end"),
                    write_status: WriteStatus::Unknown,
                    call: Box::new(call),
                });
            }
            match self.poll(operation).await? {
                Progress::Done(outcome) => return Ok(outcome),
                Progress::Running { state, .. } if state != last => {
                    seen(operation, &state);
                    last = state;
                }
                Progress::Running { .. } => {}
            }
        }
    }

    async fn read_monitor(
        &self,
        operation: &mut Operation,
        answer: &Answer,
    ) -> Result<Progress, Error> {
        let body: Option<Value> = serde_json::from_slice(&answer.body).ok();
        if matches!(operation.monitor, Monitor::Location(_)) {
            if answer.status == StatusCode::ACCEPTED {
                return Ok(self.goes_on(operation, Some(answer), "Accepted", None));
            }
            // A write's `Location` may answer with the resource, which may still go on.
            let word = body.as_ref().and_then(provisioning_state);
            if operation.kind == Kind::Write && word.map(state) == Some(State::Running) {
                let word = word.unwrap_or_default().to_owned();
                return Ok(self.goes_on(operation, Some(answer), &word, None));
            }
            return self.succeeded(operation, Some(answer)).await;
        }
        let Some(body) = body else {
            // 202 or 204 without a word, as some services do while it goes on.
            return Ok(self.goes_on(operation, Some(answer), "Unknown", None));
        };
        let word = body.get("status").and_then(Value::as_str).or_else(|| provisioning_state(&body));
        let Some(word) = word else {
            return Ok(self.goes_on(operation, Some(answer), "Unknown", None));
        };
        match state(word) {
            State::Running => {
                let percent = body.get("percentComplete").and_then(Value::as_f64);
                // Clamped first, so the cast loses only the fraction.
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "0 to 100"
                )]
                let percent = percent.map(|percent| percent.clamp(0.0, 100.0) as u8);
                Ok(self.goes_on(operation, Some(answer), word, percent))
            }
            State::Succeeded => self.succeeded(operation, None).await,
            over => Ok(Progress::Done(failure(over, error_of(&body)))),
        }
    }

    /// The end of an operation that went well: the resource, or the action's result.
    async fn succeeded(
        &self,
        operation: &Operation,
        answer: Option<&Answer>,
    ) -> Result<Progress, Error> {
        let target = match (operation.kind, answer) {
            (Kind::Delete | Kind::Abort, _) => None,
            (Kind::Action, Some(answer)) => return Ok(done(&answer.body)),
            (Kind::Action, None) => operation.result.clone(),
            (Kind::Write, _) => Some(operation.resource.clone()),
        };
        let Some(target) = target else { return Ok(Progress::Done(Outcome::Succeeded(None))) };
        match self.send(&Call::follow(target)).await {
            Ok(answer) => Ok(done(&answer.body)),
            // It ended well and somebody has deleted the resource since, or there is no result.
            Err(error) if error.is_not_found() => Ok(Progress::Done(Outcome::Succeeded(None))),
            Err(error) => Err(error),
        }
    }

    /// Azure does not know the operation: not yet, or not any more. Then the resource itself must tell.
    async fn not_known(&self, operation: &mut Operation) -> Result<Progress, Error> {
        operation.missing = operation.missing.saturating_add(1);
        if operation.missing < BELIEVED_MISSING {
            return Ok(self.goes_on(operation, None, "Unknown", None));
        }
        if operation.kind == Kind::Action {
            return Ok(Progress::Done(Outcome::Lost { state: None }));
        }
        operation.monitor = Monitor::Resource;
        operation.missing = 0;
        self.look_at_resource(operation).await
    }

    async fn look_at_resource(&self, operation: &mut Operation) -> Result<Progress, Error> {
        let answer = match self.send(&Call::follow(operation.resource.clone())).await {
            Ok(answer) => answer,
            Err(error) if error.is_not_found() => {
                if operation.kind == Kind::Delete {
                    return Ok(Progress::Done(Outcome::Succeeded(None)));
                }
                operation.missing = operation.missing.saturating_add(1);
                if operation.missing < BELIEVED_MISSING {
                    return Ok(self.goes_on(operation, None, "Unknown", None));
                }
                return Ok(Progress::Done(Outcome::Lost { state: None }));
            }
            Err(error) => return Err(error),
        };
        operation.missing = 0;
        let body: Value = answer.parse(operation.resource())?;
        let word = provisioning_state(&body).unwrap_or("Succeeded").to_owned();
        let lost = || Ok(Progress::Done(Outcome::Lost { state: Some(word.clone()) }));
        match (operation.kind, state(&word)) {
            // It still exists. Unless it is being deleted, the deletion has failed, or was never begun, or
            // there is a new one of the same name.
            (Kind::Delete, State::Failed) => Ok(Progress::Done(Outcome::Failed(error_of(&body)))),
            (Kind::Delete, State::Succeeded | State::Canceled) => lost(),
            (Kind::Abort, State::Running) if !word.eq_ignore_ascii_case("Canceling") => lost(),
            (Kind::Abort, State::Succeeded | State::Failed | State::Canceled) => {
                Ok(Progress::Done(Outcome::Succeeded(None)))
            }
            (_, State::Running) => Ok(self.goes_on(operation, Some(&answer), &word, None)),
            (_, State::Succeeded) => Ok(done(&answer.body)),
            (_, over) => Ok(Progress::Done(failure(over, error_of(&body)))),
        }
    }

    fn goes_on(
        &self,
        operation: &mut Operation,
        answer: Option<&Answer>,
        state: &str,
        percent: Option<u8>,
    ) -> Progress {
        let now = self.world().now();
        let told = answer.and_then(|answer| retry_after(&answer.headers, now));
        let wait = told.unwrap_or(POLL).max(POLL_AT_LEAST);
        operation.next = now.checked_add(wait).unwrap_or(now);
        Progress::Running { state: state.to_owned(), percent }
    }
}

/// Where `Location` is all there is, a refusal of it is the operation's own end.
fn end_by_location(operation: &Operation, error: Error) -> Result<Progress, Error> {
    let ended = matches!(operation.monitor, Monitor::Location(_))
        && matches!(
            error.kind,
            ErrorKind::Refused(_) | ErrorKind::Conflict(_) | ErrorKind::Locked(_)
        );
    match error.refusal() {
        Some(refusal) if ended => Ok(Progress::Done(failure(State::Failed, refusal.clone()))),
        _ => Err(error),
    }
}

fn done(body: &[u8]) -> Progress {
    let text = std::str::from_utf8(body).unwrap_or_default();
    Progress::Done(Outcome::Succeeded(Document::parse(text).ok()))
}

/// The error that stands in a state or a resource; nothing but an empty one if there is none.
fn error_of(body: &Value) -> Refusal {
    let inside = body.get("error").or_else(|| body.get("properties")?.get("error"));
    inside.map(Refusal::of).unwrap_or_default()
}
