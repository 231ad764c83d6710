//! How commands over a journal come to their end, and what they share on the way: whatever the journal is about.

use tokio::sync::watch;

use super::store::{Store, StoreError};
use super::takeover::{NotHeld, Patience, acquire};
use super::world::Clock;
use crate::journal::{Content, JournalError, Lock, Owner, Record};
use crate::replay::{Replayed, replay};
use crate::run::RunError;

/// How a command came to its end: at rest (`R`), not begun (`B`), or otherwise.
#[derive(Debug)]
pub enum Ending<R, B> {
    /// A run came to rest.
    Rested(R),
    /// There is no run to continue, or nothing to do.
    Nothing(String),
    /// A run may not begin.
    Refused(B),
    /// Somebody else holds the run.
    Held(Lock),
    /// The run stands where it was and can be resumed; the text says why it does not go on.
    Resumable(String),
    /// Something could not be read or written before anything was begun.
    Failed(String),
    /// The same, of the journal's place.
    NoJournal(String),
}

impl<R, B> Ending<R, B> {
    /// The journal's store does not do what it should.
    pub(crate) fn failed(error: &StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) => Self::NoJournal(error.to_string()),
            StoreError::LostLock | StoreError::Journal(_) => Self::Failed(error.to_string()),
        }
    }

    /// A run that was driven came to this.
    pub(crate) fn driven(ended: Result<R, RunError>) -> Self {
        match ended {
            Ok(rest) => Self::Rested(rest),
            Err(RunError::Append(error)) => Self::Resumable(error.to_string()),
            Err(error) => Self::Failed(error.to_string()),
        }
    }

    /// There is no run that could go on: the last one is over, or there never was one.
    fn over(run: Option<&str>, place: &str) -> Self {
        Self::Nothing(match run {
            Some(run) => format!("run {run} is over"),
            None => format!("there is no run in {place}"),
        })
    }
}

/// What a journal holds makes no sense, so that nothing goes on from it.
fn damaged(place: &str, error: &JournalError) -> String {
    format!("{place}: {error}; nothing goes on from a damaged journal (docs/RUNBOOK.md)")
}

/// What `status` tells.
pub struct Standing<E> {
    /// Where the journal is.
    pub place: String,
    /// What it holds.
    pub records: Vec<Record<E>>,
    /// Who holds the run.
    pub lock: Option<Lock>,
}

impl<E: Content> Standing<E> {
    /// What the journal says, without its lock.
    pub(crate) async fn of(mut store: Store<E>) -> Result<Self, String> {
        let contents = store.load().await.map_err(|error| match error {
            StoreError::Journal(error) => damaged(&store.place(), &error),
            error => error.to_string(),
        })?;
        Ok(Self { place: store.place(), records: contents.records, lock: contents.lock })
    }
}

/// Takes the journal's lock; the store, and what it holds.
pub(crate) async fn take<E: Content, R, B>(
    mut store: Store<E>,
    owner: &Owner,
    patience: Patience,
    clock: &Clock,
    stop: &watch::Receiver<bool>,
    say: &mut dyn FnMut(&str),
) -> Result<(Store<E>, Vec<Record<E>>), Ending<R, B>> {
    let mut stop = stop.clone();
    match acquire(&mut store, owner, patience, clock, &mut stop, say).await {
        Ok(contents) => Ok((store, contents.records)),
        Err(NotHeld::Busy(lock)) => Err(Ending::Held(lock)),
        Err(NotHeld::Interrupted) => {
            Err(Ending::Resumable("stopped while waiting for the lock".to_owned()))
        }
        Err(NotHeld::Store(StoreError::Journal(error))) => {
            Err(Ending::Failed(damaged(&store.place(), &error)))
        }
        Err(NotHeld::Unnamed(place)) => Err(Ending::Failed(format!(
            "somebody holds the lock of {place} and does not say who; `fuser` on its .lock tells"
        ))),
        Err(NotHeld::Store(error)) => Err(Ending::failed(&error)),
    }
}

/// The run that can go on; if there is none, the lock is given back.
pub(crate) async fn unfinished<S: Replayed, R, B>(
    store: &mut Store<S::Entry>,
    records: &[Record<S::Entry>],
) -> Result<S, Ending<R, B>> {
    let ending = match replay::<S>(records) {
        Ok(Some(state)) if !state.is_over() => return Ok(state),
        Ok(found) => Ending::over(found.as_ref().map(S::run), &store.place()),
        Err(error) => Ending::Failed(damaged(&store.place(), &error)),
    };
    release(store).await;
    Err(ending)
}

/// Gives the lock back. If that fails, it falls silent by itself.
pub(crate) async fn release<E: Content>(store: &mut Store<E>) {
    let _ = store.unlock().await;
}
