//! A write that continues in Azure.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::path::ArmPath;

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
