//! The model where many can reach it.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;

use super::model::Kubernetes;
use crate::exchange::{Outcome, Request};
use crate::shared::{Clock, Model, Shared};

/// The model behind a clock and a lock.
pub type Shell = Shared<Kubernetes>;

impl Model for Kubernetes {
    fn settle(&mut self, now: Timestamp) {
        self.settle(now);
    }

    fn next_change(&self) -> Option<Timestamp> {
        self.next_change()
    }
}

impl Shell {
    /// Puts a model behind a clock.
    #[must_use]
    pub fn new(model: Kubernetes, clock: Clock) -> Self {
        Self::with_clock(model, Arc::new(move || clock.now()))
    }

    /// What comes back for one request.
    pub fn handle(&self, request: &Request) -> Outcome {
        self.with(|model, now| model.handle(request, now))
    }
}

impl crate::serve::Service for Shell {
    fn call(&self, request: Request) -> BoxFuture<'static, Outcome> {
        std::future::ready(self.handle(&request)).boxed()
    }
}
