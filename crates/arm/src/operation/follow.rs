//! Follows an operation to its end.

use std::time::Duration;

use http::StatusCode;
use jiff::Timestamp;
use serde_json::Value;

use super::start::next_poll;
use super::{Monitor, Operation, OperationOutcome, OperationProgress, WriteKind};
use super::{OperationState, failure, provisioning_state, state};
use crate::client::Client;
use crate::error::{AzureError, CallInfo, Error, ErrorKind, WriteStatus};
use crate::request::{Call, Response};

/// Consecutive 404 responses after which an operation counts as unknown: right after the write, and on a stale
/// replica, Azure may not know it yet.
const MAX_NOT_FOUND: u8 = 3;
/// Maximum single wait: a record may come from a host with a wrong clock.
const MAX_WAIT: Duration = Duration::from_mins(5);

impl Client {
    /// Waits until the next poll is due, polls once, and records in the operation when to poll next.
    ///
    /// If dropped, the operation is unchanged and can be polled again.
    pub async fn poll(&self, operation: &mut Operation) -> Result<OperationProgress, Error> {
        let now = self.world().now();
        let wait = Duration::try_from(operation.next.duration_since(now)).unwrap_or(Duration::ZERO);
        if !wait.is_zero() {
            self.world().sleep(wait.min(MAX_WAIT)).await;
        }
        match operation.monitor.clone() {
            Monitor::Resource => self.read_resource(operation).await,
            Monitor::Status(target) | Monitor::Location(target) => {
                match self.send(&Call::follow(target)).await {
                    Ok(response) => {
                        operation.missing = 0;
                        self.read_monitor(operation, &response).await
                    }
                    Err(error) if error.is_not_found() => self.not_found(operation).await,
                    Err(error) => end_by_location(operation, error),
                }
            }
        }
    }

    /// Follows an operation to its end, or until `until`; then returns [`ErrorKind::Deadline`], and the operation
    /// can be followed further. Calls `seen` after each change of state.
    pub async fn wait(
        &self,
        operation: &mut Operation,
        until: Timestamp,
        mut seen: impl FnMut(&Operation, &str) + Send,
    ) -> Result<OperationOutcome, Error> {
        let mut last = String::new();
        loop {
            if operation.next >= until {
                let call = CallInfo {
                    path: operation.resource().to_owned(),
                    correlation_id: operation.correlation_id.clone(),
                    ..CallInfo::default()
                };
                return Err(Error {
                    kind: ErrorKind::Deadline("the operation"),
                    write_status: WriteStatus::Unknown,
                    call: Box::new(call),
                });
            }
            match self.poll(operation).await? {
                OperationProgress::Done(outcome) => return Ok(outcome),
                OperationProgress::Running { state, .. } if state != last => {
                    seen(operation, &state);
                    last = state;
                }
                OperationProgress::Running { .. } => {}
            }
        }
    }

