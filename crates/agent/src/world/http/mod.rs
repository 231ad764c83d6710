//! A small HTTP/1.1 client: one request, one connection, one deadline.
//!
//! The agent sends three kinds of requests to two servers, so it needs no redirects, no keep-alive and no
//! compression. Each kind of failure has a name, since it determines the owner of the next step.
//!
//! | file | contents |
//! |---|---|
//! | here | addresses, failures by kind, a connection with a total time limit |
//! | `message` | requests and responses, without I/O |
//! | `connect` | DNS, TCP, a proxy's tunnel, and a request from the first to the last byte |
//! | `tls` | trust and handshake |

mod connect;
mod message;
mod tls;

pub(super) use connect::{connect, dial, fetch};
#[doc(hidden)] // For fuzzing.
pub use message::read_response;
pub use message::{HttpRequest, HttpResponse, MAX_BODY};
pub use tls::{Dial, Roots};

use std::cell::Cell;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::world::process::now;

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

pub trait Duplex: Read + Write {}

impl<T: Read + Write> Duplex for T {}

/// Deadlines of the request and of the current phase.
#[derive(Debug, Clone)]
struct Limits {
    total: Instant,
    phase: Rc<Cell<Instant>>,
}

impl Limits {
    fn within(limit: Duration) -> Self {
        let total = now() + limit;
        Self { total, phase: Rc::new(Cell::new(total)) }
    }

    /// Sets the deadline of the phase that begins, within the total deadline.
    fn phase(&self, limit: Duration) {
        self.phase.set(self.total.min(now() + limit));
    }

    /// Removes the deadline of the phase.
    fn no_phase(&self) {
        self.phase.set(self.total);
    }

    fn remaining(&self) -> io::Result<Duration> {
        let left = self.phase.get().saturating_duration_since(now());
        // A timeout of zero means none to the system.
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

/// A TCP connection with deadlines. The remaining time is set before each operation, so that a slow peer
/// cannot extend it.
#[derive(Debug)]
struct Limited {
    tcp: TcpStream,
    limits: Limits,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.tcp.set_read_timeout(Some(self.limits.remaining()?))?;
        self.tcp.read(buffer).map_err(as_timed_out)
    }
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tcp.set_write_timeout(Some(self.limits.remaining()?))?;
        self.tcp.write(bytes).map_err(as_timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tcp.flush()
    }
}

/// A socket's timeout is reported as "would block" on Unix.
fn as_timed_out(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
        _ => error,
    }
}

/// An `http` or `https` address without user information.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    pub tls: bool,
    /// A name or an address, without brackets.
    pub host: String,
    pub port: u16,
    /// The path and the query; begins with `/`.
    pub target: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an address of the form https://HOST[:PORT][/PATH]")]
pub struct UrlError;

impl Url {
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let (tls, rest) = match text.split_once("://") {
            Some(("https", rest)) => (true, rest),
            Some(("http", rest)) => (false, rest),
            _ => return Err(UrlError),
        };
        let target_at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(target_at);
        let (host, port) = split_authority(authority).ok_or(UrlError)?;
        if !target.bytes().all(|byte| byte.is_ascii_graphic()) || target.contains('#') {
            return Err(UrlError);
        }
        let target = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
        Ok(Self { tls, host: host.to_owned(), port: port.unwrap_or(default_port(tls)), target })
    }

    /// The same server, another path and query.
    #[must_use]
    pub fn with_target(&self, target: impl Into<String>) -> Self {
        Self { target: target.into(), ..self.clone() }
    }

    /// The host, and the port where it is not the scheme's own.
    pub fn authority(&self) -> String {
        if self.port == default_port(self.tls) {
            bracketed(&self.host)
        } else {
            self.authority_with_port()
        }
    }

    pub(super) fn authority_with_port(&self) -> String {
        format!("{}:{}", bracketed(&self.host), self.port)
    }

    pub fn is_loopback(&self) -> bool {
        self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    pub fn is_same_server(&self, other: &Self) -> bool {
        (self.tls, self.port) == (other.tls, other.port)
            && self.host.eq_ignore_ascii_case(&other.host)
    }
}

/// Omits the query, which may contain secrets.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        let path = self.target.split('?').next().unwrap_or_default();
        write!(f, "{scheme}://{}{path}", self.authority())
    }
}

/// `host`, `host:port` or `[address]:port`.
pub(super) fn split_authority(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(bracketed) => {
            let (host, behind) = bracketed.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, behind)
        }
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_host_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    if host.is_empty() || host.starts_with('-') || !host.bytes().all(is_host_byte) {
        return None;
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => None,
        None => return None,
        Some(digits) => Some(digits.parse().ok().filter(|&port| port > 0)?),
    };
    Some((host, port))
}

fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

fn default_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phase_is_shorter_than_the_total_and_never_longer() {
        let limits = Limits::within(Duration::from_hours(2));
        limits.phase(Duration::from_hours(1));
        assert!(limits.remaining().unwrap() <= Duration::from_hours(1));
        limits.phase(Duration::from_hours(3));
        assert_eq!(limits.phase.get(), limits.total);
        limits.phase(Duration::ZERO);
        assert_eq!(limits.remaining().unwrap_err().kind(), io::ErrorKind::TimedOut);
        limits.no_phase();
        assert_eq!(limits.phase.get(), limits.total);
    }

    #[test]
    fn addresses_are_taken_apart() {
        for (text, shown, port, target) in [
            ("https://a.azurecr.io", "https://a.azurecr.io/", 443, "/"),
            ("https://a:8443/v2/?n=1", "https://a:8443/v2/", 8443, "/v2/?n=1"),
            ("http://169.254.169.254/x?y=z", "http://169.254.169.254/x", 80, "/x?y=z"),
            ("http://[::1]:81?q", "http://[::1]:81/", 81, "/?q"),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.to_string().as_str(), url.port), (shown, port));
            assert_eq!(url.target, target);
        }
    }

    #[test]
    fn servers_are_the_same_by_scheme_port_and_name() {
        let server = Url::parse("https://a.azurecr.io/v2/").unwrap();
        for (text, is_same) in [
            ("https://A.azurecr.io:443/oauth2", true),
            ("https://b.azurecr.io/v2/", false),
            ("https://a.azurecr.io:444/v2/", false),
            ("http://a.azurecr.io:443/v2/", false),
        ] {
            assert_eq!(server.is_same_server(&Url::parse(text).unwrap()), is_same, "{text}");
        }
    }

    #[test]
    fn an_address_cannot_smuggle_a_header_or_a_password() {
        for bad in [
            "",
            "a.azurecr.io",
            "ftp://a",
            "https://",
            "https://u:p@a/",
            "https://-a/",
            "https://a b/",
            "https://a\r\nX: y/",
            "https://a/\r\nX: y",
            "https://a/é",
            "https://a/#b",
            "https://a:0/",
            "https://a:99999/",
            "https://a:x/",
            "https://[::1/",
            "https://[a]/",
            "https://[::1]x/",
        ] {
            assert_eq!(Url::parse(bad), Err(UrlError), "{bad:?}");
        }
    }
}
