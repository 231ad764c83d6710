//! The thin loop between the machine and the world.

use jiff::Timestamp;

use super::effect::Effect;
use super::entry::{Entry, Reason};
use super::machine::{Action, next};
use super::seen::{Answer, Query, Seen};
use super::state::State;
use super::terms::Terms;
use crate::effects::EffectResult;
use crate::journal::{Record, follow};
use crate::run::RunError;
use crate::world::AppendError;

/// Looks without anything happening after which something is wrong with us: far more than a cluster has definitions.
const MOST_LOOKS: u32 = 100_000;

/// What the loop needs: the cluster, the journal's store and the clock.
///
/// Dropping a future in the middle must be like killing the process: nothing runs afterwards.
#[expect(async_fn_in_trait, reason = "one task drives a run; nothing goes to another thread")]
pub trait World {
    /// The time.
    fn now(&self) -> Timestamp;
    /// Waits until then.
    async fn sleep_until(&mut self, until: Timestamp);
    /// Answers a question. Never fails: an answer can be that there is none.
    async fn observe(&mut self, query: &Query) -> Answer;
    /// Makes a change.
    async fn perform(&mut self, effect: &Effect) -> EffectResult;
    /// Writes a record, durably, unless the journal has grown meanwhile.
    async fn append(&mut self, record: &Record<Entry>) -> Result<(), AppendError>;
    /// True if somebody asked the run to stop where it can be resumed.
    fn interrupted(&self) -> bool;
    /// Returns true once the cluster has rejected the credentials.
    fn is_signed_out(&self) -> bool;
    /// Tells a person what comes next.
    fn progress(&mut self, state: &State, action: &Action);
}

/// How a run came to rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rest {
    /// Over; true if nothing is left.
    Finished(bool),
    /// Stopped, and can be resumed.
    Resumable {
        /// A fixed word.
        reason: Reason,
        /// A sentence.
        message: String,
    },
}

/// Drives the journal's last run until it comes to rest. `records` is what the store holds, its beginning
/// (`RunStarted` or `Resumed`) already written; `terms` is what the approved plan allows.
pub async fn run(
    world: &mut impl World,
    terms: &Terms,
    mut records: Vec<Record<Entry>>,
) -> Result<Rest, RunError> {
    let mut state = State::replay(&records)?.ok_or(RunError::NoRun)?;
    let mut seen = Seen::at(state.seq);
    let mut looks = 0;
    loop {
        let action = if world.is_signed_out() {
            // Whatever was read since is not an answer.
            let message = "the API server does not accept the credentials (401)".to_owned();
            Action::Stop { reason: Reason::SignedOut, message }
        } else {
            next(terms, &state, &seen, world.now())
        };
        looks += 1;
        if looks > MOST_LOOKS {
            return Err(RunError::Stuck);
        }
        match &action {
            Action::Observe(query) => {
                seen.take(world.observe(query).await);
                continue;
            }
            Action::LookAgain => {
                seen = Seen::at(state.seq);
                continue;
            }
            _ => looks = 0,
        }
        let action = match action {
            // What is written down is never half done; a wait or a change can begin later as well.
            Action::Wait { .. } | Action::Effect { .. } if world.interrupted() => {
                let message = "somebody asked to stop".to_owned();
                Action::Stop { reason: Reason::Interrupted, message }
            }
            action => action,
        };
        world.progress(&state, &action);
        match action {
            Action::Observe(_) | Action::LookAgain => {}
            Action::Wait { until, .. } => {
                world.sleep_until(until).await;
                seen = Seen::at(state.seq);
            }
            Action::Record(entry) => {
                // What is spared says nothing new of the others; the end of a step is a reason to look at all.
                let ends = !matches!(*entry, Entry::Spared { .. });
                write(world, &mut records, &mut state, *entry).await?;
                if ends {
                    seen = Seen::at(state.seq);
                }
            }
            Action::Effect { step, effect } => {
                let key = effect.key();
                let attempt =
                    state.attempts.get(&key).map_or(1, |attempt| attempt.count.saturating_add(1));
                let intent = Entry::Intent { step, effect: effect.clone(), attempt };
                write(world, &mut records, &mut state, intent).await?;
                let result = world.perform(&effect).await;
                write(world, &mut records, &mut state, Entry::Outcome { key, result }).await?;
                // Large, and each is needed once.
                seen.whole.clear();
            }
            Action::Done => {
                return Ok(Rest::Finished(state.finished.as_ref().is_some_and(Vec::is_empty)));
            }
            Action::Stop { reason, message } => {
                let stopped = Entry::Stopped { reason, message: message.clone() };
                write(world, &mut records, &mut state, stopped).await?;
                return Ok(Rest::Resumable { reason, message });
            }
        }
    }
}

async fn write(
    world: &mut impl World,
    records: &mut Vec<Record<Entry>>,
    state: &mut State,
    entry: Entry,
) -> Result<(), RunError> {
    let record = follow(records.last(), &state.run, world.now(), entry);
    world.append(&record).await?;
    state.take(&record)?;
    // The chain needs the last one only; backups need not be held twice.
    *records = vec![record];
    Ok(())
}
