//! The history of a run, for reports.

use jiff::Timestamp;

use crate::engine::workflow::Workflow;
use crate::journal::{Entry, JournalError, Record, Run};
use crate::model::document::Session as _;
use crate::model::effect::EffectResult;

#[derive(Debug, Clone, PartialEq)]
pub struct StepReport<S> {
    pub step: S,
    pub at: Timestamp,
    pub evidence: Vec<String>,
}

/// The last run of a journal.
pub struct RunHistory<W: Workflow> {
    pub run: Run<W>,
    pub last: Timestamp,
    pub steps: Vec<StepReport<W::Step>>,
    /// All attempts in order, each with its result.
    pub effects: Vec<(Timestamp, W::Effect, Option<EffectResult>)>,
    pub stopped: Option<String>,
}

impl<W: Workflow> RunHistory<W> {
    /// Reads the last run; none if the journal has no run.
    pub fn read(records: &[Record<Entry<W>>]) -> Result<Option<Self>, JournalError> {
        let Some(run) = Run::replay(records)? else { return Ok(None) };
        let mut history =
            Self { last: run.started, run, steps: Vec::new(), effects: Vec::new(), stopped: None };
        let mut session: Option<&W::Session> = None;
        for record in records.iter().filter(|record| record.run == history.run.id) {
            history.last = record.at;
            match &record.entry {
                Entry::StepDone { step, evidence } => {
                    let (step, evidence) = (*step, evidence.clone());
                    history.steps.push(StepReport { step, at: record.at, evidence });
                }
                Entry::Intent { effect, .. } => {
                    history.effects.push((record.at, (**effect).clone(), None));
                }
                Entry::Outcome { result, .. } => {
                    if let Some((_, _, last)) = history.effects.last_mut() {
                        *last = Some(result.clone());
                    }
                }
                Entry::Stopped { message, .. } => history.stopped = Some(message.clone()),
                Entry::RunStarted(next) | Entry::Resumed(next) | Entry::AbortStarted(next) => {
                    history.stopped = None;
                    // Its steps run again.
                    if session.is_some_and(|earlier| !next.continues(earlier)) {
                        history.steps.clear();
                    }
                    session = Some(next);
                }
                Entry::Finished { .. } | Entry::Fact(_) => {}
            }
        }
        Ok(Some(history))
    }
}
