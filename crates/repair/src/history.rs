//! Earlier runs: what was done, and whether it was done too often.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::effects::Effect;
use crate::plan::Step;
use crate::settings::{BREAKER_PERIOD, MAX_RECREATIONS};
use crate::workflow::{Entry, Finish, Record};
use mooring_workflow::Effect as _;
use mooring_workflow::EffectResult;

/// One run in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    pub run: String,
    pub pool: String,
    pub started: Timestamp,
    pub last: Timestamp,
    /// The last step that was reached.
    pub step: Option<Step>,
    /// When it last asked for the pool to be deleted and was not refused, if it did.
    pub deleted: Option<Timestamp>,
    /// How it ended; none if it can be resumed.
    pub finish: Option<Finish>,
    /// Guards and proofs that were overridden, with reasons.
    pub overrides: Vec<String>,
}

/// The runs of a journal, oldest first.
pub fn summaries(records: &[Record]) -> Vec<RunSummary> {
    let mut runs: Vec<RunSummary> = Vec::new();
    // The deletion before the last one that was tried, which counts again if that one was refused.
    let mut before = None;
    for record in records {
        if let Entry::RunStarted(session) = &record.entry {
            runs.push(RunSummary {
                run: record.run.clone(),
                pool: session.plan.pool.clone(),
                started: record.at,
                last: record.at,
                step: None,
                deleted: None,
                finish: None,
                overrides: Vec::new(),
            });
        }
        let Some(run) = runs.iter_mut().find(|run| run.run == record.run) else { continue };
        run.last = record.at;
        match &record.entry {
            Entry::Intent { step, effect, .. } => {
                run.step = Some(*step);
                if let Effect::DeletePool { pool, .. } = &**effect
                    && *pool == run.pool
                {
                    before = run.deleted.replace(record.at);
                }
            }
            Entry::Outcome { key, result: EffectResult::Refused { .. } }
                if *key == Effect::DeletePool { pool: run.pool.clone(), if_match: None }.key() =>
            {
                run.deleted = before;
            }
            Entry::RunStarted(session) | Entry::Resumed(session) => {
                let overrides = session.settings().overrides.into_iter();
                let new = overrides.map(|(guard, reason)| format!("{guard}: {reason}"));
                let known = std::mem::take(&mut run.overrides);
                run.overrides =
                    known.into_iter().chain(new).collect::<BTreeSet<_>>().into_iter().collect();
            }
            Entry::StepDone { step, .. } => run.step = Some(*step),
            Entry::Finished { finish, .. } => run.finish = Some(*finish),
            _ => {}
        }
    }
    runs
}

/// Runs that a journal keeps, over those of the last day that deleted a pool.
const KEPT: usize = 8;

/// How many of the last records a journal must keep when a new run begins: the last runs, and all that the breaker
/// counts.
pub fn retained(records: &[Record], now: Timestamp) -> usize {
    let runs = summaries(records);
    let counts = |id: &str| {
        let deleted = runs.iter().find(|run| run.run == id).and_then(|run| run.deleted);
        deleted.is_some_and(|deleted| now.duration_since(deleted) < BREAKER_PERIOD)
    };
    mooring_workflow::journal::retained(records, KEPT, counts)
}

/// Why a pool may not be recreated once more now: a fault that comes back is not cured by a third time.
pub fn breaker(runs: &[RunSummary], pool: &str, now: Timestamp) -> Option<String> {
    let recent = runs
        .iter()
        .filter(|run| run.pool == pool)
        .filter_map(|run| run.deleted)
        .filter(|deleted| now.duration_since(*deleted) < BREAKER_PERIOD)
        .count();
    (recent >= MAX_RECREATIONS).then(|| {
        format!(
            "pool {pool} was recreated {recent} times within a day; another time will not cure it"
        )
    })
}
