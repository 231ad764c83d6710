//! Common parts of the commands of all workflows.

use std::rc::Rc;

use jiff::Timestamp;
use tokio::sync::watch;

use crate::engine::{Cluster, RunOutcome, run};
use crate::journal::{JournalError, MAX_START_BYTES, Run, Runs, Workflow, encode};
use crate::live::{LiveHost, Watcher};
use crate::model::Clock;
use crate::store::RunStore;
use crate::store::error::StoreError;
use crate::store::lock::{JournalLock, Lock, LockError, LockOwner, LockWait};

/// The result of a command: `B` describes a run that may not start.
#[derive(Debug)]
pub enum CommandResult<B> {
    Stopped(RunOutcome),
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

impl<B> CommandResult<B> {
    #[must_use]
    pub fn failed(error: &StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) | StoreError::NotRenewed | StoreError::TooLarge(..) => {
                Self::NoJournal(error.to_string())
            }
            StoreError::LostLock | StoreError::Journal(_) => Self::Failed(error.to_string()),
        }
    }
}

fn damaged(place: &str, error: &JournalError) -> String {
    format!("{place}: {error}; a damaged journal cannot be continued (docs/RUNBOOK.md)")
}

/// The journal as `status` shows it.
pub struct JournalStatus<W: Workflow> {
    pub place: String,
    pub runs: Runs<W>,
    pub lock: Option<Lock>,
}

impl<W: Workflow> JournalStatus<W> {
    /// Reads the journal without acquiring its lock.
    pub async fn read(mut store: RunStore) -> Result<Self, String> {
        let runs = store.load().await.map_err(|error| match error {
            StoreError::Journal(error) => damaged(&store.place(), &error),
            error => error.to_string(),
        })?;
        let lock = store.holder().await.map_err(|error| error.to_string())?;
        Ok(Self { place: store.place(), runs, lock })
    }

    /// Returns the last run if it can be resumed.
    pub fn unfinished(&self) -> Option<&Run<W>> {
        self.runs.last.as_ref().filter(|run| !run.is_finished())
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
    pub store: RunStore,
    lock: JournalLock,
    pub runs: Runs<W>,
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
}

impl Process {
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Acquires the lock of a journal.
    pub async fn acquire<W: Workflow, B>(
        &self,
        mut store: RunStore,
        wait: LockWait,
        say: &mut dyn FnMut(&str),
    ) -> Result<HeldJournal<W>, CommandResult<B>> {
        let mut stop = self.stop.clone();
        match store.acquire(&self.owner, wait, &self.clock, &mut stop, say).await {
            Ok((lock, runs)) => Ok(HeldJournal { store, lock, runs }),
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
    pub async fn acquire_unfinished<W: Workflow, B>(
        &self,
        store: RunStore,
        wait: LockWait,
        say: &mut dyn FnMut(&str),
    ) -> Result<(HeldJournal<W>, Run<W>), (CommandResult<B>, Runs<W>)> {
        let journal =
            self.acquire(store, wait, say).await.map_err(|result| (result, Runs::default()))?;
        let nothing = match journal.runs.last.clone() {
            Some(run) if !run.is_finished() => return Ok((journal, run)),
            Some(run) => format!("run {} is finished", run.id),
            None => format!("no run found in {}", journal.store.place()),
        };
        let runs = journal.runs.clone();
        Err(journal.end((CommandResult::Nothing(nothing), runs)).await)
    }

    /// Stores a run that starts or continues in this session, and drives it while renewing the lock.
    pub async fn drive<W: Workflow, B>(
        &self,
        journal: HeldJournal<W>,
        next: Run<W>,
        mut cluster: impl Cluster<W>,
        watcher: Watcher<'_, W>,
    ) -> CommandResult<B> {
        let HeldJournal { mut store, mut lock, mut runs } = journal;
        let is_new = runs.last.as_ref().is_none_or(|last| last.id != next.id);
        let dropped = if is_new { runs.archive(self.now()) } else { Vec::new() };
        let bytes = encode(&next, &runs.past).len();
        let saved = match lock.confirm().await {
            Ok(()) if is_new && bytes > MAX_START_BYTES => {
                Err(StoreError::TooLarge(bytes, MAX_START_BYTES))
            }
            Ok(()) => store.save(&next, &runs.past).await,
            lost => lost,
        };
        if let Err(error) = saved {
            return CommandResult::failed(&error);
        }
        let (clock, stop) = (Rc::clone(&self.clock), self.stop.clone());
        let gate = lock.gate();
        let past = runs.past;
        let mut host = LiveHost { store, past, gate, clock, stop, watcher };
        let driven = async {
            for id in dropped {
                host.store.forget_backups(&id).await;
            }
            run(&mut host, &mut cluster, next).await
        };
        let ended = tokio::select! {
            // On the heap: it is large.
            ended = Box::pin(driven) => ended,
            lost = lock.keep() => return CommandResult::Resumable(lost.to_string()),
        };
        drop(host);
        lock.release().await;
        match ended {
            Ok(outcome) => CommandResult::Stopped(outcome),
            Err(error @ StoreError::LostLock) => CommandResult::Resumable(error.to_string()),
            Err(StoreError::Journal(error)) => CommandResult::Failed(error.to_string()),
            Err(error) => CommandResult::Resumable(format!("failed to write the journal: {error}")),
        }
    }
}
