//! Long-running operations: writes that continue in Azure after the response.
//!
//! An [`Operation`] contains all that is needed to follow a write to its end. It can be stored, read by another process
//! on another host, and followed there. It contains paths, never a host: what is read from a record is checked as every
//! other target ([`ArmPath`](crate::ArmPath)), and [`Operation::is_under`] checks that it belongs to the subscription of
//! the record.

mod follow;
mod start;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::AzureError;
use crate::path::ArmPath;

/// Immediate result of a write.
#[derive(Debug)]
pub enum Started {
    Done(OperationOutcome),
    Running(Operation),
}

#[derive(Debug)]
pub enum OperationProgress {
    Running { state: String, percent: Option<u8> },
    Done(OperationOutcome),
}

#[derive(Debug)]
pub enum OperationOutcome {
    /// Contains the resource after a PUT or PATCH, or an action's result, if any.
    Succeeded(Option<Value>),
    Failed(AzureError),
    Canceled(AzureError),
    /// Canceled by a later operation.
    Replaced {
        /// ID of the later operation.
        by: Option<String>,
        refusal: AzureError,
    },
    /// Azure no longer knows the operation, and the resource's state is inconclusive.
    Lost {
        state: Option<String>,
    },
}

impl OperationOutcome {
    /// Returns a success with the resource or result of a body.
    pub(super) fn of_body(body: &[u8]) -> Self {
        Self::Succeeded(serde_json::from_slice(body).ok().filter(Value::is_object))
    }

    pub fn is_success(&self) -> bool {
        matches!(self, Self::Succeeded(_))
    }
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    pub(crate) kind: WriteKind,
    pub(crate) monitor: Monitor,
    pub(crate) resource: ArmPath,
    /// Location of an action's result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<ArmPath>,
    pub(crate) started: Timestamp,
    /// Earliest time of the next poll.
    pub(crate) next: Timestamp,
    /// Consecutive polls that Azure answered with 404.
    #[serde(default)]
    pub(crate) missing: u8,
    pub(crate) correlation_id: String,
}

impl Operation {
    pub fn started(&self) -> Timestamp {
        self.started
    }

    /// Returns the earliest time of the next poll.
    pub fn next(&self) -> Timestamp {
        self.next
    }

    pub fn correlation_id(&self) -> &str {
        &self.correlation_id
    }

    pub fn resource(&self) -> &str {
        self.resource.path()
    }

    /// Returns true if all paths of the operation are in this subscription. Other records must not be followed.
    pub fn is_under(&self, subscription: &str) -> bool {
        let monitor = match &self.monitor {
            Monitor::Status(path) | Monitor::Location(path) => Some(path),
            Monitor::Resource => None,
        };
        let mut paths = monitor.into_iter().chain([&self.resource]).chain(&self.result);
        paths.all(|path| path.is_under(subscription))
    }
}

/// Omits queries, which may contain signatures.
impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operation")
            .field("kind", &self.kind)
            .field("resource", &self.resource())
            .field("started", &self.started)
            .field("next", &self.next)
            .field("correlation_id", &self.correlation_id)
            .finish_non_exhaustive()
    }
}

/// Type of the write, which determines how its end is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WriteKind {
    /// PUT or PATCH: the resource is read at the end.
    Write,
    Delete,
    /// The resource is no longer `Canceling` at the end.
    Abort,
    /// POST with its own result.
    Action,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Monitor {
    /// A resource with `status` (`Azure-AsyncOperation`, `Operation-Location`).
    Status(ArmPath),
    /// 202 while it is running (`Location`).
    Location(ArmPath),
    /// The resource's own `provisioningState`.
    Resource,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperationState {
    Succeeded,
    Failed,
    Canceled,
    /// Any state that is not listed above.
    Running,
}

/// Parses a state. Unknown states are not terminal.
pub(crate) fn state(text: &str) -> OperationState {
    match text.to_ascii_lowercase().as_str() {
        "succeeded" | "completed" => OperationState::Succeeded,
        "failed" => OperationState::Failed,
        "canceled" | "cancelled" => OperationState::Canceled,
        _ => OperationState::Running,
    }
}

pub(crate) fn provisioning_state(body: &Value) -> Option<&str> {
    body.get("properties")?.get("provisioningState")?.as_str()
}

/// Distinguishes cancellation by a user from replacement by a later operation.
pub(crate) fn failure(state: OperationState, refusal: AzureError) -> OperationOutcome {
    const SIGNS: [&str; 5] =
        ["overrid", "superseded", "preempted", "replaced by", "by a later operation"];
    let message = refusal.message.to_ascii_lowercase();
    let codes = ["OperationPreempted", "OperationSuperseded", "OperationOverridden"];
    if codes.iter().any(|code| refusal.has_code(code))
        || (state == OperationState::Canceled && SIGNS.iter().any(|sign| message.contains(sign)))
    {
        return OperationOutcome::Replaced { by: uuid(&refusal.message), refusal };
    }
    if state == OperationState::Canceled {
        OperationOutcome::Canceled(refusal)
    } else {
        OperationOutcome::Failed(refusal)
    }
}

/// Returns the first UUID in a text that is not all zeros.
fn uuid(text: &str) -> Option<String> {
    let words = text.split(|character: char| !character.is_ascii_hexdigit() && character != '-');
    words
        .filter(|word| {
            let lengths: Vec<usize> = word.split('-').map(str::len).collect();
            lengths == [8, 4, 4, 4, 12] && word.bytes().any(|byte| byte != b'0' && byte != b'-')
        })
        .map(str::to_ascii_lowercase)
        .next()
}
