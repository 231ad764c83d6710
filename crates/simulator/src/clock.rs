//! One clock and one lock around a model, and somebody who wakes it when something is due.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Says what time it is.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The model's time: it passes as the runtime's does, so that a paused runtime turns it, too.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Timestamp,
    origin: Instant,
}

impl Clock {
    /// A clock that shows `start` now.
    pub fn starting_at(start: Timestamp) -> Self {
        Self { start, origin: Instant::now() }
    }

    pub fn now(&self) -> Timestamp {
        self.start.checked_add(self.origin.elapsed()).unwrap_or(Timestamp::MAX)
    }
}

/// A value in which things happen by themselves, once it is told the time.
pub trait Model: Send + 'static {
    /// Lets happen what is due.
    fn settle(&mut self, now: Timestamp);

    fn next_change(&self) -> Option<Timestamp>;
}

/// A model where many can reach it. Cheap to clone.
pub struct Shared<M> {
    model: Arc<Mutex<M>>,
    now: Now,
    /// Something happened that may have changed when the next thing is due.
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

/// Keeps things happening by themselves for as long as it is held.
pub struct Running(tokio::task::JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<M: Model> Shared<M> {
    /// A model with a clock of its own.
    pub fn with_clock(model: M, now: Now) -> Self {
        Self { model: Arc::new(Mutex::new(model)), now, changed: Arc::new(Notify::new()) }
    }

    /// The time of the model.
    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// Does something to the model, after what was due before and before what follows from it.
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

    /// Starts whatever happens by itself, on the current runtime, until the returned value is dropped.
    pub fn start(&self) -> Running {
        Running(tokio::spawn(self.clone().run()))
    }

    /// Waits for what is due next, lets it happen, and so on for ever.
    pub async fn run(self) {
        loop {
            let next = self.lock().next_change();
            let changed = self.changed.notified();
            let Some(next) = next else {
                changed.await;
                continue;
            };
            let wait = Duration::try_from(next.duration_since(self.now())).unwrap_or_default();
            // At least a moment: what cannot be done now must not be tried without a pause.
            let wait = wait.max(Duration::from_millis(1));
            if tokio::time::timeout(wait, changed).await.is_err() {
                let now = self.now();
                self.lock().settle(now);
            }
        }
    }

    /// The model itself, for as long as the guard is held. Nobody else gets at it meanwhile.
    pub(crate) fn lock(&self) -> MutexGuard<'_, M> {
        // A panic of one caller leaves a model that the others can still read.
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody changed the model behind the lock's back.
    pub(crate) fn touched(&self) {
        self.changed.notify_one();
    }
}
