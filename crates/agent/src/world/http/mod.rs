//! A small HTTP/1.1 client: one request, one connection, one deadline.
//!
//! The agent sends three kinds of requests to two servers, so it needs no redirects, no keep-alive and no
//! compression. Each kind of failure has a name, since it determines the owner of the next step.
//!
//! | file | contents |
//! |---|---|
//! | `url` | a parsed address |
//! | `message` | requests and responses, without I/O |
//! | `deadline` | a connection with a total time limit |
//! | `connect` | DNS, TCP, a proxy's tunnel |
//! | `tls` | trust and handshake |

mod connect;
mod deadline;
mod message;
mod tls;
mod url;

use std::fmt;
use std::io::{BufReader, Write as _};
use std::time::Duration;

use mooring_redact::{ProxyUrl, Secret};

use deadline::Limits;

pub use deadline::Duplex;

#[doc(hidden)] // For fuzzing.
pub use message::read_response;
pub use tls::Roots;
pub use url::{Url, UrlError};

/// More than any requested response.
pub const MAX_BODY: usize = 1024 * 1024;

/// A request. With a form it is a POST, otherwise a GET.
#[derive(Debug)]
pub struct HttpRequest<'a> {
    pub url: &'a Url,
    pub headers: &'a [(&'static str, Secret)],
    /// A body of type `application/x-www-form-urlencoded`.
    pub form: Option<&'a Secret>,
    /// The proxy to go through, for an address with TLS.
    pub proxy: Option<&'a ProxyUrl>,
    pub roots: &'a Roots,
    pub limit: Duration,
}

/// A connection with TLS that is not for requests of HTTP/1.1.
#[derive(Debug, Clone)]
pub struct Dial<'a> {
    /// The host, which is also the server name in the handshake.
    pub host: &'a str,
    pub port: u16,
    /// The CA in PEM that alone may vouch for the server.
    pub ca: &'a [u8],
    /// The name that the server's certificate must be for.
    pub certificate_name: &'static str,
    /// The application protocols to choose from.
    pub protocols: &'static [&'static str],
    pub limit: Duration,
}

#[derive(Clone, Default)]
pub struct HttpResponse {
    pub status: u16,
    /// Its headers, as they came.
    pub headers: Vec<(String, String)>,
    /// Its body, which may be a token.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// The first header of this name, in any letter case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpResponse {{ status: {}, {} bytes }}", self.status, self.body.len())
    }
}

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
enum Phase {
    Connect,
    Tunnel,
    Tls,
    Request,
    Head,
    Body,
}

impl Phase {
    fn doing(self) -> &'static str {
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
    fn new(kind: HttpFailureKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    fn timed_out(phase: Phase) -> Self {
        Self::new(HttpFailureKind::TimedOut, format!("timed out {}", phase.doing()))
    }
}

/// Looks a name up and connects to it.
pub(super) fn connect(host: &str, port: u16, limit: Duration) -> Result<(), HttpFailure> {
    connect::open(host, port, &Limits::within(limit)).map(drop)
}

/// Opens a connection with TLS to `address`, which is the dialed host's own unless a test has another.
pub(super) fn dial(dial: &Dial<'_>, address: (&str, u16)) -> Result<Box<dyn Duplex>, HttpFailure> {
    // Fails without a CA, before a connection is opened.
    let config = tls::pinned(dial)?;
    let limits = Limits::within(dial.limit);
    let stream = connect::open(address.0, address.1, &limits)?;
    let stream = tls::handshake_with(stream, dial.host, &config, &limits)?;
    limits.no_phase();
    Ok(stream)
}

/// Sends a request and reads the whole response.
pub(super) fn fetch(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpFailure> {
    let limits = Limits::within(request.limit);
    let mut stream = open(request, &limits)?;
    limits.no_phase();
    message::write_request(request)
        .and_then(|bytes| stream.write_all(&bytes))
        .and_then(|()| stream.flush())
        .map_err(|error| tls::failure(Phase::Request, &error))?;
    message::read_response(&mut BufReader::new(stream))
}

fn open(request: &HttpRequest<'_>, limits: &Limits) -> Result<Box<dyn Duplex>, HttpFailure> {
    let url = request.url;
    if !url.tls {
        return connect::open(&url.host, url.port, limits);
    }
    let stream = match request.proxy {
        None => connect::open(&url.host, url.port, limits)?,
        Some(proxy) => connect::tunnel(proxy, url, request.roots, limits)?,
    };
    tls::handshake(stream, &url.host, request.roots, limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_of_a_response_hides_its_headers_and_body() {
        let headers = vec![("Set-Cookie".to_owned(), "hunter2".to_owned())];
        let response = HttpResponse { status: 200, headers, body: b"hunter2".to_vec() };
        assert_eq!(format!("{response:?}"), "HttpResponse { status: 200, 7 bytes }");
    }

    #[test]
    fn failures_name_what_was_being_done() {
        let cut = std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        for (phase, doing) in [
            (Phase::Connect, "connecting"),
            (Phase::Tunnel, "asking the proxy for a tunnel"),
            (Phase::Request, "sending the request"),
            (Phase::Head, "waiting for the response"),
            (Phase::Body, "reading the response body"),
        ] {
            assert_eq!(HttpFailure::timed_out(phase).text, format!("timed out {doing}"));
            let failure = tls::failure(phase, &cut);
            assert_eq!(failure.kind, HttpFailureKind::Cut);
            assert_eq!(failure.text, format!("the connection was cut {doing} ({cut})"));
        }
        let failure = tls::failure(Phase::Tls, &cut);
        assert_eq!(failure.kind, HttpFailureKind::Tls);
        assert!(failure.text.contains("in the handshake"), "{}", failure.text);
        assert_eq!(HttpFailure::timed_out(Phase::Tls).text, "timed out in the TLS handshake");
    }
}
