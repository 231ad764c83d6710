//! The process of a command: its journal, lock, clock and signals.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mooring_k8s::Gate;
use tokio::sync::watch;

use crate::engine::{Decision, Host};
use crate::journal::{Entry, PastRun, Run, Workflow};
use crate::model::Clock;
use crate::store::RunStore;
use crate::store::error::StoreError;
use crate::store::lock::{TERM, TIMES};

/// Receives each decision.
pub type Watcher<'a, W> = Box<dyn FnMut(&Run<W>, &Decision<W>, Timestamp) + 'a>;

pub(crate) struct LiveHost<'a, W: Workflow> {
    pub(crate) store: RunStore,
    pub(crate) past: Vec<PastRun>,
    /// Closes when the lock is not renewed.
    pub(crate) gate: Arc<Gate>,
    pub(crate) clock: Clock,
    pub(crate) stop: watch::Receiver<bool>,
    pub(crate) watcher: Watcher<'a, W>,
}

impl<W: Workflow> Host<W> for LiveHost<'_, W> {
    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    async fn sleep_until(&mut self, until: Timestamp) {
        pause(until.duration_since((self.clock)()), &self.stop).await;
    }

    async fn append(&mut self, entry: &Entry<W>, run: &Run<W>) -> Result<(), StoreError> {
        may_write(&self.gate).await?;
        let backup = match entry {
            Entry::Intent(effect) => W::backup(effect),
            Entry::Note(note) => note.backup.as_ref(),
            _ => None,
        };
        if let Some(backup) = backup {
            self.store.back_up(&run.id, backup).await?;
        }
        self.store.save(run, &self.past).await?;
        // An effect follows its intent at once. It must not start if the write outlasted the lock.
        if matches!(entry, Entry::Intent(_)) {
            may_write(&self.gate).await?;
        }
        Ok(())
    }

    fn interrupted(&self) -> bool {
        *self.stop.borrow()
    }

    fn progress(&mut self, run: &Run<W>, decision: &Decision<W>) {
        let now = (self.clock)();
        (self.watcher)(run, decision, now);
    }
}

/// Waits until the time has passed or the process is interrupted.
pub async fn pause(time: SignedDuration, stop: &watch::Receiver<bool>) {
    let mut stop = stop.clone();
    tokio::select! {
        () = tokio::time::sleep(Duration::try_from(time).unwrap_or_default()) => {}
        // Without a sender no interruption comes.
        true = async { stop.wait_for(|stop| *stop).await.is_ok() } => {}
    }
}

/// Waits while a renewal of the lock is late, at most for the duration of the Lease.
async fn may_write(gate: &Gate) -> Result<(), StoreError> {
    match tokio::time::timeout(TIMES.lease, gate.allows_write(TERM)).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(StoreError::LostLock),
        Err(_) => Err(StoreError::NotRenewed),
    }
}
