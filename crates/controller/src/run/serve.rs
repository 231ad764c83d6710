//! A few pages over plain HTTP: metrics and health.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::{Clock, Health};
use crate::metrics::Metrics;

/// Who asks sends its head by then.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// A connection ends by then, whatever it does.
const ENDS_WITHIN: Duration = Duration::from_mins(2);
/// More connections than this wait.
const MOST_CONNECTIONS: usize = 32;

/// What the pages show.
#[derive(Clone)]
pub struct Answers {
    /// The time.
    pub clock: Clock,
    /// `/metrics`.
    pub metrics: Arc<Metrics>,
    /// `/healthz` and `/readyz`.
    pub health: Arc<Health>,
}

impl Answers {
    /// The page at a path: its status, type and text.
    #[must_use]
    pub fn page(&self, path: &str) -> (StatusCode, &'static str, String) {
        const PLAIN: &str = "text/plain; charset=utf-8";
        let state = match path {
            "/metrics" => {
                let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                return (StatusCode::OK, kind, self.metrics.text());
            }
            "/healthz" => self.health.healthz((self.clock)()),
            "/readyz" => self.health.readyz((self.clock)()),
            _ => return (StatusCode::NOT_FOUND, PLAIN, "not found\n".to_owned()),
        };
        match state {
            Ok(()) => (StatusCode::OK, PLAIN, "ok\n".to_owned()),
            Err(why) => (StatusCode::SERVICE_UNAVAILABLE, PLAIN, format!("{why}\n")),
        }
    }
}

/// Serves the pages for ever.
pub async fn serve(listener: TcpListener, answers: Answers) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file handles, for example: others may give some back.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let answers = answers.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
                let (status, kind, text) = answers.page(request.uri().path());
                let mut response = http::Response::new(Full::new(Bytes::from(text)));
                *response.status_mut() = status;
                let kind = http::HeaderValue::from_static(kind);
                response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
                std::future::ready(Ok::<_, Infallible>(response))
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_WITHIN)
                .serve_connection(TokioIo::new(stream), service);
            let _ = tokio::time::timeout(ENDS_WITHIN, connection).await;
            drop(place);
        });
    }
}
