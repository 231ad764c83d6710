//! Connections and requests.

use std::io::{BufReader, Write as _};
use std::time::Duration;

use super::connect::{self};
use super::deadline::{Duplex, Limits};
use super::failure::{HttpFailure, Phase};
use super::message::{self, HttpRequest, HttpResponse};
use super::tls::{self, Dial};

/// Looks a name up and connects to it.
pub(in crate::world) fn connect(host: &str, port: u16, limit: Duration) -> Result<(), HttpFailure> {
    connect::open(host, port, &Limits::within(limit)).map(drop)
}

/// Opens a connection with TLS to `address`, which is the dialed host's own unless a test has another.
pub(in crate::world) fn dial(
    dial: &Dial<'_>,
    address: (&str, u16),
) -> Result<Box<dyn Duplex>, HttpFailure> {
    // Fails without a CA, before a connection is opened.
    let config = tls::pinned(dial)?;
    let limits = Limits::within(dial.limit);
    let stream = connect::open(address.0, address.1, &limits)?;
    let stream = tls::handshake_with(stream, dial.host, &config, &limits)?;
    limits.no_phase();
    Ok(stream)
}

/// Sends a request and reads the whole response.
pub(in crate::world) fn fetch(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpFailure> {
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
