//! The world of a command: real services, journal, lock and clock.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mooring_k8s::Gate;
use tokio::sync::watch;

use crate::engine::decision::{Decision, Stop};
use crate::engine::workflow::Workflow;
use crate::engine::world::{AppendError, Clock, World};
use crate::journal::{Entry, PastRun, Record, Run};
use crate::model::effect::EffectResult;
use crate::store::RunStore;
use crate::store::error::StoreError;
use crate::store::lock::{TERM, TIMES};

/// Receives each decision.
pub type Watcher<'a, W> = Box<dyn FnMut(&Run<W>, &Decision<W>, Timestamp) + 'a>;

/// The services of a workflow.
#[expect(async_fn_in_trait, reason = "one task drives a run; nothing goes to another thread")]
pub trait Adapter<W: Workflow> {
    /// Reads. A failure is a result as well.
    async fn read(&mut self, query: &W::Query, now: Timestamp) -> W::Answer;
    async fn perform(&mut self, effect: &W::Effect, now: Timestamp) -> EffectResult;
    /// Returns the reason why reads are no longer valid.
    fn halted(&self) -> Option<Stop<W>> {
        None
    }
}

pub(crate) struct LiveWorld<'a, W: Workflow, A> {
    pub(crate) adapter: A,
    pub(crate) store: RunStore,
    pub(crate) past: Vec<PastRun<W::Finish>>,
    /// Closes when the lock is not renewed.
    pub(crate) gate: Arc<Gate>,
    pub(crate) clock: Clock,
    pub(crate) stop: watch::Receiver<bool>,
    pub(crate) watcher: Watcher<'a, W>,
}

impl<W: Workflow, A: Adapter<W>> World<W> for LiveWorld<'_, W, A> {
    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    async fn sleep_until(&mut self, until: Timestamp) {
        pause(until.duration_since(self.now()), &self.stop).await;
    }

    async fn read(&mut self, query: &W::Query) -> W::Answer {
        let now = self.now();
        self.adapter.read(query, now).await
    }

    async fn perform(&mut self, effect: &W::Effect) -> EffectResult {
        let now = self.now();
        self.adapter.perform(effect, now).await
    }

    async fn append(&mut self, record: &Record<W>, run: &Run<W>) -> Result<(), AppendError> {
        may_write(&self.gate).await?;
        if let Some(backup) = W::backup(&record.entry) {
            self.store.back_up(&run.id, backup).await?;
        }
        self.store.save(run, &self.past).await?;
        // An effect follows its intent at once. It must not start if the write outlasted the lock.
        if matches!(record.entry, Entry::Intent(_)) {
            may_write(&self.gate).await?;
        }
        Ok(())
    }

    fn interrupted(&self) -> bool {
        *self.stop.borrow()
    }

    fn halted(&self) -> Option<Stop<W>> {
        self.adapter.halted()
    }

    fn progress(&mut self, run: &Run<W>, decision: &Decision<W>) {
        let now = self.now();
        (self.watcher)(run, decision, now);
    }
}

impl From<StoreError> for AppendError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::LostLock => Self::LostLock,
            other => Self::Unavailable(other.to_string()),
        }
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
async fn may_write(gate: &Gate) -> Result<(), AppendError> {
    match tokio::time::timeout(TIMES.lease, gate.allows_write(TERM)).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(AppendError::LostLock),
        Err(_) => Err(AppendError::Unavailable("the lock could not be renewed".to_owned())),
    }
}
