//! Earlier runs, and the limit of recreations.

use jiff::Timestamp;

use crate::plan::Step;
use crate::settings::{BREAKER_PERIOD, MAX_RECREATIONS};
use crate::workflow::effects::Effect;
use crate::workflow::{Entry, Finish, Record};
use mooring_workflow::{Effect as _, EffectResult};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    pub run: String,
    pub pool: String,
    pub started: Timestamp,
    pub last: Timestamp,
    pub step: Option<Step>,
    /// Last deletion of the pool that was not rejected.
    pub deleted: Option<Timestamp>,
    /// None if it can be resumed.
    pub finish: Option<Finish>,
    /// Overridden checks with reasons.
    pub overrides: Vec<String>,
}

/// Returns the runs of a journal, oldest first.
pub fn summaries(records: &[Record]) -> Vec<RunSummary> {
    let mut runs: Vec<RunSummary> = Vec::new();
    // The deletion before the last attempt, which counts again if that was rejected.
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
                run.overrides.extend(overrides.map(|(check, reason)| format!("{check}: {reason}")));
                run.overrides.sort();
                run.overrides.dedup();
            }
            Entry::StepDone { step, .. } => run.step = Some(*step),
            Entry::Finished { finish, .. } => run.finish = Some(*finish),
            _ => {}
        }
    }
    runs
}

/// Runs that a journal keeps, in addition to those of the last day that deleted a pool.
const MAX_RUNS: usize = 8;

/// Returns the number of records that a journal keeps when a run starts: the last runs, and all that [`breaker`] counts.
pub fn retained(records: &[Record], now: Timestamp) -> usize {
    let runs = summaries(records);
    let counts = |id: &str| {
        let deleted = runs.iter().find(|run| run.run == id).and_then(|run| run.deleted);
        deleted.is_some_and(|deleted| now.duration_since(deleted) < BREAKER_PERIOD)
    };
    mooring_workflow::journal::retained(records, MAX_RUNS, counts)
}

/// Returns the reason why a pool must not be recreated again: a recurring fault is not fixed by a third rebuild.
pub fn breaker(runs: &[RunSummary], pool: &str, now: Timestamp) -> Option<String> {
    let recent = runs
        .iter()
        .filter(|run| run.pool == pool)
        .filter_map(|run| run.deleted)
        .filter(|deleted| now.duration_since(*deleted) < BREAKER_PERIOD)
        .count();
    (recent >= MAX_RECREATIONS).then(|| {
        format!("pool {pool} was already recreated {recent} times in 24h; not trying again")
    })
}
