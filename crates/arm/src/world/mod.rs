//! I/O of this crate as one trait: clock, randomness, network and identity.

mod real;

use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use jiff::Timestamp;

use crate::identity::{IdentityError, Token};

pub use real::Real;

/// Clock, randomness, network and identity of a [`Client`](crate::Client).
///
/// [`Real`](crate::Real) is used in production. Tests use a model: `send` calls the model at `now()`, and `sleep`
/// uses tokio's paused clock or a clock of the test.
pub trait World: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// Returns a uniformly distributed number for jitter and IDs, never for secrets.
    fn random(&self) -> u64;

    /// Sends one request once and reads the whole response. Does not retry or follow redirects.
    fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> BoxFuture<'_, Result<http::Response<Bytes>, TransportError>>;

    /// Returns a token for a scope. The client caches it until shortly before it expires.
    fn token<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<Token, IdentityError>>;
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct TransportError {
    pub sent: Sent,
    /// Error message without secrets.
    pub what: String,
}

impl TransportError {
    /// Creates an error for a request that was not sent: no connection, DNS or TLS failure.
    pub fn unsent(what: impl Into<String>) -> Self {
        Self { sent: Sent::No, what: what.into() }
    }

    /// Creates an error for a request that may have been applied.
    pub fn unknown(what: impl Into<String>) -> Self {
        Self { sent: Sent::Unknown, what: what.into() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    No,
    Unknown,
}
