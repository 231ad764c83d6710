//! Conditions to start a run.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::errors::ResumeError;
pub use super::errors::StartError;
use super::history::{breaker, summaries};
use crate::checks::{self, POOL_NAME, RECREATIONS};
use crate::names::pointer;
use crate::plan::Plan;
use crate::pool::temporary_pool::TemporaryPool;
use crate::settings::Settings;
use crate::workflow::{Entry, Record, Run, Session};
use mooring_workflow::CheckResult;
use mooring_workflow::approval::Approval;
use mooring_workflow::journal::follow;
use mooring_workflow::lock::LockOwner;

/// Returns the first record of a run, if it may start.
///
/// A check that is unknown because the cluster is Canceling does not block: the run waits for it.
pub fn begin(
    records: &[Record],
    plan: &Plan,
    checks: &[CheckResult],
    settings: &Settings,
    start: Start,
    run: &str,
    now: Timestamp,
) -> Result<Record, StartError> {
    if let Some(state) = Run::replay(records)?
        && !state.is_finished()
    {
        return Err(StartError::Unfinished(state.id));
    }
    check_new_plan(records, plan, checks, settings, &start.approval, now)?;
    let session = Session {
        plan: plan.document.clone(),
        overrides: BTreeMap::new(),
        approval: start.approval,
        owner: start.owner,
        journal: settings.journal.clone(),
        overall: settings.limits.overall,
        poll: settings.limits.poll,
    };
    Ok(follow(records.last(), run, now, Entry::RunStarted(Box::new(session))))
}

/// Owner and approval of a new run.
pub struct Start {
    pub owner: LockOwner,
    pub approval: Approval,
}

/// Ensures that a new plan is approved, not expired, not repeated too often, and not blocked by a check.
pub(crate) fn check_new_plan(
    records: &[Record],
    plan: &Plan,
    checks: &[CheckResult],
    settings: &Settings,
    approval: &Approval,
    now: Timestamp,
) -> Result<(), StartError> {
    if let Some(why) = breaker(&summaries(records), &settings.target.pool, now)
        && !settings.overrides.contains_key(RECREATIONS)
    {
        return Err(StartError::TooOften(why));
    }
    let token = plan.document.token();
    if token.is_expired(now) {
        return Err(StartError::Expired(token.expires));
    }
    let approved = match approval {
        Approval::Token(token) => Some(&token.hash),
        Approval::Typed(hash) | Approval::Pipeline(hash) => Some(hash),
        Approval::Anchored(_) | Approval::Rollback | Approval::None => None,
    };
    match approved {
        Some(approved) if *approved == token.hash => {}
        Some(approved) => {
            return Err(StartError::PlanChanged {
                approved: approved.clone(),
                current: token.hash,
            });
        }
        None => return Err(ResumeError::NotVerified.into()),
    }
    may_begin(plan, checks, settings)?;
    check_adopted(records, plan, &pointer(&settings.journal, &settings.target.pool))
}

/// Ensures that the adopted temporary pool belongs to a finished run of this journal.
fn check_adopted(records: &[Record], plan: &Plan, journal: &str) -> Result<(), StartError> {
    let Some(left) = &plan.left_temporary_pool else { return Ok(()) };
    let is_finished = summaries(records)
        .iter()
        .any(|summary| summary.finish.is_some() && left.run.as_deref() == Some(&summary.run));
    if is_finished {
        return Ok(());
    }
    let lost = lost_run(records, left, journal);
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
pub fn lost_run(records: &[Record], left: &TemporaryPool, journal: &str) -> Option<String> {
    let known = records.iter().any(|record| left.run.as_deref() == Some(record.run.as_str()));
    if known || left.journal.as_deref() != Some(journal) {
        return None;
    }
    let newest = records.iter().rev().find_map(|record| match &record.entry {
        Entry::RunStarted(session) | Entry::Resumed(session) => Some((record, session)),
        _ => None,
    });
    let snapshot = match newest {
        Some((record, session)) => format!(
            "the latest snapshot of pool {} in this journal is in record {} of run {} ({:.0}): `mooring repair status -o json` \
             prints it as `plan.poolBody`",
            session.plan.pool, record.seq, record.run, record.at
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
