//! The world as it is.

use std::rc::Rc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Mutex, watch};

use crate::decision::{Decision, Stop};
use crate::effect::EffectResult;
use crate::journal::{Content, Entry, Record, Run};
use crate::store::{Store, StoreError};
use crate::workflow::Workflow;
use crate::world::{AppendError, World};

/// Between two heartbeats. A lock is free after 30 s without one, so that several may be lost.
const HEARTBEAT: Duration = Duration::from_secs(5);

pub type Clock = Rc<dyn Fn() -> Timestamp>;
/// Receives what comes next.
pub type Watcher<'a, W> = Box<dyn FnMut(&Run<W>, &Decision<W>, Timestamp) + 'a>;

/// The services that a workflow reads and changes.
#[expect(async_fn_in_trait, reason = "one task drives a run; nothing goes to another thread")]
pub trait Adapter<W: Workflow> {
    /// Reads. Never fails: an answer can be that nothing is known.
    async fn read(&mut self, query: &W::Query, now: Timestamp) -> W::Answer;
    /// Makes a change, once.
    async fn perform(&mut self, effect: &W::Effect, now: Timestamp) -> EffectResult;
    /// Returns why nothing that is read counts any more.
    fn halted(&self) -> Option<Stop<W>> {
        None
    }
}

/// The services, the journal and the clock.
pub(crate) struct LiveWorld<'a, W: Workflow, A> {
    pub(crate) adapter: A,
    pub(crate) store: Rc<Mutex<Store<Entry<W>>>>,
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

    async fn append(&mut self, record: &Record<Entry<W>>) -> Result<(), AppendError> {
        let now = self.now();
        self.store.lock().await.append(record, now).await.map_err(AppendError::from)
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

/// Waits, unless the process is asked to stop.
pub async fn pause(time: SignedDuration, stop: &watch::Receiver<bool>) {
    let mut stop = stop.clone();
    tokio::select! {
        () = tokio::time::sleep(Duration::try_from(time).unwrap_or_default()) => {}
        // A sender that was dropped asks for nothing.
        true = async { stop.wait_for(|stop| *stop).await.is_ok() } => {}
    }
}

/// Renews the lock until it is lost.
pub(crate) async fn heartbeat<E: Content>(store: &Mutex<Store<E>>, clock: &Clock) -> StoreError {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        match store.lock().await.beat(clock()).await {
            // A store that is not available may come back; whether the lock is still held shows then.
            Ok(()) | Err(StoreError::Unavailable(_)) => {}
            Err(lost) => return lost,
        }
    }
}
