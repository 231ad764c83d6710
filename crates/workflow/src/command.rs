//! Common parts of the commands of all workflows.

use std::rc::Rc;

use jiff::Timestamp;
use tokio::sync::watch;

use crate::engine::workflow::Workflow;
use crate::engine::world::Clock;
use crate::engine::{RunError, RunOutcome, run};
use crate::journal::{Content, Entry, JournalError, Record, Run};
use crate::live::{Adapter, LiveWorld, Watcher};
use crate::store::JournalStore;
use crate::store::error::StoreError;
use crate::store::lock::{JournalLock, Lock, LockError, LockOwner, LockWait, acquire};

/// The result of a command: `R` describes a run that stopped, `B` a run that may not start.
#[derive(Debug)]
pub enum CommandResult<R, B> {
    Stopped(R),
    Nothing(String),
    Refused(B),
    /// Another process holds the run.
    Held(Lock),
    /// The run can be resumed; the text is the reason for the stop.
    Resumable(String),
    /// A read or write failed before the run started.
    Failed(String),
    NoJournal(String),
}

impl<R, B> CommandResult<R, B> {
    #[must_use]
    pub fn failed(error: &StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) => Self::NoJournal(error.to_string()),
            StoreError::LostLock | StoreError::Journal(_) => Self::Failed(error.to_string()),
        }
    }
}

fn damaged(place: &str, error: &JournalError) -> String {
    format!("{place}: {error}; a damaged journal cannot be continued (docs/RUNBOOK.md)")
}

/// The journal as `status` shows it.
pub struct JournalStatus<E> {
    pub place: String,
    pub records: Vec<Record<E>>,
    pub lock: Option<Lock>,
}

impl<E: Content> JournalStatus<E> {
    /// Reads the journal without acquiring its lock.
    pub async fn read(mut store: JournalStore<E>) -> Result<Self, String> {
        let records = store.load().await.map_err(|error| match error {
            StoreError::Journal(error) => damaged(&store.place(), &error),
            error => error.to_string(),
        })?;
        let lock = store.holder().await.map_err(|error| error.to_string())?;
        Ok(Self { place: store.place(), records, lock })
    }
}

pub struct Process {
    /// This process, as the owner of locks.
    pub owner: LockOwner,
    pub clock: Clock,
    /// True when a run must stop at the next safe point.
    pub stop: watch::Receiver<bool>,
}

/// A journal whose lock this process holds.
pub struct HeldJournal<W: Workflow> {
    pub store: JournalStore<Entry<W>>,
    lock: JournalLock,
    pub records: Vec<Record<Entry<W>>>,
}

impl<W: Workflow> HeldJournal<W> {
    /// Releases the lock, which otherwise expires.
    pub async fn release(mut self) {
        self.lock.release().await;
    }

    /// Releases the lock, and returns the result.
    pub async fn end<T>(self, result: T) -> T {
        self.release().await;
        result
    }

    /// Drops all but the last `retained` records.
    pub async fn keep(&mut self, retained: usize) -> Result<(), StoreError> {
        self.store.keep(self.records.len(), retained).await?;
        self.records.drain(..self.records.len() - retained);
        Ok(())
    }
}

impl Process {
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Acquires the lock of a journal.
    pub async fn acquire<W: Workflow, R, B>(
        &self,
        mut store: JournalStore<Entry<W>>,
        wait: LockWait,
        say: &mut dyn FnMut(&str),
    ) -> Result<HeldJournal<W>, CommandResult<R, B>> {
        let mut stop = self.stop.clone();
        match acquire(&mut store, &self.owner, wait, &self.clock, &mut stop, say).await {
            Ok((lock, records)) => Ok(HeldJournal { store, lock, records }),
            Err(LockError::Busy(lock)) => Err(CommandResult::Held(lock)),
            Err(LockError::Interrupted) => {
                Err(CommandResult::Resumable("stopped while waiting for the lock".to_owned()))
            }
            Err(LockError::Store(StoreError::Journal(error))) => {
                Err(CommandResult::Failed(damaged(&store.place(), &error)))
            }
            Err(LockError::Store(error)) => Err(CommandResult::failed(&error)),
        }
    }

    /// Acquires the lock of a journal whose last run can be resumed. Otherwise releases it.
    pub async fn acquire_unfinished<W: Workflow, R, B>(
        &self,
        store: JournalStore<Entry<W>>,
        wait: LockWait,
        say: &mut dyn FnMut(&str),
    ) -> Result<(HeldJournal<W>, Run<W>), (CommandResult<R, B>, Vec<Record<Entry<W>>>)> {
        let journal =
            self.acquire(store, wait, say).await.map_err(|result| (result, Vec::new()))?;
        let place = journal.store.place();
        let result = match Run::replay(&journal.records) {
            Ok(Some(run)) if !run.is_finished() => return Ok((journal, run)),
            Ok(Some(run)) => CommandResult::Nothing(format!("run {} is finished", run.id)),
            Ok(None) => CommandResult::Nothing(format!("no run found in {place}")),
            Err(error) => CommandResult::Failed(damaged(&place, &error)),
        };
        let records = journal.records.clone();
        Err(journal.end((result, records)).await)
    }

    /// Writes the first record of a session, and drives the run while renewing the lock.
    pub async fn drive<W: Workflow, B>(
        &self,
        journal: HeldJournal<W>,
        first: Record<Entry<W>>,
        terms: &W::Terms,
        adapter: impl Adapter<W>,
        watcher: Watcher<'_, W>,
    ) -> CommandResult<RunOutcome<W>, B> {
        let HeldJournal { mut store, mut lock, mut records } = journal;
        let confirmed = lock.confirm().await;
        let appended = match confirmed {
            Ok(()) => store.append(&first).await,
            lost => lost,
        };
        if let Err(error) = appended {
            return CommandResult::failed(&error);
        }
        records.push(first);
        let (clock, stop) = (Rc::clone(&self.clock), self.stop.clone());
        let gate = lock.gate();
        let mut world = LiveWorld { adapter, store, gate, clock, stop, watcher };
        let ended = tokio::select! {
            // On the heap: it is large.
            ended = Box::pin(run(&mut world, terms, records)) => ended,
            lost = lock.keep() => return CommandResult::Resumable(lost.to_string()),
        };
        drop(world);
        lock.release().await;
        match ended {
            Ok(outcome) => CommandResult::Stopped(outcome),
            Err(RunError::Append(error)) => CommandResult::Resumable(error.to_string()),
            Err(error) => CommandResult::Failed(error.to_string()),
        }
    }
}
