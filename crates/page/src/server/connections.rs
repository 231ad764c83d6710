//! Connections of browsers.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt as _, stream};
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use super::guard::PageAccess;
use super::handler::PageHandler;
use super::live::{Live, MAX_STREAMS};
use super::response::{Body, text};
use super::write_limit::WriteLimited;

/// Time in which a client sends the head of its first or next request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections in addition to those of streams.
const MAX_REQUESTS: usize = 48;
pub(super) const MAX_CONNECTIONS: usize = MAX_STREAMS + MAX_REQUESTS;

/// Serves the page on a listener of the loopback interface. Never ends; when dropped, it closes all connections.
pub async fn serve(listener: TcpListener, live: Arc<Live>, access: PageAccess) {
    let handler = PageHandler::new(live, access);
    accept(streams(listener), move |request: Request<Incoming>| {
        let handler = handler.clone();
        async move { handler.respond(&request).await }
    })
    .await;
}

/// Serves texts by path, such as metrics, on a listener. Never ends; when dropped, it closes all connections.
pub async fn serve_texts(
    listener: TcpListener,
    find: impl Fn(&str) -> (StatusCode, &'static str, String) + Clone + Send + Sync + 'static,
) {
    accept(streams(listener), move |request: Request<Incoming>| {
        let (status, kind, found) = find(request.uri().path());
        std::future::ready(text(status, kind, found))
    })
    .await;
}

/// Returns the connections of a listener.
pub(super) fn streams(listener: TcpListener) -> impl Stream<Item = TcpStream> {
    stream::unfold(listener, |listener| async move {
        loop {
            if let Ok((stream, _)) = listener.accept().await {
                return Some((stream, listener));
            }
            // For example out of file descriptors, which may be released soon.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
}

/// Answers the requests of connections. One too many ends the oldest, so that no client can keep others out.
pub(super) async fn accept<S, F, R>(streams: impl Stream<Item = S>, respond: F)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    F: Fn(Request<Incoming>) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Response<Body>> + Send + 'static,
{
    let mut streams = std::pin::pin!(streams);
    let mut connections = JoinSet::new();
    let mut open: VecDeque<AbortHandle> = VecDeque::new();
    while let Some(stream) = streams.next().await {
        while connections.try_join_next().is_some() {}
        open.retain(|connection| !connection.is_finished());
        if open.len() >= MAX_CONNECTIONS
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        let respond = respond.clone();
        open.push_back(connections.spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let response = respond(request);
                async move { Ok::<_, Infallible>(response.await) }
            });
            // A client that closed its connection is not an error.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD_TIMEOUT)
                .serve_connection(TokioIo::new(WriteLimited::new(stream)), service)
                .await;
        }));
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt as _, Full};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
    use tokio::sync::mpsc;

    use super::*;
    use crate::server::write_limit::WRITE_TIMEOUT;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

    /// A server whose connections hold little, so that a client that does not read blocks it.
    struct Server {
        streams: mpsc::UnboundedSender<DuplexStream>,
        /// Ends with the test.
        _task: JoinSet<()>,
    }

    impl Server {
        fn start() -> Self {
            let (sender, receiver) = mpsc::unbounded_channel();
            let streams = stream::unfold(receiver, |mut receiver| async move {
                Some((receiver.recv().await?, receiver))
            });
            let mut tasks = JoinSet::new();
            tasks.spawn(accept(streams, |_| async {
                Response::new(Full::from("a".repeat(4096)).boxed_unsync())
            }));
            Self { streams: sender, _task: tasks }
        }

        /// Opens a connection, and sends a request.
        async fn open(&self) -> DuplexStream {
            let (mut near, far) = tokio::io::duplex(1024);
            self.streams.send(far).unwrap();
            near.write_all(REQUEST).await.unwrap();
            near
        }
    }

    /// Reads until the server closes the connection. Returns the time and the bytes.
    async fn read_to_end(mut stream: DuplexStream) -> (Duration, usize) {
        let start = tokio::time::Instant::now();
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes).await;
        (start.elapsed(), bytes.len())
    }

    #[tokio::test(start_paused = true)]
    async fn clients_that_never_read_keep_no_other_out() {
        let server = Server::start();
        let mut silent = Vec::new();
        for _ in 0..MAX_CONNECTIONS {
            silent.push(server.open().await);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let (took, bytes) = read_to_end(server.open().await).await;
        assert!(bytes > 4096, "{bytes} bytes");
        // The page, and then the time for another request.
        assert!(took <= HEAD_TIMEOUT + Duration::from_secs(1), "{took:?}");
        let oldest = read_to_end(silent.remove(0)).await;
        assert!(oldest.0.is_zero() && oldest.1 <= 1024, "{oldest:?}");
        tokio::time::sleep(WRITE_TIMEOUT).await;
        for stream in silent {
            let rest = read_to_end(stream).await;
            assert!(rest.0.is_zero() && rest.1 <= 1024, "{rest:?}");
        }
    }
}
