//! Responses, with the headers that every one has.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, REFRESH, SET_COOKIE};
use http::{Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};

pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;

pub(super) const TEXT: &str = "text/plain; charset=utf-8";

pub(super) const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) fn empty() -> Body {
    Full::new(Bytes::new()).boxed_unsync()
}

pub(super) fn text(status: StatusCode, kind: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Sets the cookie of the key, and has the browser open the address without the key. A redirect would not do: it would
/// still be a request of the file that opened the page, and have no cookie.
pub(super) fn welcome(cookie: &str, location: &str) -> Response<Body> {
    let mut response = text(StatusCode::OK, TEXT, "Opening the page.\n".to_owned());
    let refresh = format!("0; url={location}");
    for (name, value) in [(SET_COOKIE, cookie), (REFRESH, refresh.as_str())] {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

pub(super) fn add_headers(response: &mut Response<Body>) {
    let headers = response.headers_mut();
    for (name, value) in [
        (HeaderName::from_static("content-security-policy"), CSP),
        (HeaderName::from_static("x-content-type-options"), "nosniff"),
        (HeaderName::from_static("referrer-policy"), "no-referrer"),
        (CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
