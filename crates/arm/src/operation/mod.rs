//! Writes that go on in Azure after the answer, as values.
//!
//! An [`Operation`] holds all that is needed to follow a write to its end. It can be written down, read by
//! another process on another machine, and followed there. It holds paths, never a host: what is read from a record
//! is checked as every other target ([`ArmPath`]), and [`Operation::is_under`] tells whether it is on the
//! subscription that the record is about.

mod follow;
mod start;
mod state;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::path::ArmPath;
use crate::raw::Document;

/// A write that goes on.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    pub(crate) kind: Kind,
    pub(crate) monitor: Monitor,
    /// The resource it is about: path and api-version.
    pub(crate) resource: ArmPath,
    /// Where an action's result is fetched after success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<ArmPath>,
    pub(crate) started: Timestamp,
    /// Not to be asked before this.
    pub(crate) next: Timestamp,
    /// How often in a row Azure did not know the operation.
    #[serde(default)]
    pub(crate) missing: u8,
    /// Under which id Azure's logs tell the write.
    pub(crate) correlation_id: String,
}

impl Operation {
    pub fn started(&self) -> Timestamp {
        self.started
    }

    /// When Azure wants to be asked next.
    pub fn next(&self) -> Timestamp {
        self.next
    }

    /// Under which id Azure's logs tell the write.
    pub fn correlation_id(&self) -> &str {
        &self.correlation_id
    }

    /// The path of the resource it is about.
    pub fn resource(&self) -> &str {
        self.resource.path()
    }

    /// True if all that is read to follow it is below this subscription. A record that is not must not be followed.
    pub fn is_under(&self, subscription: &str) -> bool {
        let monitor = match &self.monitor {
            Monitor::Status(path) | Monitor::Location(path) => Some(path),
            Monitor::Resource => None,
        };
        let mut paths = monitor.into_iter().chain([&self.resource]).chain(&self.result);
        paths.all(|path| path.is_under(subscription))
    }
}

/// Without queries, which sign.
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

/// What kind of write an operation comes from; it decides what the end looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// PUT or PATCH: at its end the resource is read once more.
    Write,
    /// At its end the resource is gone.
    Delete,
    /// Abort: at its end the resource has stopped canceling.
    Abort,
    /// POST with a result of its own.
    Action,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Monitor {
    /// A resource with `status` (`Azure-AsyncOperation`, `Operation-Location`).
    Status(ArmPath),
    /// 202 while it goes on (`Location`).
    Location(ArmPath),
    /// The resource's own `provisioningState`.
    Resource,
}

/// What a write came to at once.
#[derive(Debug)]
pub enum Started {
    /// It is over already.
    Done(Outcome),
    Running(Operation),
}

#[derive(Debug)]
pub enum Progress {
    /// It goes on: the state's word and percent, as far as told.
    Running {
        /// `InProgress`, `Creating` and so on.
        state: String,
        percent: Option<u8>,
    },
    Done(Outcome),
}

#[derive(Debug)]
pub enum Outcome {
    /// Well. With the resource after a PUT or PATCH, or an action's result, if there is one.
    Succeeded(Option<Document>),
    Failed(Refusal),
    Canceled(Refusal),
    /// Stopped because a later operation took its place.
    Replaced {
        /// The later one's id, if told.
        by: Option<String>,
        refusal: Refusal,
    },
    /// Azure knows nothing of it any more, and the resource's state (if there is one) does not tell.
    Lost {
        state: Option<String>,
    },
}

impl Outcome {
    /// True if it ended well.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Succeeded(_))
    }
}

#[cfg(test)]
mod tests;
