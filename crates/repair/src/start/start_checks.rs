//! Conditions to start a run.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::errors::ResumeError;
pub use super::errors::StartError;
use super::history::breaker;
use crate::checks;
use crate::names::{POOL_NAME, RECREATIONS, pointer};
use crate::plan::Plan;
use crate::pool::temporary_pool::TemporaryPool;
use crate::settings::Settings;
use crate::workflow::{Run, Runs, Session};
use mooring_workflow::CheckResult;
use mooring_workflow::approval::{Approval, PlanHash};
use mooring_workflow::lock::LockOwner;

/// Returns a new run, if it may start.
///
/// A check that is unknown because the cluster is Canceling does not block: the run waits for it.
pub fn begin(
    runs: &Runs,
    plan: &Plan,
    checks: &[CheckResult],
    settings: &Settings,
    start: Start,
    run: &str,
    now: Timestamp,
) -> Result<Run, StartError> {
    if let Some(unfinished) = runs.last.as_ref().filter(|run| !run.is_finished()) {
        return Err(StartError::Unfinished(unfinished.id.clone()));
    }
    check_new_plan(runs, plan, checks, settings, &start.approval, now)?;
    let session = Session {
        plan: plan.document.clone(),
        overrides: BTreeMap::new(),
        approval: start.approval,
        owner: start.owner,
        journal: settings.journal.clone(),
        overall: settings.limits.overall,
        poll: settings.limits.poll,
    };
    Ok(Run::begin(run, session, now))
}

/// Owner and approval of a new run.
pub struct Start {
    pub owner: LockOwner,
    pub approval: Approval,
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
