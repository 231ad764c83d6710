//! Whether a run may begin.

use jiff::Timestamp;
use thiserror::Error;

use crate::finalizers::entry::Entry;
use crate::finalizers::plan::Plan;
use crate::finalizers::settings::Settings;
use crate::finalizers::state::State;
use crate::guards::{Guard, Outcome};
use crate::journal::{JournalError, Owner, Record, follow};

/// Why a run may not begin. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BeginError {
    /// The journal cannot be trusted.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An earlier run is not over.
    #[error("run {0} is not over; `resume` continues it")]
    Unfinished(String),
    /// The approved plan is not the plan of now.
    #[error("the cluster changed since the plan was made: it was {approved}, it is {current} now")]
    PlanChanged {
        /// What was approved.
        approved: String,
        /// What it is.
        current: String,
    },
    /// A guard says no.
    #[error("refused by {name}: {why}")]
    Refused {
        /// The guard.
        name: String,
        /// What it says.
        why: String,
    },
    /// A guard cannot tell.
    #[error("{name} cannot be told: {why}")]
    Unknown {
        /// The guard.
        name: String,
        /// Why not.
        why: String,
    },
}

/// The first guard that does not let a run begin.
pub(super) fn refusal(guards: &[Guard]) -> Option<BeginError> {
    let guard = guards.iter().find(|guard| !guard.lets_through())?;
    let (name, why) = (guard.name.clone(), guard.evidence.join("; "));
    Some(match guard.outcome {
        Outcome::Unknown => BeginError::Unknown { name, why },
        _ => BeginError::Refused { name, why },
    })
}

/// The first record of a run, if there may be one. `approved` is the hash that was approved; none if a person typed the
/// profile's name to the very plan.
pub(super) fn begin(
    records: &[Record<Entry>],
    plan: &Plan,
    approved: Option<&str>,
    settings: &Settings,
    owner: Owner,
    run: &str,
    now: Timestamp,
) -> Result<Record<Entry>, BeginError> {
    if let Some(state) = State::replay(records)?
        && state.finished.is_none()
    {
        return Err(BeginError::Unfinished(state.run));
    }
    if let Some(approved) = approved.filter(|approved| *approved != plan.hash) {
        let approved = mooring_contract::shown(approved);
        return Err(BeginError::PlanChanged { approved, current: plan.hash.clone() });
    }
    if let Some(error) = refusal(&plan.guards) {
        return Err(error);
    }
    let entry = Entry::RunStarted {
        plan_hash: plan.hash.clone(),
        settings: Box::new(settings.clone()),
        owner,
    };
    Ok(follow(records.last(), run, now, entry))
}
