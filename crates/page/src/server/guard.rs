//! Requests that are refused: other methods, other hosts, other sites, a missing key.

use http::header::{COOKIE, HOST};
use http::{HeaderMap, Method, Request, Response, StatusCode};

use super::response::{Body, TEXT, add_headers, empty, redirect, text};

/// Who may read the page, apart from being on the loopback interface.
#[derive(Clone)]
pub enum PageAccess {
    /// Everyone who reaches the port, which a port-forward of the API server guards.
    Port,
    /// Clients that know a key. The cookie has the name of the port: cookies are shared by all ports of a host.
    Key { key: String, port: u16 },
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
        Decision::SetCookie(cookie, location) => redirect(&cookie, &location),
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
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    if site == Some("cross-site") {
        return Decision::Refuse(StatusCode::FORBIDDEN, "requests of other sites are refused");
    }
    let PageAccess::Key { key, port } = access else { return Decision::Allow };
    let name = format!("mooring-{port}");
    if let Some(given) = key_of(request.uri().query()) {
        if !is_same(given, key) {
            return Decision::Refuse(StatusCode::FORBIDDEN, "wrong key");
        }
        let cookie = format!("{name}={key}; HttpOnly; SameSite=Strict; Path=/");
        return Decision::SetCookie(cookie, without_key(request.uri()));
    }
    if cookie(headers, &name).is_some_and(|given| is_same(given, key)) {
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

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).map(str::trim);
    pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
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
