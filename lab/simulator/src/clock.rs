//! One clock and one lock around a model, and a task that runs its scheduled changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::time::Instant;

pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The model's time: it follows the runtime's, so a paused runtime pauses it as well.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Timestamp,
    origin: Instant,
}

impl Clock {
    pub fn starting_at(start: Timestamp) -> Self {
        Self { start, origin: Instant::now() }
    }

    pub fn now(&self) -> Timestamp {
        self.start.checked_add(self.origin.elapsed()).unwrap_or(Timestamp::MAX)
    }
}

pub trait Model: Send + 'static {
    /// Applies every change that is due.
    fn settle(&mut self, now: Timestamp);

    fn next_change(&self) -> Option<Timestamp>;
}

/// A model shared by many clients. Cheap to clone.
pub struct Shared<M> {
    model: Arc<Mutex<M>>,
    now: Now,
    /// Signals that the time of the next change may be different.
    changed: Arc<Notify>,
}

impl<M> Clone for Shared<M> {
    fn clone(&self) -> Self {
        Self {
            model: Arc::clone(&self.model),
            now: Arc::clone(&self.now),
            changed: Arc::clone(&self.changed),
        }
    }
}

/// Runs scheduled changes until it is dropped.
pub struct ClockTask(tokio::task::JoinHandle<()>);

impl Drop for ClockTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<M: Model> Shared<M> {
    pub fn with_clock(model: M, now: Now) -> Self {
        Self { model: Arc::new(Mutex::new(model)), now, changed: Arc::new(Notify::new()) }
    }

    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// Changes the model, after all due changes and before their consequences.
    pub fn with<T>(&self, act: impl FnOnce(&mut M, Timestamp) -> T) -> T {
        let now = self.now();
        let mut model = self.lock();
        model.settle(now);
        let result = act(&mut model, now);
        model.settle(now);
        drop(model);
        self.touched();
        result
    }

    /// Runs scheduled changes on the current runtime until the returned value is dropped.
    pub fn start(&self) -> ClockTask {
        ClockTask(tokio::spawn(self.clone().run()))
    }

    /// Waits for the next scheduled change and applies it, indefinitely.
    pub async fn run(self) {
        loop {
            let next = self.lock().next_change();
            let changed = self.changed.notified();
            let Some(next) = next else {
                changed.await;
                continue;
            };
            let wait = Duration::try_from(next.duration_since(self.now())).unwrap_or_default();
            // At least a moment: a failed change must not be retried without a pause.
            let wait = wait.max(Duration::from_millis(1));
            if tokio::time::timeout(wait, changed).await.is_err() {
                let now = self.now();
                self.lock().settle(now);
            }
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, M> {
        // A panic of one caller leaves a model that others can still read.
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Signals a change that was made under [`Self::lock`].
    pub(crate) fn touched(&self) {
        self.changed.notify_one();
    }
}
