//! Whether a run may begin.

use jiff::Timestamp;
use thiserror::Error;

use crate::guards::Guard;
use crate::journal::{Entry, JournalError, Owner, Record, breaker, follow, summaries};
use crate::machine::{Phase, State};
use crate::plan::Plan;
use crate::settings::{RECREATIONS, Settings};

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
        "{approved} was approved and the plan of now is {current}: the world changed since, or the hash is not whole"
    )]
    PlanChanged {
        /// What was approved.
        approved: String,
        /// What it is.
        current: String,
    },
    /// A check of the plan says that it cannot succeed.
    #[error("{0}")]
    Hopeless(String),
    /// Guards do not let it through.
    #[error("refused by {}", .0.join(", "))]
    Refused(Vec<String>),
}

/// The first record of a run, if there may be one.
///
/// `approved` is the hash that a person or a pipeline gave; none if the pool's name was typed instead. A guard
/// that is merely unknown because the cluster is Canceling is left to the run, which waits for it.
#[expect(clippy::too_many_arguments, reason = "each is a fact of its own, read by the caller")]
pub fn begin(
    records: &[Record],
    plan: &Plan,
    approved: Option<&str>,
    guards: &[Guard],
    settings: &Settings,
    owner: Owner,
    run: &str,
    now: Timestamp,
) -> Result<Record, BeginError> {
    if let Some(state) = State::replay(records)?
        && !matches!(state.phase, Phase::Finished(_))
    {
        return Err(BeginError::Unfinished(state.run));
    }
    if let Some(why) = breaker(&summaries(records), &settings.target.pool, now)
        && !settings.overrides.contains_key(RECREATIONS)
    {
        return Err(BeginError::TooOften(why));
    }
    if let Some(approved) = approved
        && approved != plan.hash
    {
        let current = plan.hash.clone();
        return Err(BeginError::PlanChanged {
            approved: mooring_contract::shown(approved),
            current,
        });
    }
    may_begin(plan, guards, settings)?;
    let adopts = adopted(records, plan)?;
    let entry = Entry::RunStarted {
        cluster: plan.cluster.clone(),
        plan_hash: plan.hash.clone(),
        pool_hash: plan.pool_hash.clone(),
        settings: Box::new(settings.clone()),
        owner,
        adopts,
    };
    Ok(follow(records.last(), run, now, entry))
}

/// The run whose temporary pool is taken over: one of this journal that is over, or there is no beginning.
fn adopted(records: &[Record], plan: &Plan) -> Result<Option<String>, BeginError> {
    let Some(left) = &plan.stand_in else { return Ok(None) };
    let is_over = summaries(records)
        .iter()
        .any(|summary| summary.finish.is_some() && left.run.as_deref() == Some(&summary.run));
    if is_over {
        return Ok(left.run.clone());
    }
    Err(BeginError::Hopeless(format!("name: {}", left.and_now())))
}

/// What guards and checks say, whatever the journal does: nobody need be asked for what is refused anyway.
pub fn may_begin(plan: &Plan, guards: &[Guard], settings: &Settings) -> Result<(), BeginError> {
    let refusing: Vec<String> = guards
        .iter()
        .filter(|guard| !guard.lets_through() && !guard.transient)
        .map(|guard| guard.name.clone())
        .collect();
    if !refusing.is_empty() {
        return Err(BeginError::Refused(refusing));
    }
    let hopeless: Vec<String> = plan
        .prechecks
        .iter()
        .filter(|check| check.forbids() && !settings.overrides.contains_key(check.name))
        .map(|check| format!("{}: {}", check.name, check.detail))
        .collect();
    if !hopeless.is_empty() {
        return Err(BeginError::Hopeless(hopeless.join(" | ")));
    }
    Ok(())
}
