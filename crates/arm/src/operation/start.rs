//! From a write's answer to what goes on.

use std::time::Duration;

use http::{Method, StatusCode};
use jiff::Timestamp;
use serde_json::Value;

use super::state::{State, failure, provisioning_state, state};
use super::{Kind, Monitor, Operation, Outcome, Started};
use crate::client::Client;
use crate::cloud::{Cloud, ForeignLink};
use crate::error::{CallInfo, Error, ErrorKind, Refusal, WriteStatus};
use crate::path::{ArmPath, ArmPathError};
use crate::raw::Document;
use crate::request::{Answer, Call, retry_after};

/// How long to wait where Azure does not say.
pub(crate) const POLL: Duration = Duration::from_secs(30);
/// Azure is never asked more often than this, whatever it says.
pub(crate) const POLL_AT_LEAST: Duration = Duration::from_secs(1);

impl Client {
    /// Makes a write and tells what goes on after it.
    pub(crate) async fn begin(&self, call: &Call, kind: Kind) -> Result<Started, Error> {
        let answer = match self.send(call).await {
            Ok(answer) => answer,
            // An earlier attempt of ours deleted it, and its answer was lost.
            Err(error)
                if kind == Kind::Delete
                    && error.is_not_found()
                    && error.write_status == WriteStatus::Unknown =>
            {
                return Ok(Started::Done(Outcome::Succeeded(None)));
            }
            Err(error) => return Err(error),
        };
        let started = started(&self.shared.cloud, call, kind, &answer, self.world().now());
        started.map_err(|kind| {
            let call = CallInfo {
                method: call.method.clone(),
                path: call.path().to_owned(),
                correlation_id: answer.correlation_id.clone(),
                attempts: 1,
            };
            Error { kind, write_status: WriteStatus::Unknown, call: Box::new(call) }
        })
    }
}

/// `Azure-AsyncOperation`, then `Operation-Location`, then `Location`, then the body's state.
pub(crate) fn started(
    cloud: &Cloud,
    call: &Call,
    kind: Kind,
    answer: &Answer,
    now: Timestamp,
) -> Result<Started, ErrorKind> {
    let link = |name: &str| {
        let link = answer.header(name).map(|link| cloud.own_link(link)).transpose();
        link.map_err(|ForeignLink(origin)| ErrorKind::ForeignLink(origin))
    };
    let location = link("location")?;
    let status = match link("azure-asyncoperation")? {
        Some(status) => Some(status),
        None => link("operation-location")?,
    };
    let body: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let goes_on = |monitor| {
        let resource =
            resource(call, kind).map_err(|error| ErrorKind::Invalid(error.to_string()))?;
        let wait = retry_after(&answer.headers, now).unwrap_or(POLL).max(POLL_AT_LEAST);
        Ok(Started::Running(Operation {
            kind,
            monitor,
            resource,
            result: (kind == Kind::Action).then(|| location.clone()).flatten(),
            started: now,
            next: now.checked_add(wait).unwrap_or(now),
            missing: 0,
            correlation_id: answer.correlation_id.clone(),
        }))
    };
    if answer.status == StatusCode::NO_CONTENT {
        return Ok(Started::Done(Outcome::Succeeded(None)));
    }
    if let Some(status) = status {
        return goes_on(Monitor::Status(status));
    }
    if let Some(location) = location.clone().filter(|_| answer.status == StatusCode::ACCEPTED) {
        return goes_on(Monitor::Location(location));
    }
    if answer.status == StatusCode::ACCEPTED && matches!(call.method, Method::DELETE | Method::POST)
    {
        return Err(ErrorKind::Malformed(
            "accepts the call but does not tell where it can be followed".to_owned(),
        ));
    }
    let word = body.as_ref().and_then(provisioning_state);
    match word.map(state) {
        _ if kind != Kind::Write => {}
        Some(State::Running) => return goes_on(Monitor::Resource),
        Some(over @ (State::Failed | State::Canceled)) => {
            let refusal = body.as_ref().map(Refusal::of).unwrap_or_default();
            return Ok(Started::Done(failure(over, refusal)));
        }
        // No state, or no whole body: an accepted write is looked after until the resource tells.
        None if answer.status == StatusCode::ACCEPTED || body.is_none() => {
            return goes_on(Monitor::Resource);
        }
        Some(State::Succeeded) | None => {}
    }
    let text = std::str::from_utf8(&answer.body).unwrap_or_default();
    Ok(Started::Done(Outcome::Succeeded(Document::parse(text).ok())))
}

/// The resource that a write is about: an abort stands one word below it.
fn resource(call: &Call, kind: Kind) -> Result<ArmPath, ArmPathError> {
    let path = match kind {
        Kind::Abort => call.path().rsplit_once('/').map_or(call.path(), |(path, _)| path),
        _ => call.path(),
    };
    ArmPath::at_version(path, call.target.api_version())
}
