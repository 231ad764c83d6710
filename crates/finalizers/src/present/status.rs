//! The result of a command.

use mooring_workflow::{Finish, Phase};
use serde::Serialize;

use crate::removal::workflow::{Run, acted};

/// Result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemovalVerdict {
    Clean,
    Acted,
    Leftovers,
    /// No run was started.
    Refused,
    /// `resume` continues the run.
    Interrupted,
}

impl RemovalVerdict {
    pub fn of(run: &Run) -> Self {
        match run.phase {
            Phase::Finished(Finish::Partial) => Self::Leftovers,
            Phase::Finished(_) if acted(run) => Self::Acted,
            Phase::Finished(_) => Self::Clean,
            Phase::Running | Phase::Aborting => Self::Interrupted,
        }
    }
}
