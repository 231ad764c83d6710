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
