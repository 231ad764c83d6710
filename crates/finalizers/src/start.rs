//! Conditions to start or continue a run.

use jiff::Timestamp;
use mooring_workflow::Outcome;
use mooring_workflow::approval::{Approval, PlanHash};
use mooring_workflow::journal::JournalError;
use thiserror::Error;

use crate::plan::Plan;
use crate::profile::Profile;
use crate::workflow::Run;

/// A run may not start. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StartError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("run {0} is unfinished; `resume` continues it")]
    Unfinished(String),
    #[error(
        "run {run} in the journal has another profile than the command line: it removes {was}, not {wanted}"
    )]
    OtherProfile { run: String, was: String, wanted: String },
    #[error("run {0} in the journal belongs to another cluster")]
    OtherCluster(String),
    #[error("plan changed: approved {approved}, current {current}")]
    PlanChanged { approved: PlanHash, current: PlanHash },
    #[error("the plan is not approved")]
    NotApproved,
    #[error("the approval expired at {0:.0}")]
    Expired(Timestamp),
    #[error("blocked by {name}: {why}")]
    Refused { name: String, why: String },
    #[error("{name} is unknown: {why}")]
    Unknown { name: String, why: String },
}

/// Ensures that the approval is for this plan, and that no check blocks it.
pub(crate) fn approve(plan: &Plan, approval: &Approval, now: Timestamp) -> Result<(), StartError> {
    let approved = match approval {
        // An unfinished run is only marked as finished.
        Approval::None if plan.nothing_to_do && plan.targets.is_empty() => return Ok(()),
        Approval::Token(token) => Some(&token.hash),
        // `--best-effort` approves its own plan.
        Approval::Typed(hash) | Approval::Pipeline(hash) => Some(hash),
        Approval::Anchored(_) | Approval::Rollback | Approval::None => None,
    };
    let token_differs = matches!(approval, Approval::Token(token) if *token != plan.approval);
    match approved {
        Some(approved) if *approved == plan.approval.hash && !token_differs => {}
        Some(approved) => {
            let (approved, current) = (approved.clone(), plan.approval.hash.clone());
            return Err(StartError::PlanChanged { approved, current });
        }
        None => return Err(StartError::NotApproved),
    }
    // Also if the name was typed long after the plan was printed.
    if plan.approval.is_expired(now) {
        return Err(StartError::Expired(plan.approval.expires));
    }
    let Some(check) = plan.blocking() else { return Ok(()) };
    let (name, why) = (check.name.clone(), check.detail());
    Err(match check.outcome {
        Outcome::Unknown => StartError::Unknown { name, why },
        _ => StartError::Refused { name, why },
    })
}

/// Ensures that the unfinished run has this profile and cluster. The journal is only compared with the command line, never
/// used in its place.
pub(crate) fn compare(state: &Run, plan: &Plan) -> Result<(), StartError> {
    compare_profile(state, &plan.profile)?;
    // The check `cluster-identity` blocks if it could not be read.
    if !plan.cluster.is_empty() && state.session.cluster != plan.cluster {
        return Err(StartError::OtherCluster(mooring_redact::identifier(&state.id)));
    }
    Ok(())
}

pub(crate) fn compare_profile(state: &Run, wanted: &Profile) -> Result<(), StartError> {
    if *state.session.profile == *wanted {
        return Ok(());
    }
    let name = |profile: &Profile| {
        mooring_redact::identifier(&format!("{} ({})", profile.name, profile.groups.join(", ")))
    };
    let (was, wanted) = (name(&state.session.profile), name(wanted));
    Err(StartError::OtherProfile { run: mooring_redact::identifier(&state.id), was, wanted })
}
