//! HTTP: pages, JSON documents and events. GET and HEAD only.

mod api;
mod connections;
mod events;
mod forward;
mod guard;
mod live;

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, SET_COOKIE};
use http::{Method, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};

pub use connections::serve;
pub use events::MAX_STREAMS;
pub use forward::{Connect, Connecting, serve_forwarded};
pub use guard::Access;
pub use live::Live;

use crate::render::{render, render_loading};
use crate::view::View;
use guard::Decision;

pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Answers requests with the latest snapshot.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) live: Arc<Live>,
    pub(crate) access: Access,
    pub(crate) streams: events::Streams,
}

impl Handler {
    pub(crate) fn new(live: Arc<Live>, access: Access) -> Self {
        Self { live, access, streams: events::Streams::default() }
    }

    pub(crate) async fn respond<B>(&self, request: &Request<B>) -> Response<Body> {
        let mut response = match guard::decide(&self.access, request) {
            Decision::Refuse(status, why) => text(status, TEXT, format!("{why}\n")),
            Decision::SetCookie(cookie, location) => redirect(&cookie, &location),
            Decision::Allow => self.answer(request).await,
        };
        if request.method() == Method::HEAD {
            *response.body_mut() = empty();
        }
        add_headers(&mut response);
        response
    }

    async fn answer<B>(&self, request: &Request<B>) -> Response<Body> {
        let (path, query) = (request.uri().path(), request.uri().query());
        let is_head = request.method() == Method::HEAD;
        match path {
            "/page.css" => text(StatusCode::OK, "text/css; charset=utf-8", crate::stylesheet()),
            "/page.js" => {
                text(StatusCode::OK, "text/javascript; charset=utf-8", crate::SCRIPT.to_owned())
            }
            "/icon.svg" => text(StatusCode::OK, "image/svg+xml", crate::ICON.to_owned()),
            "/api/v1/events" if is_head => text(StatusCode::OK, events::TYPE, String::new()),
            "/api/v1/events" => self.streams.open(&self.live, request.headers()),
            _ if path.starts_with("/api/") => self.document(path, query, is_head).await,
            _ => self.page(path, query).await,
        }
    }

    async fn document(&self, path: &str, query: Option<&str>, is_head: bool) -> Response<Body> {
        let Some(published) = self.live.current().await else {
            let why = self.live.error().unwrap_or_else(|| "the cluster is being read".to_owned());
            return text(StatusCode::SERVICE_UNAVAILABLE, TEXT, why + "\n");
        };
        if is_head {
            return text(StatusCode::OK, JSON, String::new());
        }
        match api::document(&published.snapshot, path, query) {
            Some(json) => text(StatusCode::OK, JSON, json),
            None => not_found(),
        }
    }

    async fn page(&self, path: &str, query: Option<&str>) -> Response<Body> {
        let Some(view) = View::parse(path, query) else { return not_found() };
        let Some(published) = self.live.current().await else {
            let why = self.live.error();
            return text(StatusCode::OK, HTML, render_loading(why.as_deref()));
        };
        let (exists, html) = render(&published.snapshot, &view);
        let status = if exists { StatusCode::OK } else { StatusCode::NOT_FOUND };
        text(status, HTML, html)
    }
}

fn not_found() -> Response<Body> {
    text(StatusCode::NOT_FOUND, TEXT, "not found\n".to_owned())
}

fn empty() -> Body {
    Full::new(Bytes::new()).boxed_unsync()
}

fn text(status: StatusCode, kind: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Sets the cookie of the key, and removes the key from the address.
fn redirect(cookie: &str, location: &str) -> Response<Body> {
    let mut response = text(StatusCode::SEE_OTHER, TEXT, String::new());
    for (name, value) in [(SET_COOKIE, cookie), (LOCATION, location)] {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn add_headers(response: &mut Response<Body>) {
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

#[cfg(test)]
mod tests;
