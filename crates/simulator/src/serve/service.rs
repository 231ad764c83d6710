//! The interface of what a socket serves.

use futures::future::BoxFuture;

use crate::exchange::{Outcome, Request};

/// What answers the requests of a socket. The shell around a model: it takes the time from a clock, locks the
/// model, asks it, and lets go.
pub trait Service: Send + Sync + 'static {
    fn call(&self, request: Request) -> BoxFuture<'static, Outcome>;
}
