//! A clock and a lock around the model, and somebody who wakes it when something is due.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::model::Kubernetes;
use crate::exchange::{Outcome, Request};

/// The model's time: it passes as the runtime's does, so that a paused runtime turns it, too.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Timestamp,
    origin: Instant,
}

impl Clock {
    /// A clock that shows `start` now.
    #[must_use]
    pub fn starting_at(start: Timestamp) -> Self {
        Self { start, origin: Instant::now() }
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.start.checked_add(self.origin.elapsed()).unwrap_or(Timestamp::MAX)
    }

    /// How long it is until then; nothing if it is past.
    fn until(&self, then: Timestamp) -> Duration {
        Duration::try_from(then.duration_since(self.now())).unwrap_or_default()
    }
}

/// The model where many can reach it.
#[derive(Clone)]
pub struct Shell {
    model: Arc<Mutex<Kubernetes>>,
    clock: Clock,
    /// Something happened that may have changed when the next thing is due.
    changed: Arc<Notify>,
}

/// Keeps things happening by themselves for as long as it is held.
pub struct Running(tokio::task::JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Shell {
    /// Puts a model behind a clock.
    #[must_use]
    pub fn new(model: Kubernetes, clock: Clock) -> Self {
        Self { model: Arc::new(Mutex::new(model)), clock, changed: Arc::new(Notify::new()) }
    }

    /// The time of the model.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Does something to the model, and then whatever is due.
    pub fn with<T>(&self, act: impl FnOnce(&mut Kubernetes, Timestamp) -> T) -> T {
        let now = self.clock.now();
        let mut model = self.lock();
        let result = act(&mut model, now);
        model.settle(now);
        drop(model);
        self.changed.notify_one();
        result
    }

    /// What comes back for one request.
    pub fn handle(&self, request: &Request) -> Outcome {
        self.with(|model, now| model.handle(request, now))
    }

    /// Starts whatever happens by itself, on the current runtime, until the returned value is dropped.
    #[must_use]
    pub fn start(&self) -> Running {
        Running(tokio::spawn(self.clone().run()))
    }

    /// Waits for what is due next, lets it happen, and so on for ever.
    pub async fn run(self) {
        loop {
            let next = self.lock().next_change();
            match next {
                Some(next) => {
                    let changed = self.changed.notified();
                    let due = tokio::time::timeout(self.clock.until(next), changed).await.is_err();
                    if due {
                        let now = self.clock.now();
                        self.lock().settle(now);
                    }
                }
                None => self.changed.notified().await,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kubernetes> {
        // A panic of one caller leaves a model that the others can still read.
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl crate::serve::Service for Shell {
    fn call(&self, request: Request) -> BoxFuture<'static, Outcome> {
        let outcome = self.handle(&request);
        std::future::ready(outcome).boxed()
    }
}
