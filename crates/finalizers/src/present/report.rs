//! The report of a run, from its journal alone: `status` prints the same on any host.

use jiff::Timestamp;
use serde::Serialize;

use crate::removal::step::Step;
use crate::removal::workflow::{FinalizerRemoval, Finish, Leftover, Record, RemovalRun as _};
use mooring_workflow::Phase;
use mooring_workflow::journal::JournalError;
use mooring_workflow::report::{RunHistory, StepReport};
use mooring_workflow::status::{Describe as _, EffectStatus};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemovalVerdict {
    Clean,
    Acted,
    Leftovers,
    /// No run was started; `stopped` has the reason.
    Refused,
    /// `resume` continues the run.
    Interrupted,
}

/// Status and history of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// `mooring.finalizers/v1`
    pub schema: &'static str,
    pub result: RemovalVerdict,
    pub profile: String,
    /// Empty if no run was started.
    pub run: String,
    pub plan_hash: String,
    pub started: Option<Timestamp>,
    /// Time of the last record.
    pub last: Option<Timestamp>,
    pub steps: Vec<StepReport<Step>>,
    /// Changes in order, including failed ones.
    pub effects: Vec<EffectReport>,
    /// Remaining objects, with reasons.
    pub left: Vec<Leftover>,
    pub stopped: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectReport {
    pub at: Timestamp,
    pub what: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Reason of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl RunReport {
    /// Reports a command that started no run.
    #[must_use]
    pub fn without_run(
        profile: &str,
        plan_hash: &str,
        result: RemovalVerdict,
        why: Option<String>,
    ) -> Self {
        Self {
            schema: "mooring.finalizers/v1",
            result,
            profile: profile.to_owned(),
            run: String::new(),
            plan_hash: plan_hash.to_owned(),
            started: None,
            last: None,
            steps: Vec::new(),
            effects: Vec::new(),
            left: Vec::new(),
            stopped: why,
        }
    }

    /// Reports the last run of a journal.
    pub fn of(records: &[Record]) -> Result<Option<Self>, JournalError> {
        let Some(history) = RunHistory::read(records)? else { return Ok(None) };
        let run = &history.run;
        let result = match run.phase {
            Phase::Finished(Finish::Leftovers) => RemovalVerdict::Leftovers,
            Phase::Finished(Finish::Clean) if run.acted() => RemovalVerdict::Acted,
            Phase::Finished(Finish::Clean) => RemovalVerdict::Clean,
            Phase::Running | Phase::Aborting => RemovalVerdict::Interrupted,
        };
        let session = &run.session;
        let effects = history.effects.iter().map(|(at, effect, result)| {
            let EffectStatus { what, removed, error, .. } =
                FinalizerRemoval::effect(effect, result.as_ref());
            EffectReport { at: *at, what, removed, refused: error }
        });
        Ok(Some(Self {
            run: run.id.clone(),
            started: Some(run.started),
            last: Some(history.last),
            steps: history.steps,
            effects: effects.collect(),
            left: run.left.clone(),
            ..Self::without_run(&session.profile.name, &session.token(), result, history.stopped)
        }))
    }
}
