//! One connection: requests, outcomes and faults.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{Stream, StreamExt};
use http_body::{Frame, SizeHint};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::exchange::{Body, Request, Response, ServerReply, Trailers};

/// Maximum body of a request: ten times an etcd object, far above any ARM body.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Serves the requests of a socket: reads the clock, locks the model and calls it.
pub trait Service: Send + Sync + 'static {
    fn call(&self, request: Request) -> BoxFuture<'static, ServerReply>;
}

pub(super) async fn serve(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    service: Arc<dyn Service>,
) -> Result<(), String> {
    let stream = acceptor.accept(stream).await.map_err(|error| error.to_string())?;
    let answer = service_fn(move |request| answer(request, Arc::clone(&service)));
    hyper_util::server::conn::auto::Builder::new(TokioExecutor::new())
        .serve_connection_with_upgrades(TokioIo::new(stream), answer)
        .await
        .map_err(|error| error.to_string())
}

async fn answer(
    request: http::Request<Incoming>,
    service: Arc<dyn Service>,
) -> Result<http::Response<Sent>, Failure> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_BODY_BYTES).collect().await?.to_bytes();
    match service.call(Request::from_parts(head, body)).await {
        ServerReply::Answer(mut response) => {
            let trailers = response.extensions_mut().remove::<Trailers>();
            Ok(response.map(|body| Sent::whole(body, trailers)))
        }
        ServerReply::CutShort(response, length) => Ok(cut_short(response, length)),
        ServerReply::Dropped => Err("the connection is dropped by a fault rule".into()),
        ServerReply::Silence => std::future::pending().await,
    }
}

/// Sends the head of the whole body, and breaks off the body.
fn cut_short(response: Response, length: usize) -> http::Response<Sent> {
    let (mut head, body) = response.into_parts();
    let whole = body.bytes();
    head.headers.insert(http::header::CONTENT_LENGTH, http::HeaderValue::from(whole.len()));
    let part = whole.slice(..length.min(whole.len()));
    let pieces = futures::stream::iter([part]).boxed();
    http::Response::from_parts(head, Sent { pieces, length: None, breaks: true, trailers: None })
}

struct Sent {
    pieces: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
    /// Total bytes, if known.
    length: Option<u64>,
    breaks: bool,
    trailers: Option<Trailers>,
}

impl Sent {
    fn whole(body: Body, trailers: Option<Trailers>) -> Self {
        match body {
            Body::Full(bytes) => {
                let length = trailers.is_none().then_some(bytes.len() as u64);
                let pieces = futures::stream::iter([bytes]).boxed();
                Self { pieces, length, breaks: false, trailers }
            }
            Body::Stream(pieces) => Self { pieces, length: None, breaks: false, trailers },
        }
    }
}

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        match self.pieces.poll_next_unpin(context) {
            Poll::Ready(Some(piece)) => Poll::Ready(Some(Ok(Frame::data(piece)))),
            Poll::Ready(None) if self.breaks => {
                Poll::Ready(Some(Err("the body is cut short by a fault rule".into())))
            }
            Poll::Ready(None) => {
                Poll::Ready(self.trailers.take().map(|Trailers(map)| Ok(Frame::trailers(map))))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    /// An empty body ends with its head.
    fn is_end_stream(&self) -> bool {
        self.length == Some(0) && self.trailers.is_none() && !self.breaks
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
