//! Whether a run may begin or go on.

use jiff::Timestamp;
use mooring_workflow::approval::{Approval, PlanHash};
use mooring_workflow::journal::{JournalError, follow};
use mooring_workflow::lock::Owner;
use mooring_workflow::{CheckResult, Outcome};
use thiserror::Error;

use crate::plan::Plan;
use crate::profile::Profile;
use crate::workflow::{Entry, Record, Run, Session};

/// Why a run may not begin. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BeginError {
    /// The journal cannot be trusted.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// An earlier run is not over.
    #[error("run {0} is not over; `resume` continues it")]
    Unfinished(String),
    /// The journal's run is about something else.
    #[error(
        "run {run} in the journal has another profile than the command line: it removes {was}, not {wanted}"
    )]
    OtherProfile { run: String, was: String, wanted: String },
    /// The journal's run was in another cluster.
    #[error("run {0} in the journal belongs to another cluster")]
    OtherCluster(String),
    /// The approved plan is not the plan of now.
    #[error("the plan changed since it was approved: approved {approved}, now {current}")]
    PlanChanged { approved: PlanHash, current: PlanHash },
    /// Nothing approves the plan.
    #[error("nothing approves the plan")]
    NotApproved,
    /// The approval's time has passed.
    #[error("the approval expired at {0:.0}")]
    Expired(Timestamp),
    /// A guard says no.
    #[error("refused by {name}: {why}")]
    Refused { name: String, why: String },
    /// A guard cannot tell.
    #[error("{name} is unknown: {why}")]
    Unknown { name: String, why: String },
}

/// The first guard that does not let a run begin.
fn refusal(guards: &[CheckResult]) -> Option<BeginError> {
    let guard = guards.iter().find(|guard| !guard.allows_run())?;
    let (name, why) = (guard.name.clone(), guard.evidence.join("; "));
    Some(match guard.outcome {
        Outcome::Unknown => BeginError::Unknown { name, why },
        _ => BeginError::Refused { name, why },
    })
}

/// Checks that this approval is one for this plan, and that the plan may be carried out.
fn approve(plan: &Plan, approval: &Approval, now: Timestamp) -> Result<(), BeginError> {
    let approved = match approval {
        // An unfinished run is only written to its end.
        Approval::None if plan.nothing_to_do && plan.targets.is_empty() => return Ok(()),
        Approval::Token(token) => Some(&token.hash),
        // `--best-effort` approves what it planned itself.
        Approval::Typed(hash) | Approval::Pipeline(hash) => Some(hash),
        Approval::Anchored(_) | Approval::Rollback | Approval::None => None,
    };
    let token_differs = matches!(approval, Approval::Token(token) if *token != plan.approval);
    match approved {
        Some(approved) if *approved == plan.hash && !token_differs => {}
        Some(approved) => {
            let (approved, current) = (approved.clone(), plan.hash.clone());
            return Err(BeginError::PlanChanged { approved, current });
        }
        None => return Err(BeginError::NotApproved),
    }
    // Also for a name that was typed after the plan had been on the screen for hours.
    if plan.approval.is_expired(now) {
        return Err(BeginError::Expired(plan.approval.expires));
    }
    refusal(&plan.guards).map_or(Ok(()), Err)
}

/// Whether a journal's unfinished run is one of this profile and cluster. The journal says so itself, which proves nothing;
/// what it says is compared with the command line, and never used in its place.
pub(super) fn compare(state: &Run, plan: &Plan) -> Result<(), BeginError> {
    compare_profile(state, &plan.profile)?;
    // An identity that could not be read is refused by its check.
    if !plan.cluster.is_empty() && state.session.cluster != plan.cluster {
        return Err(BeginError::OtherCluster(mooring_redact::identifier(&state.id)));
    }
    Ok(())
}

/// The same for the profile alone.
pub(super) fn compare_profile(state: &Run, wanted: &Profile) -> Result<(), BeginError> {
    if *state.session.profile == *wanted {
        return Ok(());
    }
    let name = |profile: &Profile| {
        mooring_redact::identifier(&format!("{} ({})", profile.name, profile.groups.join(", ")))
    };
    let (was, wanted) = (name(&state.session.profile), name(wanted));
    Err(BeginError::OtherProfile { run: mooring_redact::identifier(&state.id), was, wanted })
}

/// The first record of a run, if there may be one.
pub(super) fn begin(
    records: &[Record],
    plan: &Plan,
    approval: &Approval,
    owner: Owner,
    run: &str,
    now: Timestamp,
) -> Result<Record, BeginError> {
    if let Some(state) = Run::replay(records)?
        && !state.is_finished()
    {
        compare(&state, plan)?;
        return Err(BeginError::Unfinished(state.id));
    }
    let session = session(plan, approval, owner, now)?;
    Ok(follow(records.last(), run, now, Entry::RunStarted(session)))
}

/// The record with which an unfinished run goes on, if it may.
pub(super) fn resume(
    records: &[Record],
    state: &Run,
    plan: &Plan,
    approval: &Approval,
    owner: Owner,
    now: Timestamp,
) -> Result<Record, BeginError> {
    compare(state, plan)?;
    let session = session(plan, approval, owner, now)?;
    Ok(follow(records.last(), &state.id, now, Entry::Resumed(session)))
}

fn session(
    plan: &Plan,
    approval: &Approval,
    owner: Owner,
    now: Timestamp,
) -> Result<Box<Session>, BeginError> {
    approve(plan, approval, now)?;
    Ok(Box::new(Session {
        plan_hash: plan.hash.clone(),
        approval: approval.clone(),
        cluster: plan.cluster.clone(),
        profile: Box::new(plan.profile.clone()),
        owner,
    }))
}
