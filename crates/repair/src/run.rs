//! The thin loop between the machine and the world.

use thiserror::Error;

use crate::journal::{Entry, Finish, JournalError, Record, follow};
use crate::machine::{Action, Reason, State, StopKind, finish_of, next};
use crate::observation::Seen;
use crate::world::{AppendError, World};

/// Looks without anything happening after which something is wrong with us.
const MOST_LOOKS: u32 = 64;

/// How a run came to rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rest {
    /// Over.
    Finished(Finish),
    /// Stopped, and can be resumed.
    Resumable {
        /// A fixed word.
        reason: Reason,
        /// A sentence.
        message: String,
    },
}

/// Why a run could not come to rest.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RunError {
    /// The journal makes no sense.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal cannot be written.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// There is no run.
    #[error("the journal holds no run")]
    NoRun,
    /// The machine asks the same again and again: a mistake of ours.
    #[error("the same question was asked {MOST_LOOKS} times; this is a defect")]
    Stuck,
}

/// Drives the journal's last run until it comes to rest. `records` is what the store holds, its beginning
/// (`RunStarted`, `Resumed` or `AbortStarted`) already written.
pub async fn run(world: &mut impl World, mut records: Vec<Record>) -> Result<Rest, RunError> {
    let mut state = State::replay(&records)?.ok_or(RunError::NoRun)?;
    let mut seen = Seen::default();
    let mut looks = 0;
    loop {
        let action = next(&state, &seen, world.now());
        if let Action::Observe(query) = &action {
            looks += 1;
            if looks > MOST_LOOKS {
                return Err(RunError::Stuck);
            }
            seen.take(world.observe(query).await);
            continue;
        }
        looks = 0;
        seen = Seen::default();
        let action = match action {
            // What is written down is never half done; a wait or a change can begin later as well.
            Action::Wait { .. } | Action::Effect { .. } if world.interrupted() => {
                Action::resumable(Reason::Interrupted, "interrupted".to_owned())
            }
            Action::Effect { effect, .. } if !effect.is_allowed(&state.approval) => {
                let message = format!("no approval covers `{}`", effect.key());
                Action::resumable(Reason::NotApproved, message)
            }
            action => action,
        };
        world.progress(&state, &action);
        match action {
            Action::Observe(_) => {}
            Action::Wait { until, .. } => world.sleep_until(until).await,
            Action::Record(entry) => write(world, &mut records, &mut state, *entry).await?,
            Action::Effect { step, effect } => {
                let key = effect.key();
                let attempt = state.attempt(&key).map_or(1, |attempt| attempt.count + 1);
                let intent = Entry::Intent { step, effect: Box::new(effect.clone()), attempt };
                write(world, &mut records, &mut state, intent).await?;
                let result = world.perform(&effect).await;
                write(world, &mut records, &mut state, Entry::Outcome { key, result }).await?;
            }
            Action::Done(finish) => return Ok(Rest::Finished(finish)),
            Action::Stop { kind, reason, message } => {
                let stopped = Entry::Stopped { reason: reason.word(), message: message.clone() };
                write(world, &mut records, &mut state, stopped).await?;
                if let Some(finish) = finish_of(kind) {
                    let left = state.left().into_iter().chain(state.aborted());
                    let left = left.chain([message]).collect();
                    write(world, &mut records, &mut state, Entry::Finished { finish, left })
                        .await?;
                    return Ok(Rest::Finished(finish));
                }
                debug_assert_eq!(kind, StopKind::Resumable);
                return Ok(Rest::Resumable { reason, message });
            }
        }
    }
}

async fn write(
    world: &mut impl World,
    records: &mut Vec<Record>,
    state: &mut State,
    entry: Entry,
) -> Result<(), RunError> {
    let record = follow(records.last(), &state.run, world.now(), entry);
    world.append(&record).await?;
    state.take(&record)?;
    records.push(record);
    Ok(())
}
