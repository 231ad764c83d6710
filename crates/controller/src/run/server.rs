//! HTTP server for metrics and probes, on separate listeners.
//!
//! Neither port authenticates clients. So a connection serves one request and ends soon, and a listener with
//! too many connections closes the oldest: idle connections never delay a probe.

use std::collections::VecDeque;
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
use tokio::task::{AbortHandle, JoinSet};

use super::{Clock, Health};
use crate::metrics::Metrics;

/// Time in which a client sends the head of its request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(15);
/// Connections per listener; above it the oldest is closed.
const MAX_CONNECTIONS: usize = 32;

#[derive(Clone)]
pub enum Pages {
    Metrics(Arc<Metrics>),
    Probes(Arc<Health>, Clock),
}

impl Pages {
    /// Returns status, content type and text of a page.
    pub fn page(&self, path: &str) -> (StatusCode, &'static str, String) {
        const PLAIN: &str = "text/plain; charset=utf-8";
        let state = match (self, path) {
            (Self::Metrics(metrics), "/metrics") => {
                let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                return (StatusCode::OK, kind, metrics.text());
            }
            (Self::Probes(health, clock), "/healthz") => health.healthz(clock()),
            (Self::Probes(health, clock), "/readyz") => health.readyz(clock()),
            _ => return (StatusCode::NOT_FOUND, PLAIN, "not found\n".to_owned()),
        };
        match state {
            Ok(()) => (StatusCode::OK, PLAIN, "ok\n".to_owned()),
            Err(why) => (StatusCode::SERVICE_UNAVAILABLE, PLAIN, format!("{why}\n")),
        }
    }
}

/// Serves the pages of a listener. Never ends; when dropped, it closes all connections.
pub async fn serve(listener: TcpListener, pages: Pages) {
    let mut connections = JoinSet::new();
    let mut open: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // For example out of file descriptors, which may be released soon.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        open.retain(|connection| !connection.is_finished());
        if open.len() >= MAX_CONNECTIONS
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        let pages = pages.clone();
        open.push_back(connections.spawn(async move {
            let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
                let (status, kind, text) = pages.page(request.uri().path());
                let mut response = http::Response::new(Full::new(Bytes::from(text)));
                *response.status_mut() = status;
                let kind = http::HeaderValue::from_static(kind);
                response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
                std::future::ready(Ok::<_, Infallible>(response))
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), service);
            let _ = tokio::time::timeout(CONNECTION_TIMEOUT, connection).await;
        }));
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    use super::*;

    async fn probes() -> (std::net::SocketAddr, JoinSet<()>) {
        let clock: Clock = Arc::new(|| jiff::Timestamp::UNIX_EPOCH);
        let pages = Pages::Probes(Arc::new(Health::new(clock())), clock);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut server = JoinSet::new();
        server.spawn(serve(listener, pages));
        (address, server)
    }

    async fn get(address: std::net::SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        response
    }

    #[tokio::test]
    async fn idle_connections_do_not_delay_a_probe() {
        let (address, _server) = probes().await;
        let mut idle = Vec::new();
        for number in 0..64_u8 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            // Some send nothing, some half of a request.
            if number % 2 == 0 {
                stream.write_all(b"GET /healthz HTTP/1.1\r\nHost").await.unwrap();
            }
            idle.push(stream);
        }
        // Before any timeout of the server, which would end them as well.
        let response = tokio::time::timeout(HEAD_TIMEOUT / 2, get(address, "/healthz")).await;
        let response = response.expect("the probe waits for idle connections");
        assert!(response.starts_with("HTTP/1.1 200") && response.ends_with("ok\n"), "{response}");
        // The oldest were closed for it, and the youngest were not.
        let mut bytes = [0; 1];
        for stream in &mut idle[..32] {
            let read = tokio::time::timeout(HEAD_TIMEOUT / 4, stream.read(&mut bytes)).await;
            assert_eq!(read.expect("it is open").unwrap_or_default(), 0);
        }
        for stream in &idle[60..] {
            let read = stream.try_read(&mut bytes);
            assert!(read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn idle_connections_are_closed() {
        let (address, _server) = probes().await;
        let started = tokio::time::Instant::now();
        for half in ["", "GET /healthz HTTP/1.1\r\nHost"] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(half.as_bytes()).await.unwrap();
            let mut response = Vec::new();
            let _ = stream.read_to_end(&mut response).await;
        }
        assert!(started.elapsed() <= CONNECTION_TIMEOUT * 2, "{:?}", started.elapsed());
    }

    #[test]
    fn probes_and_metrics_have_separate_listeners() {
        let clock: Clock = Arc::new(|| jiff::Timestamp::UNIX_EPOCH);
        let probes = Pages::Probes(Arc::new(Health::new(clock())), clock);
        let metrics = Pages::Metrics(Arc::new(Metrics::new()));
        let status = |pages: &Pages, path: &str| pages.page(path).0.as_u16();
        assert_eq!(status(&probes, "/readyz"), 503, "nothing is synced");
        assert!(metrics.page("/metrics").1.starts_with("application/openmetrics-text;"));
        assert_eq!((status(&probes, "/healthz"), status(&probes, "/metrics")), (200, 404));
        assert_eq!((status(&metrics, "/metrics"), status(&metrics, "/healthz")), (200, 404));
    }
}
