//! Whether a run may begin.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::checks::{self, POOL_NAME, RECREATIONS};
use crate::history::{breaker, summaries};
use crate::plan::Plan;
pub use crate::refusal::BeginError;
use crate::refusal::ResumeError;
use crate::settings::{Settings, pointer};
use crate::temporary_pool::TemporaryPool;
use crate::workflow::Run;
use crate::workflow::{Entry, Record, Session};
use mooring_workflow::CheckResult;
use mooring_workflow::approval::Approval;
use mooring_workflow::journal::follow;
use mooring_workflow::lock::Owner;

/// The first record of a run, if there may be one.
///
/// A guard that is merely unknown because the cluster is Canceling is left to the run, which waits for it.
pub fn begin(
    records: &[Record],
    plan: &Plan,
    guards: &[CheckResult],
    settings: &Settings,
    start: Start,
    run: &str,
    now: Timestamp,
) -> Result<Record, BeginError> {
    if let Some(state) = Run::replay(records)?
        && !state.is_finished()
    {
        return Err(BeginError::Unfinished(state.id));
    }
    check_new_plan(records, plan, guards, settings, &start.approval, now)?;
    let session = Session {
        plan: Arc::clone(&plan.document),
        overrides: BTreeMap::new(),
        approval: start.approval,
        owner: start.owner,
        journal: settings.journal.clone(),
        overall: settings.limits.overall,
        poll: settings.limits.poll,
    };
    Ok(follow(records.last(), run, now, Entry::RunStarted(Box::new(session))))
}

/// Who begins a run, and on what authority.
pub struct Start {
    pub owner: Owner,
    /// Its approval of the plan.
    pub approval: Approval,
}

/// Whether a plan that was just made may be executed: approved, in time, not too often, and with every check that it
/// needs.
pub(crate) fn check_new_plan(
    records: &[Record],
    plan: &Plan,
    guards: &[CheckResult],
    settings: &Settings,
    approval: &Approval,
    now: Timestamp,
) -> Result<(), BeginError> {
    if let Some(why) = breaker(&summaries(records), &settings.target.pool, now)
        && !settings.overrides.contains_key(RECREATIONS)
    {
        return Err(BeginError::TooOften(why));
    }
    let token = plan.document.token();
    if token.is_expired(now) {
        return Err(BeginError::Expired(token.expires));
    }
    let approved = match approval {
        Approval::Token(token) => Some(&token.hash),
        Approval::Typed(hash) | Approval::Pipeline(hash) => Some(hash),
        Approval::Anchored(_) | Approval::Rollback | Approval::None => None,
    };
    match approved {
        Some(approved) if *approved == token.hash => {}
        Some(approved) => {
            return Err(BeginError::PlanChanged {
                approved: approved.clone(),
                current: token.hash,
            });
        }
        None => return Err(ResumeError::NotVerified.into()),
    }
    may_begin(plan, guards, settings)?;
    adopted(records, plan, &pointer(&settings.journal, &settings.target.pool))
}

/// The run whose temporary pool is adopted is one of this journal that is over.
fn adopted(records: &[Record], plan: &Plan, journal: &str) -> Result<(), BeginError> {
    let Some(left) = &plan.left_temporary_pool else { return Ok(()) };
    let is_over = summaries(records)
        .iter()
        .any(|summary| summary.finish.is_some() && left.run.as_deref() == Some(&summary.run));
    if is_over {
        return Ok(());
    }
    let lost = lost_run(records, left, journal);
    Err(BeginError::Hopeless(format!(
        "{POOL_NAME}: {}",
        lost.unwrap_or_else(|| left.remediation())
    )))
}

/// What guards and checks say, whatever the journal does: nobody need be asked for what is refused anyway.
pub fn may_begin(
    plan: &Plan,
    guards: &[CheckResult],
    settings: &Settings,
) -> Result<(), BeginError> {
    let refusing: Vec<String> = guards
        .iter()
        .filter(|guard| !guard.allows_run() && !guard.transient)
        .map(|guard| guard.name.clone())
        .collect();
    if !refusing.is_empty() {
        return Err(BeginError::Refused(refusing));
    }
    let hopeless: Vec<String> = plan
        .prechecks
        .iter()
        .filter(|check| checks::blocks(check) && !settings.overrides.contains_key(&check.name))
        .map(|check| format!("{}: {}", check.name, check.detail()))
        .collect();
    if !hopeless.is_empty() {
        return Err(BeginError::Hopeless(hopeless.join(" | ")));
    }
    Ok(())
}

/// The way out where the temporary pool names this journal and the journal does not hold its run: an older copy was
/// restored, or the journal was deleted. None if the run is in another journal, or in this one.
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
            "the newest snapshot of pool {} in this journal is in record {} of run {} ({:.0}): `mooring repair status -o json` \
             prints it as `plan.poolBody`",
            session.plan.pool, record.seq, record.run, record.at
        ),
        None => "this journal holds no snapshot of the pool".to_owned(),
    };
    Some(format!(
        "{left}, but this journal does not hold that run: it is an older copy, or was deleted. Restore the newer copy \
         and run `resume`. Without one: if the pool still exists, drain and delete pool {}, then run `apply`; if the pool \
         is gone, create it again first. {snapshot}",
        left.pool
    ))
}
