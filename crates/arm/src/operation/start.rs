//! Starts an operation from the response to a write.

use std::time::Duration;

use http::{Method, StatusCode};
use jiff::Timestamp;
use serde_json::Value;

use super::{Monitor, Operation, OperationOutcome, Started, WriteKind};
use super::{OperationState, failure, provisioning_state, state};
use crate::client::Client;
use crate::cloud::{Cloud, ForeignLink};
use crate::error::{AzureError, CallInfo, Error, ErrorKind, WriteStatus};
use crate::path::{ArmPath, ArmPathError};
use crate::request::{Call, Response, retry_after};

/// Polling interval if Azure sends no `Retry-After`.
const POLL_INTERVAL: Duration = Duration::from_secs(30);
/// Minimum polling interval, regardless of `Retry-After`.
const MIN_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Returns the earliest time of the poll after a response.
pub(super) fn next_poll(response: Option<&Response>, now: Timestamp) -> Timestamp {
    let retry_after = response.and_then(|response| retry_after(&response.headers, now));
    let wait = retry_after.unwrap_or(POLL_INTERVAL).max(MIN_POLL_INTERVAL);
    now.checked_add(wait).unwrap_or(now)
}

impl Client {
    /// Sends a write and returns its outcome or the running operation.
    pub(crate) async fn begin(&self, call: &Call, kind: WriteKind) -> Result<Started, Error> {
        let response = match self.send(call).await {
            Ok(response) => response,
            // An earlier attempt deleted it, and its response was lost.
            Err(error)
                if kind == WriteKind::Delete
                    && error.is_not_found()
                    && error.write_status == WriteStatus::Unknown =>
            {
                return Ok(Started::Done(OperationOutcome::Succeeded(None)));
            }
            Err(error) => return Err(error),
        };
        let started = started(&self.shared.cloud, call, kind, &response, self.world().now());
        started.map_err(|kind| {
            let call = CallInfo {
                method: call.method.clone(),
                path: call.path().to_owned(),
                correlation_id: response.correlation_id.clone(),
                attempts: 1,
            };
            Error { kind, write_status: WriteStatus::Unknown, call: Box::new(call) }
        })
    }
}

/// Reads `Azure-AsyncOperation`, then `Operation-Location`, then `Location`, then the body's state.
pub(crate) fn started(
    cloud: &Cloud,
    call: &Call,
    kind: WriteKind,
    response: &Response,
    now: Timestamp,
) -> Result<Started, ErrorKind> {
    let link = |name: &str| {
        let link = response.header(name).map(|link| cloud.own_link(link)).transpose();
        link.map_err(|ForeignLink(origin)| ErrorKind::ForeignLink(origin))
    };
    let location = link("location")?;
    let status = match link("azure-asyncoperation")? {
        Some(status) => Some(status),
        None => link("operation-location")?,
    };
    let body: Option<Value> = serde_json::from_slice(&response.body).ok();
    let running = |monitor| {
        let resource =
            resource(call, kind).map_err(|error| ErrorKind::Invalid(error.to_string()))?;
        Ok(Started::Running(Operation {
            kind,
            monitor,
            resource,
            result: (kind == WriteKind::Action).then(|| location.clone()).flatten(),
            started: now,
            next: next_poll(Some(response), now),
            missing: 0,
            correlation_id: response.correlation_id.clone(),
        }))
    };
    if response.status == StatusCode::NO_CONTENT {
        return Ok(Started::Done(OperationOutcome::Succeeded(None)));
    }
    if let Some(status) = status {
        return running(Monitor::Status(status));
    }
    if let Some(location) = location.clone().filter(|_| response.status == StatusCode::ACCEPTED) {
        return running(Monitor::Location(location));
    }
    if response.status == StatusCode::ACCEPTED
        && matches!(call.method, Method::DELETE | Method::POST)
    {
        return Err(ErrorKind::Malformed(
            "202 Accepted without a header for the operation status".to_owned(),
        ));
    }
    let word = body.as_ref().and_then(provisioning_state);
    match word.map(state) {
        _ if kind != WriteKind::Write => {}
        Some(OperationState::Running) => return running(Monitor::Resource),
        Some(end @ (OperationState::Failed | OperationState::Canceled)) => {
            let refusal = body.as_ref().map(AzureError::of).unwrap_or_default();
            return Ok(Started::Done(failure(end, refusal)));
        }
        // No state or no complete body: an accepted write is followed by the resource's state.
        None if response.status == StatusCode::ACCEPTED || body.is_none() => {
            return running(Monitor::Resource);
        }
        Some(OperationState::Succeeded) | None => {}
    }
    Ok(Started::Done(OperationOutcome::of_body(&response.body)))
}

/// Returns the resource of a write; the path of an abort has one more segment.
fn resource(call: &Call, kind: WriteKind) -> Result<ArmPath, ArmPathError> {
    let path = match kind {
        WriteKind::Abort => call.path().rsplit_once('/').map_or(call.path(), |(path, _)| path),
        _ => call.path(),
    };
    ArmPath::at_version(path, call.target.api_version())
}
