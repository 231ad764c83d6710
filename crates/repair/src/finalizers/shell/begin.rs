//! Whether a run may begin or go on.

use jiff::Timestamp;
use thiserror::Error;

use crate::approval::{ApprovalToken, PlanHash};
use crate::finalizers::entry::{ApprovalKind, Entry};
use crate::finalizers::plan::Plan;
use crate::finalizers::profile::Profile;
use crate::finalizers::state::State;
use crate::guards::{Guard, Outcome};
use crate::journal::{JournalError, Owner, Record, follow};

/// What approves a plan that was made in this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// The token of the command line.
    Token(ApprovalToken),
    /// A name that was typed to this very plan.
    Typed,
    /// `--best-effort` approves what it planned itself.
    BestEffort,
    /// The plan has no targets: an unfinished run is only written to its end.
    NoTargets,
}

impl Approval {
    fn kind(&self) -> ApprovalKind {
        match self {
            Self::Token(_) => ApprovalKind::Token,
            Self::Typed => ApprovalKind::Typed,
            Self::BestEffort => ApprovalKind::BestEffort,
            Self::NoTargets => ApprovalKind::NoTargets,
        }
    }
}

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
    OtherProfile {
        /// The run.
        run: String,
        /// Its profile.
        was: String,
        /// The command line's.
        wanted: String,
    },
    /// The journal's run was in another cluster.
    #[error("run {0} in the journal belongs to another cluster")]
    OtherCluster(String),
    /// The approved plan is not the plan of now.
    #[error("the plan changed since it was approved: approved {approved}, now {current}")]
    PlanChanged {
        /// What was approved.
        approved: PlanHash,
        /// What it is.
        current: PlanHash,
    },
    /// The approval's time has passed.
    #[error("the approval expired at {0:.0}")]
    Expired(Timestamp),
    /// A guard says no.
    #[error("refused by {name}: {why}")]
    Refused {
        /// The guard.
        name: String,
        /// What it says.
        why: String,
    },
    /// A guard cannot tell.
    #[error("{name} is unknown: {why}")]
    Unknown {
        /// The guard.
        name: String,
        /// Why not.
        why: String,
    },
}

/// The first guard that does not let a run begin.
fn refusal(guards: &[Guard]) -> Option<BeginError> {
    let guard = guards.iter().find(|guard| !guard.lets_through())?;
    let (name, why) = (guard.name.clone(), guard.evidence.join("; "));
    Some(match guard.outcome {
        Outcome::Unknown => BeginError::Unknown { name, why },
        _ => BeginError::Refused { name, why },
    })
}

/// Whether this approval is one for this plan, and the plan one that may be carried out.
fn approve(plan: &Plan, approval: &Approval, now: Timestamp) -> Result<(), BeginError> {
    if *approval == Approval::NoTargets && plan.nothing_to_do && plan.targets.is_empty() {
        return Ok(());
    }
    if let Approval::Token(token) = approval
        && *token != plan.approval
    {
        let (approved, current) = (token.hash.clone(), plan.hash.clone());
        return Err(BeginError::PlanChanged { approved, current });
    }
    // Also for a name that was typed after the plan had been on the screen for hours.
    if plan.approval.is_expired(now) {
        return Err(BeginError::Expired(plan.approval.expires));
    }
    refusal(&plan.guards).map_or(Ok(()), Err)
}

/// Whether a journal's unfinished run is one of this profile and cluster. The journal says so itself, which proves nothing;
/// what it says is compared with the command line, and never used in its place.
pub(super) fn compare(state: &State, plan: &Plan) -> Result<(), BeginError> {
    compare_profile(state, &plan.profile)?;
    // An identity that could not be read is refused by its check.
    if !plan.cluster.is_empty() && state.cluster != plan.cluster {
        return Err(BeginError::OtherCluster(mooring_contract::shown(&state.run)));
    }
    Ok(())
}

/// The same for the profile alone.
pub(super) fn compare_profile(state: &State, wanted: &Profile) -> Result<(), BeginError> {
    if state.profile == *wanted {
        return Ok(());
    }
    let name = |profile: &Profile| {
        mooring_contract::shown(&format!("{} ({})", profile.name, profile.groups.join(", ")))
    };
    let (was, wanted) = (name(&state.profile), name(wanted));
    Err(BeginError::OtherProfile { run: mooring_contract::shown(&state.run), was, wanted })
}

/// The first record of a run, if there may be one.
pub(super) fn begin(
    records: &[Record<Entry>],
    plan: &Plan,
    approval: &Approval,
    owner: Owner,
    run: &str,
    now: Timestamp,
) -> Result<Record<Entry>, BeginError> {
    if let Some(state) = State::replay(records)?
        && state.finished.is_none()
    {
        compare(&state, plan)?;
        return Err(BeginError::Unfinished(state.run));
    }
    approve(plan, approval, now)?;
    let entry = Entry::RunStarted {
        plan_hash: plan.hash.clone(),
        approval: approval.kind(),
        cluster: plan.cluster.clone(),
        profile: Box::new(plan.profile.clone()),
        owner,
    };
    Ok(follow(records.last(), run, now, entry))
}

/// The record with which an unfinished run goes on, if it may.
pub(super) fn resume(
    records: &[Record<Entry>],
    state: &State,
    plan: &Plan,
    approval: &Approval,
    owner: Owner,
    now: Timestamp,
) -> Result<Record<Entry>, BeginError> {
    compare(state, plan)?;
    approve(plan, approval, now)?;
    let (plan_hash, approval) = (plan.hash.clone(), approval.kind());
    let entry = Entry::Resumed { plan_hash, approval, owner };
    Ok(follow(records.last(), &state.run, now, entry))
}
