//! The page of another server, for browsers that know a key.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;

use http::header::{ACCEPT, HOST};
use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::DuplexStream;
use tokio::net::TcpListener;

use super::connections::{accept, streams};
use super::guard::{self, PageAccess};
use super::response::{Body, TEXT, text};

pub type Connecting = Pin<Box<dyn Future<Output = Result<DuplexStream, String>> + Send>>;

/// Opens a connection to the other server.
pub type Connect = Arc<dyn Fn() -> Connecting + Send + Sync>;

/// Serves the page of another server, with a connection for each request. Never ends.
pub async fn serve_forwarded(listener: TcpListener, access: PageAccess, connect: Connect) {
    accept(streams(listener), move |request: Request<hyper::body::Incoming>| {
        let (access, connect) = (access.clone(), Arc::clone(&connect));
        async move { respond(&access, &connect, &request).await }
    })
    .await;
}

async fn respond<B>(
    access: &PageAccess,
    connect: &Connect,
    request: &Request<B>,
) -> Response<Body> {
    let failed = |why| text(StatusCode::BAD_GATEWAY, TEXT, format!("{why}\n"));
    let forwarded = async { forward(connect, request).await.unwrap_or_else(failed) };
    guard::respond(access, request, forwarded).await
}

async fn forward<B>(connect: &Connect, request: &Request<B>) -> Result<Response<Body>, String> {
    let stream = connect().await?;
    let failed = |error: hyper::Error| error.to_string();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    tokio::spawn(connection);
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let mut upstream = Request::new(Empty::<bytes::Bytes>::new());
    *upstream.method_mut() = request.method().clone();
    *upstream.uri_mut() = target.parse().map_err(|_| "invalid address".to_owned())?;
    // The cookie stays here.
    let headers = upstream.headers_mut();
    headers.insert(HOST, HeaderValue::from_static("127.0.0.1"));
    for name in [ACCEPT, HeaderName::from_static("last-event-id")] {
        if let Some(value) = request.headers().get(&name) {
            headers.insert(name, value.clone());
        }
    }
    let response = sender.send_request(upstream).await.map_err(failed)?;
    let (parts, body) = response.into_parts();
    let mut forwarded = Response::new(end_on_error(body));
    *forwarded.status_mut() = parts.status;
    if let Some(kind) = parts.headers.get(http::header::CONTENT_TYPE) {
        forwarded.headers_mut().insert(http::header::CONTENT_TYPE, kind.clone());
    }
    Ok(forwarded)
}

/// Ends a body where its connection breaks; the browser connects again.
fn end_on_error(body: hyper::body::Incoming) -> Body {
    let frames = futures::stream::unfold(body, |mut body| async move {
        let frame = body.frame().await?.ok()?;
        Some((Ok::<_, Infallible>(frame), body))
    });
    http_body_util::StreamBody::new(frames).boxed_unsync()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::morning;
    use crate::server::guard::PageKey;
    use crate::server::handler::PageHandler;
    use crate::server::live::Live;
    use crate::server::response::CSP;
    use hyper::service::service_fn;

    /// Returns connections to a page in this process.
    fn page() -> Connect {
        let live = Arc::new(Live::default());
        live.publish(morning());
        let handler = PageHandler::new(live, PageAccess::Port);
        Arc::new(move || {
            let (near, far) = tokio::io::duplex(4096);
            let handler = handler.clone();
            tokio::spawn(async move {
                let service = service_fn(|request: Request<hyper::body::Incoming>| {
                    let handler = handler.clone();
                    async move { Ok::<_, Infallible>(handler.respond(&request).await) }
                });
                let server = hyper::server::conn::http1::Builder::new();
                let _ = server.serve_connection(TokioIo::new(far), service).await;
            });
            Box::pin(std::future::ready(Ok(near)))
        })
    }

    fn request(address: &str, cookie: &str) -> Request<()> {
        let request = Request::get(address).header(HOST, "127.0.0.1:41873");
        request.header("cookie", cookie).body(()).unwrap()
    }

    #[tokio::test]
    async fn page_of_the_controller_is_forwarded_to_clients_with_the_key() {
        let access = PageAccess::Key(PageKey::new("k".to_owned(), "s", 41873));
        let connect = page();
        let response =
            respond(&access, &connect, &request("/failures?since=7d", "mooring-41873=s")).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-security-policy"], CSP);
        let html = response.into_body().collect().await.unwrap().to_bytes();
        assert!(String::from_utf8_lossy(&html).contains("Failures in the last 7 days"));
        assert_eq!(respond(&access, &connect, &request("/", "")).await.status(), 403);
        let mut events =
            respond(&access, &connect, &request("/api/v1/events", "mooring-41873=s")).await;
        assert_eq!(events.headers()["content-type"], "text/event-stream");
        assert!(events.body_mut().frame().await.is_some(), "the stream is not collected first");
    }

    #[tokio::test]
    async fn failed_connection_is_an_error_of_the_server() {
        let connect: Connect = Arc::new(|| Box::pin(std::future::ready(Err("no pod".to_owned()))));
        let response = respond(&PageAccess::Port, &connect, &request("/", "")).await;
        assert_eq!(response.status(), 502);
    }
}
