//! Answers to requests: pages, JSON documents and events.

use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};

use super::guard::{self, PageAccess};
use super::live::Live;
use super::response::{Body, TEXT, text};
use super::{api, events};
use crate::render::{render, render_loading};
use crate::view::PageView;

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";

/// Answers requests with the latest snapshot.
#[derive(Clone)]
pub(super) struct PageHandler {
    pub(super) live: Arc<Live>,
    pub(super) access: PageAccess,
}

impl PageHandler {
    pub(super) fn new(live: Arc<Live>, access: PageAccess) -> Self {
        Self { live, access }
    }

    pub(super) async fn respond<B>(&self, request: &Request<B>) -> Response<Body> {
        guard::respond(&self.access, request, self.answer(request)).await
    }

    async fn answer<B>(&self, request: &Request<B>) -> Response<Body> {
        let (path, query) = (request.uri().path(), request.uri().query());
        let is_head = request.method() == Method::HEAD;
        match path {
            "/page.css" => text(StatusCode::OK, "text/css; charset=utf-8", crate::stylesheet()),
            "/page.js" => {
                text(StatusCode::OK, "text/javascript; charset=utf-8", crate::SCRIPT.to_owned())
            }
            // Browsers ask for the second by themselves.
            "/icon.svg" | "/favicon.ico" => {
                text(StatusCode::OK, "image/svg+xml", crate::ICON.to_owned())
            }
            "/api/v1/events" if is_head => text(StatusCode::OK, events::TYPE, String::new()),
            "/api/v1/events" => events::open(&self.live, request.headers()),
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
        let Some(view) = PageView::parse(path, query) else { return not_found() };
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