    async fn read_monitor(
        &self,
        operation: &mut Operation,
        response: &Response,
    ) -> Result<OperationProgress, Error> {
        let body: Option<Value> = serde_json::from_slice(&response.body).ok();
        if matches!(operation.monitor, Monitor::Location(_)) {
            if response.status == StatusCode::ACCEPTED {
                return Ok(self.running(operation, Some(response), "Accepted", None));
            }
            // A write's `Location` may return the resource, which may still be updating.
            let word = body.as_ref().and_then(provisioning_state);
            if operation.kind == WriteKind::Write
                && word.map(state) == Some(OperationState::Running)
            {
                let word = word.unwrap_or_default().to_owned();
                return Ok(self.running(operation, Some(response), &word, None));
            }
            return self.succeeded(operation, Some(response)).await;
        }
        let Some(body) = body else {
            // Some services return 202 or 204 without a body while the operation is running.
            return Ok(self.running(operation, Some(response), "Unknown", None));
        };
        let word = body.get("status").and_then(Value::as_str).or_else(|| provisioning_state(&body));
        let Some(word) = word else {
            return Ok(self.running(operation, Some(response), "Unknown", None));
        };
        match state(word) {
            OperationState::Running => {
                let percent = body.get("percentComplete").and_then(Value::as_f64);
                // Clamped first, so the cast loses only the fraction.
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "0 to 100"
                )]
                let percent = percent.map(|percent| percent.clamp(0.0, 100.0) as u8);
                Ok(self.running(operation, Some(response), word, percent))
            }
            OperationState::Succeeded => self.succeeded(operation, None).await,
            end => Ok(OperationProgress::Done(failure(end, error_of(&body)))),
        }
    }

    /// Reads the resource or the action's result after success.
    async fn succeeded(
        &self,
        operation: &Operation,
        response: Option<&Response>,
    ) -> Result<OperationProgress, Error> {
        let target = match (operation.kind, response) {
            (WriteKind::Delete | WriteKind::Abort, _) => None,
            (WriteKind::Action, Some(response)) => {
                return Ok(OperationProgress::Done(OperationOutcome::of_body(&response.body)));
            }
            (WriteKind::Action, None) => operation.result.clone(),
            (WriteKind::Write, _) => Some(operation.resource.clone()),
        };
        let Some(target) = target else {
            return Ok(OperationProgress::Done(OperationOutcome::Succeeded(None)));
        };
        match self.send(&Call::follow(target)).await {
            Ok(response) => Ok(OperationProgress::Done(OperationOutcome::of_body(&response.body))),
            // The resource was deleted since then, or the action has no result.
            Err(error) if error.is_not_found() => {
                Ok(OperationProgress::Done(OperationOutcome::Succeeded(None)))
            }
            Err(error) => Err(error),
        }
    }

    /// Handles an operation that Azure does not know yet or no longer knows: the resource's state decides.
    async fn not_found(&self, operation: &mut Operation) -> Result<OperationProgress, Error> {
        operation.missing = operation.missing.saturating_add(1);
        if operation.missing < MAX_NOT_FOUND {
            return Ok(self.running(operation, None, "Unknown", None));
        }
        if operation.kind == WriteKind::Action {
            return Ok(OperationProgress::Done(OperationOutcome::Lost { state: None }));
        }
        operation.monitor = Monitor::Resource;
        operation.missing = 0;
        self.read_resource(operation).await
    }

    async fn read_resource(&self, operation: &mut Operation) -> Result<OperationProgress, Error> {
        let response = match self.send(&Call::follow(operation.resource.clone())).await {
            Ok(response) => response,
            Err(error) if error.is_not_found() => {
                if operation.kind == WriteKind::Delete {
                    return Ok(OperationProgress::Done(OperationOutcome::Succeeded(None)));
                }
                operation.missing = operation.missing.saturating_add(1);
                if operation.missing < MAX_NOT_FOUND {
                    return Ok(self.running(operation, None, "Unknown", None));
                }
                return Ok(OperationProgress::Done(OperationOutcome::Lost { state: None }));
            }
            Err(error) => return Err(error),
        };
        operation.missing = 0;
        let body: Value = response.parse(operation.resource())?;
        let word = provisioning_state(&body).unwrap_or("Succeeded").to_owned();
        let lost =
            || Ok(OperationProgress::Done(OperationOutcome::Lost { state: Some(word.clone()) }));
        match (operation.kind, state(&word)) {
            // It still exists. Unless it is being deleted, the deletion failed or never started, or there is a new
            // resource of the same name.
            (WriteKind::Delete, OperationState::Failed) => {
                Ok(OperationProgress::Done(OperationOutcome::Failed(error_of(&body))))
            }
            (WriteKind::Delete, OperationState::Succeeded | OperationState::Canceled) => lost(),
            (WriteKind::Abort, OperationState::Running)
                if !word.eq_ignore_ascii_case("Canceling") =>
            {
                lost()
            }
            (
                WriteKind::Abort,
                OperationState::Succeeded | OperationState::Failed | OperationState::Canceled,
            ) => Ok(OperationProgress::Done(OperationOutcome::Succeeded(None))),
            (_, OperationState::Running) => {
                Ok(self.running(operation, Some(&response), &word, None))
            }
            (_, OperationState::Succeeded) => {
                Ok(OperationProgress::Done(OperationOutcome::of_body(&response.body)))
            }
            (_, end) => Ok(OperationProgress::Done(failure(end, error_of(&body)))),
        }
    }

    fn running(
        &self,
        operation: &mut Operation,
        response: Option<&Response>,
        state: &str,
        percent: Option<u8>,
    ) -> OperationProgress {
        operation.next = next_poll(response, self.world().now());
        OperationProgress::Running { state: state.to_owned(), percent }
    }
}

/// If only `Location` is available, its error is the operation's result.
fn end_by_location(operation: &Operation, error: Error) -> Result<OperationProgress, Error> {
    let ended = matches!(operation.monitor, Monitor::Location(_))
        && matches!(
            error.kind,
            ErrorKind::Refused(_) | ErrorKind::Conflict(_) | ErrorKind::Locked(_)
        );
    match error.refusal() {
        Some(refusal) if ended => {
            Ok(OperationProgress::Done(failure(OperationState::Failed, refusal.clone())))
        }
        _ => Err(error),
    }
}

/// Reads the error of a state or a resource; empty if there is none.
fn error_of(body: &Value) -> AzureError {
    let inside = body.get("error").or_else(|| body.get("properties")?.get("error"));
    inside.map(AzureError::of).unwrap_or_default()
}
