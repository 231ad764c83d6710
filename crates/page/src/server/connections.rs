//! Connections of browsers.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::guard::PageAccess;
use super::handler::PageHandler;
use super::live::{Live, MAX_STREAMS};
use super::response::Body;

/// Time in which a client sends the head of its request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections in addition to those of streams.
const MAX_REQUESTS: usize = 48;

/// Serves the page on a listener of the loopback interface. Never ends; when dropped, it closes all connections.
pub async fn serve(listener: TcpListener, live: Arc<Live>, access: PageAccess) {
    let handler = PageHandler::new(live, access);
    accept(listener, move |request: Request<Incoming>| {
        let handler = handler.clone();
        async move { handler.respond(&request).await }
    })
    .await;
}

/// Accepts connections, and answers their requests.
pub(super) async fn accept<F, R>(listener: TcpListener, respond: F)
where
    F: Fn(Request<Incoming>) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Response<Body>> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(MAX_STREAMS + MAX_REQUESTS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // For example out of file descriptors, which may be released soon.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let respond = respond.clone();
        connections.spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let response = respond(request);
                async move { Ok::<_, Infallible>(response.await) }
            });
            // A client that closed its connection is not an error.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .serve_connection(TokioIo::new(stream), service)
                .await;
            drop(place);
        });
    }
}
