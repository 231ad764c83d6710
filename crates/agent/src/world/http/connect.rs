//! DNS, TCP, a proxy's tunnel, and a request from the first to the last byte.

use std::io::{BufReader, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mooring_redact::ProxyUrl;
use percent_encoding::percent_decode_str;

use crate::world::http::message::{self, HttpRequest, HttpResponse};
use crate::world::http::tls::{self, Dial, Roots};
use crate::world::http::{
    Duplex, HttpFailure, HttpFailureKind, Limited, Limits, Phase, Url, split_authority,
};
use crate::world::tool;

/// Longer than a resolver's first timeout of 5 seconds, so that it also queries its second server.
const LOOK_UP: Duration = Duration::from_secs(10);
/// Three lost packets: the kernel tries again after 1, 3 and 7 seconds.
const CONNECT: Duration = Duration::from_secs(10);
/// A proxy connects to the server before it responds.
const TUNNEL: Duration = Duration::from_secs(15);

fn open(host: &str, port: u16, limits: &Limits) -> Result<Box<dyn Duplex>, HttpFailure> {
    let addresses = look_up(host, port, limits)?;
    limits.phase(CONNECT);
    let mut refused = None;
    for (tried, address) in addresses.iter().enumerate() {
        let Ok(left) = limits.remaining() else { break };
        // An unreachable address must leave time for the others.
        let others = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        match TcpStream::connect_timeout(address, left / others) {
            Ok(tcp) => {
                // The request is one small write; it need not wait for company.
                let _ = tcp.set_nodelay(true);
                return Ok(Box::new(Limited { tcp, limits: limits.clone() }));
            }
            Err(error) if error.kind() == std::io::ErrorKind::TimedOut => {}
            Err(error) => refused = Some((address, error)),
        }
    }
    Err(match refused {
        None => HttpFailure::timed_out(Phase::Connect),
        Some((address, error)) => HttpFailure::new(
            HttpFailureKind::Connect,
            format!("cannot connect to {address}: {error}"),
        ),
    })
}

/// Looks a name up as the node's own tools do, with its C library. The agent is a static program with another one, which
/// fails if a name does not exist for either IPv4 or IPv6; the node's uses the other response.
fn ask_node(name: &str, port: u16) -> Vec<SocketAddr> {
    let printed = tool::probe("getent", &["ahosts".as_ref(), name.as_ref()], tool::PROBE_TIMEOUT);
    let printed = printed.and_then(|probe| probe()).unwrap_or_default();
    let mut addresses = Vec::new();
    for line in String::from_utf8_lossy(&printed).lines() {
        let address = line.split_ascii_whitespace().next().and_then(|word| word.parse().ok());
        let Some(address) = address.map(|address| SocketAddr::new(address, port)) else { continue };
        // There is a line for each kind of socket.
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    addresses
}

/// Resolves in another thread, since the system's resolver has no deadline.
fn look_up(host: &str, port: u16, limits: &Limits) -> Result<Vec<SocketAddr>, HttpFailure> {
    if let Ok(address) = host.parse() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    limits.phase(LOOK_UP);
    let failed = |text: String| {
        let text = format!("DNS: no address for {host}: {text}");
        HttpFailure::new(HttpFailureKind::Dns, text)
    };
    let (sender, answer) = mpsc::channel();
    let name = host.to_owned();
    thread::Builder::new()
        .name("resolver".to_owned())
        .spawn(move || {
            let found = (name.as_str(), port).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
            let found = match found {
                Ok(addresses) if !addresses.is_empty() => Ok(addresses),
                failed => match ask_node(&name, port) {
                    addresses if addresses.is_empty() => failed,
                    addresses => Ok(addresses),
                },
            };
            let _ = sender.send(found);
        })
        .map_err(|error| failed(error.to_string()))?;
    let left = limits.remaining().unwrap_or_default();
    match answer.recv_timeout(left) {
        Ok(Ok(addresses)) if !addresses.is_empty() => Ok(addresses),
        Ok(Ok(_)) => Err(failed("the response is empty".to_owned())),
        Ok(Err(error)) => Err(failed(error.to_string())),
        // A resolver that is silent is still the resolver.
        Err(_) => Err(failed("no answer in time".to_owned())),
    }
}

fn tunnel(
    proxy: &ProxyUrl,
    url: &Url,
    roots: &Roots,
    limits: &Limits,
) -> Result<Box<dyn Duplex>, HttpFailure> {
    let failed = |status, text: String| HttpFailure::new(HttpFailureKind::Proxy(status), text);
    let Some(Proxy { tls, host, port, user_info }) = Proxy::parse(proxy) else {
        return Err(failed(None, "the proxy's address cannot be understood".to_owned()));
    };
    let through = |failure: HttpFailure| {
        let text = format!("proxy {host}: {}", failure.text);
        HttpFailure { kind: failure.kind, text }
    };
    let mut stream = open(&host, port, limits).map_err(through)?;
    if tls {
        let config = roots.config().map_err(through)?;
        stream = Box::new(tls::handshake(stream, &host, config, limits).map_err(through)?);
    }
    limits.phase(TUNNEL);
    let target = url.authority_with_port();
    let who = user_info.map_or(String::new(), |user_info| {
        format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(user_info))
    });
    let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{who}\r\n");
    stream
        .write_all(request.as_bytes())
        .and_then(|()| stream.flush())
        .map_err(|error| through(tls::failure(Phase::Tunnel, &error)))?;
    // The head of a success is followed by the server's TLS, of which a buffer must not consume a byte;
    // the server sends only after the client, so nothing has arrived yet.
    let mut reader = BufReader::with_capacity(1, stream);
    let (status, _) = message::read_head(&mut reader, Phase::Tunnel).map_err(through)?;
    if !(200..300).contains(&status) {
        let text = format!("the proxy {host} returned {status} for {target}");
        return Err(failed(Some(status), text));
    }
    Ok(reader.into_inner())
}

/// A proxy's address, taken apart.
struct Proxy {
    tls: bool,
    host: String,
    port: u16,
    /// Returns the decoded `user:password`.
    user_info: Option<Vec<u8>>,
}

impl Proxy {
    /// `http://user:password@host:port`; scheme, user and port may be missing.
    fn parse(proxy: &ProxyUrl) -> Option<Self> {
        let text = proxy.expose();
        let (tls, rest) = match text.split_once("://") {
            None => (false, text),
            Some(("http", rest)) => (false, rest),
            Some(("https", rest)) => (true, rest),
            Some(_) => return None,
        };
        let (user_info, rest) = match rest.rsplit_once('@') {
            None => (None, rest),
            Some((user_info, rest)) => (Some(percent_decode_str(user_info).collect()), rest),
        };
        let authority = rest.split('/').next().unwrap_or_default();
        let (host, port) = split_authority(authority)?;
        let port = port.unwrap_or(if tls { 443 } else { 80 });
        Some(Self { tls, host: host.to_owned(), port, user_info })
    }
}

/// Looks a name up and connects to it.
pub(in crate::world) fn connect(host: &str, port: u16, limit: Duration) -> Result<(), HttpFailure> {
    open(host, port, &Limits::within(limit)).map(drop)
}

/// Opens a connection with TLS to `address`, which is the dialed host's own unless a test has another.
pub(in crate::world) fn dial(
    dial: &Dial<'_>,
    address: (&str, u16),
) -> Result<Box<dyn Duplex>, HttpFailure> {
    // Fails without a CA, before a connection is opened.
    let config = tls::pinned(dial)?;
    let limits = Limits::within(dial.limit);
    let stream = open(address.0, address.1, &limits)?;
    let stream = tls::handshake(stream, dial.host, &config, &limits)?;
    if stream.conn.alpn_protocol().is_none() {
        return Err(tls::failed(&"the server selected no application protocol"));
    }
    limits.no_phase();
    Ok(Box::new(stream))
}

/// Sends a request and reads the whole response.
pub(in crate::world) fn fetch(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpFailure> {
    let limits = Limits::within(request.limit);
    let mut stream = open_for(request, &limits)?;
    limits.no_phase();
    message::write_request(request)
        .and_then(|bytes| stream.write_all(&bytes))
        .and_then(|()| stream.flush())
        .map_err(|error| tls::failure(Phase::Request, &error))?;
    message::read_response(&mut BufReader::new(stream))
}

fn open_for(request: &HttpRequest<'_>, limits: &Limits) -> Result<Box<dyn Duplex>, HttpFailure> {
    let url = request.url;
    if !url.tls {
        return open(&url.host, url.port, limits);
    }
    let stream = match request.proxy {
        None => open(&url.host, url.port, limits)?,
        Some(proxy) => tunnel(proxy, url, request.roots, limits)?,
    };
    Ok(Box::new(tls::handshake(stream, &url.host, request.roots.config()?, limits)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(bool, String, u16, Option<Vec<u8>>)> {
        Proxy::parse(&text.into()).map(|p| (p.tls, p.host, p.port, p.user_info))
    }

    #[test]
    fn proxies_are_parsed_in_common_forms() {
        let of = |tls, host: &str, port| Some((tls, host.to_owned(), port, None));
        assert_eq!(parsed("http://proxy:3128/"), of(false, "proxy", 3128));
        assert_eq!(parsed("proxy:3128"), of(false, "proxy", 3128));
        assert_eq!(parsed("https://proxy"), of(true, "proxy", 443));
        assert_eq!(parsed("socks5://proxy"), None);
        assert_eq!(parsed("http://"), None);
        let (.., user_info) = parsed("http://u:p%40%zz@proxy").unwrap();
        assert_eq!(user_info.as_deref(), Some(&b"u:p@%zz"[..]));
    }
}
