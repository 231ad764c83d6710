//! Requests for other hosts are rejected: a web page whose name resolves to this address (DNS
//! rebinding) cannot reach a model.

use std::net::IpAddr;
use std::sync::Arc;

use futures::future::BoxFuture;
use http::StatusCode;

use super::connection::Service;
use crate::exchange::{Request, ServerReply, plain};

/// A service that accepts only requests for its own host.
pub struct HostCheck {
    address: IpAddr,
    service: Arc<dyn Service>,
}

impl HostCheck {
    /// Checks requests to a service that listens on this address.
    pub fn new(address: IpAddr, service: Arc<dyn Service>) -> Self {
        Self { address, service }
    }
}

impl Service for HostCheck {
    fn call(&self, request: Request) -> BoxFuture<'static, ServerReply> {
        if is_served(host_of(&request), self.address) {
            return self.service.call(request);
        }
        let why = "this simulation is not served under the name in the Host header\n";
        let response = plain(StatusCode::MISDIRECTED_REQUEST, why);
        Box::pin(async move { ServerReply::Answer(response) })
    }
}

fn host_of(request: &Request) -> Option<&str> {
    let header = request.headers().get(http::header::HOST);
    let host = match header {
        Some(value) => value.to_str().ok()?,
        // HTTP/2 has it in the URI.
        None => return request.uri().host(),
    };
    // An IPv6 address is in brackets, so its colons are not the port's.
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => Some(name),
        _ => Some(host),
    }
}

/// Returns true for `localhost`, loopback, and the listening address. A listener on every address
/// has many, none of which is a name.
fn is_served(host: Option<&str>, address: IpAddr) -> bool {
    let Some(host) = host else { return false };
    if host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    let Ok(asked) = host.trim_matches(['[', ']']).parse::<IpAddr>() else { return false };
    asked.is_loopback() || asked == address || address.is_unspecified()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn served(host: Option<&str>, uri: &str, address: &str) -> bool {
        let mut request = http::Request::get(uri);
        if let Some(host) = host {
            request = request.header("host", host);
        }
        let request = request.body(Bytes::new()).unwrap();
        is_served(host_of(&request), address.parse().unwrap())
    }

    #[test]
    fn requests_for_other_hosts_are_rejected() {
        for host in ["127.0.0.1:8443", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8443"] {
            assert!(served(Some(host), "/", "127.0.0.1"), "{host}");
        }
        for host in ["evil.example", "evil.example:8443", "localhost.evil.example", "10.0.0.1", ""]
        {
            assert!(!served(Some(host), "/", "127.0.0.1"), "{host}");
        }
        assert!(!served(None, "/", "127.0.0.1"));
        assert!(served(None, "https://127.0.0.1:8443/x", "127.0.0.1"), "HTTP/2");
        assert!(!served(None, "https://evil.example/x", "127.0.0.1"), "HTTP/2");
        assert!(!served(Some("evil.example"), "https://127.0.0.1/x", "127.0.0.1"));
        assert!(served(Some("10.0.0.1:8443"), "/", "10.0.0.1"));
        assert!(served(Some("10.0.0.1:8443"), "/", "0.0.0.0"));
        assert!(!served(Some("evil.example"), "/", "0.0.0.0"));
    }
}
