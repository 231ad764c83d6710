//! Requests that are refused: other methods, other hosts, other sites, a missing key.

use std::sync::{Arc, Mutex, PoisonError};

use http::header::{COOKIE, HOST};
use http::{HeaderMap, Method, Request, Response, StatusCode};

use super::response::{Body, TEXT, add_headers, empty, text, welcome};

/// Who may read the page, apart from being on the loopback interface.
#[derive(Clone)]
pub enum PageAccess {
    /// Everyone who reaches the port, which a port-forward of the API server guards.
    Port,
    /// The browser that used the key first.
    Key(PageKey),
}

/// A key that works once. A browser that brings it gets a cookie with another secret, so that nothing that shows the
/// address later, such as a history or a screen, opens the page.
#[derive(Clone)]
pub struct PageKey {
    /// None after its use.
    key: Arc<Mutex<Option<String>>>,
    /// `NAME=SECRET`. The name has the port: cookies are shared by all ports of a host.
    cookie: String,
}

impl PageKey {
    pub fn new(key: String, secret: &str, port: u16) -> Self {
        let key = Arc::new(Mutex::new(Some(key)));
        Self { key, cookie: format!("mooring-{port}={secret}") }
    }

    /// Returns true, once, for the key.
    fn take(&self, given: &str) -> bool {
        let mut key = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        key.take_if(|key| is_same(given, key)).is_some()
    }

    fn is_in(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|value| value.split(';')).map(str::trim);
        pairs.any(|pair| is_same(pair, &self.cookie))
    }
}

enum Decision {
    Allow,
    Refuse(StatusCode, &'static str),
    /// The address has the key: cookie and address without it.
    SetCookie(String, String),
}

/// Answers a request that is allowed, and refuses others. The answer to HEAD has no body.
pub(super) async fn respond<B>(
    access: &PageAccess,
    request: &Request<B>,
    answer: impl Future<Output = Response<Body>>,
) -> Response<Body> {
    let mut response = match decide(access, request) {
        Decision::Refuse(status, why) => text(status, TEXT, format!("{why}\n")),
        Decision::SetCookie(cookie, location) => welcome(&cookie, &location),
        Decision::Allow => answer.await,
    };
    if request.method() == Method::HEAD {
        *response.body_mut() = empty();
    }
    add_headers(&mut response);
    response
}

fn decide<B>(access: &PageAccess, request: &Request<B>) -> Decision {
    let headers = request.headers();
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return Decision::Refuse(StatusCode::METHOD_NOT_ALLOWED, "read-only: GET and HEAD only");
    }
    // Another site may resolve its name to this address.
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !is_loopback(host) {
        return Decision::Refuse(StatusCode::FORBIDDEN, "the host is not a loopback address");
    }
    let key = match access {
        PageAccess::Port => None,
        PageAccess::Key(key) => Some(key),
    };
    if let Some((key, given)) = key.zip(key_of(request.uri().query())) {
        // A file that opens the page is another site; it knows the key.
        if !key.is_in(headers) && !key.take(given) {
            let why = "the key is wrong or was used before; run `mooring ui` again";
            return Decision::Refuse(StatusCode::FORBIDDEN, why);
        }
        let cookie = format!("{}; HttpOnly; SameSite=Strict; Path=/", key.cookie);
        return Decision::SetCookie(cookie, without_key(request.uri()));
    }
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    if site == Some("cross-site") {
        return Decision::Refuse(StatusCode::FORBIDDEN, "requests of other sites are refused");
    }
    if key.is_none_or(|key| key.is_in(headers)) {
        return Decision::Allow;
    }
    Decision::Refuse(StatusCode::FORBIDDEN, "open the address that `mooring ui` printed")
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn key_of(query: Option<&str>) -> Option<&str> {
    query?.split('&').find_map(|pair| pair.strip_prefix("key="))
}

fn without_key(uri: &http::Uri) -> String {
    let pairs = uri.query().unwrap_or_default().split('&');
    let kept: Vec<&str> = pairs.filter(|pair| !pair.starts_with("key=")).collect();
    // A path that begins with two slashes would name another host.
    let path = format!("/{}", uri.path().trim_start_matches('/'));
    if kept.is_empty() { path } else { format!("{path}?{}", kept.join("&")) }
}

/// Compares without a shortcut, so that the time does not show how much of a key is right.
fn is_same(given: &str, key: &str) -> bool {
    let difference = given.bytes().zip(key.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == key.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_loopback_hosts_are_accepted() {
        for host in ["127.0.0.1", "127.0.0.1:8082", "localhost:1", "LOCALHOST", "[::1]", "[::1]:80"]
        {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "127.0.0.1.evil.example:80",
            "10.0.0.1",
            "localhost.x",
            "[::2]:1",
            "::1",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
