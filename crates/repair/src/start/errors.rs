//! Errors of starting or continuing a run.

use jiff::Timestamp;
use mooring_workflow::approval::PlanHash;
use thiserror::Error;

use crate::pool::temporary_pool::TemporaryPool;

/// A run may not start. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StartError {
    #[error("run {0} is unfinished; `resume` continues it, `abort` rolls it back")]
    Unfinished(String),
    #[error("{0}")]
    TooOften(String),
    #[error("plan changed: approved {approved}, current {current}")]
    PlanChanged { approved: PlanHash, current: PlanHash },
    #[error("the approval expired at {0}")]
    Expired(Timestamp),
    #[error(transparent)]
    NotResumed(#[from] ResumeError),
    /// A check of the plan failed.
    #[error("{0}")]
    Blocked(String),
    /// Checks of the verdict failed; each with the reason.
    #[error("blocked by {}", .0.join(" | "))]
    Refused(Vec<String>),
}

/// A run may not be continued. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ResumeError {
    /// Neither this command line nor Azure approves the plan of the journal.
    #[error("the plan in the journal is not approved: no temporary pool has its approval")]
    NotVerified,
    /// The temporary pool was created for another plan.
    #[error("the plan in the journal is not the approved one: {0} with another approval")]
    Contradicted(TemporaryPool),
    #[error("the plan was created by Mooring {0}; this is {version}", version = VERSION)]
    OtherVersion(String),
    #[error("the approval of this run ended at {0}")]
    TooLate(Timestamp),
    #[error("flags differ from those that the run was started with: {}", .0.join(", "))]
    NotRepeated(Vec<String>),
    #[error("no new plan could be created")]
    NoPlan,
    #[error("the hash matches neither the plan in the journal nor the current plan")]
    OtherPlan,
}

/// Only plans of the same version are continued unattended.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
