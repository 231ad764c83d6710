//! Why a run may not begin or continue. Nothing was changed.

use jiff::Timestamp;
use mooring_workflow::approval::PlanHash;
use mooring_workflow::journal::JournalError;
use thiserror::Error;

use crate::temporary_pool::TemporaryPool;

/// Why a run may not begin. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BeginError {
    /// The journal cannot be trusted.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An earlier run is not over.
    #[error("run {0} is not over; `resume` continues it, `abort` undoes it")]
    Unfinished(String),
    /// The pool was rebuilt too often.
    #[error("{0}")]
    TooOften(String),
    /// The approved plan is not the plan of now.
    #[error(
        "the approved plan is {approved}, and the plan of now is {current}: something changed since it was approved"
    )]
    PlanChanged { approved: PlanHash, current: PlanHash },
    /// The approval is too old, or of no plan that can be made now.
    #[error("the approval expired at {0}")]
    Expired(Timestamp),
    /// Nothing approves that the run is continued.
    #[error(transparent)]
    NotResumed(#[from] ResumeError),
    /// A check of the plan says that it cannot succeed.
    #[error("{0}")]
    Hopeless(String),
    /// Guards do not let it through.
    #[error("refused by {}", .0.join(", "))]
    Refused(Vec<String>),
}

/// Why a run may not be continued. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ResumeError {
    /// Neither this command line nor Azure vouches for the journal's plan.
    #[error("nothing vouches for the plan in the journal: no temporary pool carries its approval")]
    NotVerified,
    /// The journal's plan is not the one that was approved when the temporary pool was made.
    #[error("the plan in the journal is not the approved one: {0} with another approval")]
    Contradicted(TemporaryPool),
    /// Another version made the plan.
    #[error("the plan was made by Mooring {0}; this is {version}", version = VERSION)]
    OtherVersion(String),
    #[error("the approval of this run ended at {0}")]
    TooLate(Timestamp),
    /// The command line lacks or changes what the plan has.
    #[error("this command line does not repeat what the run was begun with: {}", .0.join(", "))]
    NotRepeated(Vec<String>),
    /// A plan that was made just now is needed, and there is none.
    #[error("no new plan could be made")]
    NoPlan,
    /// The hash is of neither plan.
    #[error("the hash is neither of the plan in the journal nor of a plan of now")]
    OtherPlan,
}

/// The version that a plan must have been made by to be continued unattended.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
