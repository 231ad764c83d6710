//! Failures of requests by kind.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpFailure {
    pub kind: HttpFailureKind,
    /// Human-readable; never a secret.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpFailureKind {
    /// The name has no address.
    Dns,
    Connect,
    /// The proxy opened no tunnel; its status, if it responded.
    Proxy(Option<u16>),
    /// The server's certificate is not to be trusted.
    Certificate,
    /// Another failure of TLS.
    Tls,
    TimedOut,
    /// The connection ended in the middle.
    Cut,
    /// Not HTTP, or too large.
    Malformed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Connect,
    Tunnel,
    Tls,
    Request,
    Head,
    Body,
}

impl Phase {
    pub(super) fn doing(self) -> &'static str {
        match self {
            Self::Connect => "connecting",
            Self::Tunnel => "asking the proxy for a tunnel",
            Self::Tls => "in the TLS handshake",
            Self::Request => "sending the request",
            Self::Head => "waiting for the response",
            Self::Body => "reading the response body",
        }
    }
}

impl HttpFailure {
    pub(super) fn new(kind: HttpFailureKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    pub(super) fn timed_out(phase: Phase) -> Self {
        Self::new(HttpFailureKind::TimedOut, format!("timed out {}", phase.doing()))
    }
}
