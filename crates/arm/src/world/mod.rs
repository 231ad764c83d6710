//! Everything outside of this crate, behind one seam: the clock, chance, the network, the identity.

mod real;

use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use jiff::Timestamp;
use mooring_redact::Secret;

use crate::identity::IdentityError;

pub use real::Real;

/// The world of a [`Client`](crate::Client).
///
/// [`Real`] is the one that ships. A test puts a model in its place: `send` asks the model at `now()`, and
/// `sleep` is tokio's under a paused clock, or moves a clock of the test's own.
pub trait World: Send + Sync + 'static {
    fn now(&self) -> Timestamp;

    /// Comes back after this long.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// Any number, each as likely as the others. Spreads retries and makes ids; nothing secret comes from it.
    fn random(&self) -> u64;

    /// Sends one request, once, and reads the whole answer. Repeats nothing, follows no redirect.
    fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> BoxFuture<'_, Result<http::Response<Bytes>, TransportError>>;

    /// A token for a scope. The client keeps it until shortly before it expires.
    fn token<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<Token, IdentityError>>;
}

/// A token that signs requests.
#[derive(Debug, Clone)]
pub struct Token {
    pub secret: Secret,
    pub expires: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct TransportError {
    /// Whether the request can have reached Azure.
    pub sent: Sent,
    /// What happened, in words, without secrets.
    pub what: String,
}

impl TransportError {
    /// The request was not sent: no connection, no name, no TLS.
    #[must_use]
    pub fn unsent(what: impl Into<String>) -> Self {
        Self { sent: Sent::No, what: what.into() }
    }

    /// The request may have been carried out.
    #[must_use]
    pub fn unknown(what: impl Into<String>) -> Self {
        Self { sent: Sent::Unknown, what: what.into() }
    }
}

/// Whether a request can have reached Azure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    No,
    Unknown,
}
