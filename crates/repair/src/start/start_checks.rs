//! Conditions to start a run.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::checks;
use crate::names::{POOL_NAME, RECREATIONS, pointer};
use crate::plan::Plan;
use crate::settings::{BREAKER_PERIOD, MAX_RECREATIONS, Settings};
use crate::temporary_pool::TemporaryPool;
use crate::workflow::{Run, Runs, Session};
use mooring_workflow::CheckResult;
use mooring_workflow::approval::{Approval, PlanHash};
use thiserror::Error;

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

/// Returns a new run, if it may start.
///
/// A check that is unknown because the cluster is Canceling does not block: the run waits for it.
pub fn begin(
    runs: &Runs,
    plan: &Plan,
    checks: &[CheckResult],
    settings: &Settings,
    approval: Approval,
    run: &str,
    now: Timestamp,
) -> Result<Run, StartError> {
    if let Some(unfinished) = runs.last.as_ref().filter(|run| !run.is_finished()) {
        return Err(StartError::Unfinished(unfinished.id.clone()));
    }
    check_new_plan(runs, plan, checks, settings, &approval, now)?;
    let session = Session::new(plan.document.clone(), BTreeMap::new(), approval, settings);
    Ok(Run::begin(run, session, now))
}

/// Ensures that a new plan is approved, not expired, not repeated too often, and not blocked by a check.
pub(crate) fn check_new_plan(
    runs: &Runs,
    plan: &Plan,
    checks: &[CheckResult],
    settings: &Settings,
    approval: &Approval,
    now: Timestamp,
) -> Result<(), StartError> {
    if let Some(why) = breaker(runs, &settings.target.pool, now)
        && !settings.overrides.contains_key(RECREATIONS)
    {
        return Err(StartError::TooOften(why));
    }
    let approved = match approval {
        Approval::Token(token) => Some(&token.hash),
        Approval::Typed(hash) | Approval::Pipeline(hash) => Some(hash),
        Approval::Anchored(_) | Approval::Rollback | Approval::None => None,
    };
    ensure_approved(plan, approved.ok_or(ResumeError::NotVerified)?, now)?;
    may_begin(plan, checks, settings)?;
    check_adopted(runs, plan, &pointer(&settings.journal, &settings.target.pool))
}

/// Ensures that this is the plan that was approved, and that it was not too long ago.
pub fn ensure_approved(plan: &Plan, approved: &PlanHash, now: Timestamp) -> Result<(), StartError> {
    let token = plan.document.token();
    if token.is_expired(now) {
        return Err(StartError::Expired(token.expires));
    }
    if *approved == token.hash {
        return Ok(());
    }
    Err(StartError::PlanChanged { approved: approved.clone(), current: token.hash })
}

/// Ensures that the adopted temporary pool belongs to a finished run of this journal.
fn check_adopted(runs: &Runs, plan: &Plan, journal: &str) -> Result<(), StartError> {
    let Some(left) = &plan.left_temporary_pool else { return Ok(()) };
    if runs.finished().any(|run| left.run.as_deref() == Some(&run.id)) {
        return Ok(());
    }
    let lost = lost_run(runs, left, journal);
    Err(StartError::Blocked(format!("{POOL_NAME}: {}", lost.unwrap_or_else(|| left.remediation()))))
}

/// Evaluates the checks without the journal, so that a blocked run needs no confirmation.
pub fn may_begin(
    plan: &Plan,
    checks: &[CheckResult],
    settings: &Settings,
) -> Result<(), StartError> {
    let failed: Vec<String> = checks
        .iter()
        .filter(|check| !check.allows_run() && !check.transient)
        .map(|check| format!("{}: {}", check.name, check.detail()))
        .collect();
    if !failed.is_empty() {
        return Err(StartError::Refused(failed));
    }
    let blocking: Vec<String> = plan
        .checks
        .iter()
        .filter(|check| checks::blocks(check) && !settings.overrides.contains_key(&check.name))
        .map(|check| format!("{}: {}", check.name, check.detail()))
        .collect();
    if !blocking.is_empty() {
        return Err(StartError::Blocked(blocking.join(" | ")));
    }
    Ok(())
}

/// Returns the remediation if the temporary pool names this journal, which does not have its run: an older copy was
/// restored, or the journal was deleted.
pub fn lost_run(runs: &Runs, left: &TemporaryPool, journal: &str) -> Option<String> {
    let known = left.run.as_ref().is_some_and(|run| runs.knows(run));
    if known || left.journal.as_deref() != Some(journal) {
        return None;
    }
    let snapshot = match &runs.last {
        Some(run) => format!(
            "the latest snapshot of pool {} in this journal is that of run {} ({:.0}): `mooring repair status -o json` \
             prints it as `plan.poolBody`",
            run.session.plan.pool, run.id, run.last
        ),
        None => "this journal has no snapshot of the pool".to_owned(),
    };
    Some(format!(
        "{left}, but this journal does not contain that run: it is an older copy, or was deleted. Restore the newer copy \
         and run `resume`. Without one: if the pool still exists, drain and delete pool {}, then run `apply`; if the pool \
         was deleted, create it again first. {snapshot}",
        left.pool
    ))
}

/// Returns the reason why a pool must not be recreated again: a recurring fault is not fixed by a third rebuild.
pub fn breaker(runs: &Runs, pool: &str, now: Timestamp) -> Option<String> {
    let recent = runs
        .finished()
        .filter_map(|run| run.deleted)
        .filter(|deleted| now.duration_since(*deleted) < BREAKER_PERIOD)
        .count();
    (recent >= MAX_RECREATIONS).then(|| {
        format!("pool {pool} was already recreated {recent} times in 24h; not trying again")
    })
}
