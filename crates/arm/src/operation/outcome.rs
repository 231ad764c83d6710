//! Results of a write: immediate, of a poll, and final.

use super::running_write::Operation;
use serde_json::Value;

use crate::error::AzureError;

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
