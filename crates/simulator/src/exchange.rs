//! Requests and what comes back for them, which is not always an answer.

use std::fmt;
use std::pin::Pin;

use bytes::Bytes;
use futures::Stream;

/// A request with its whole body.
pub type Request = http::Request<Bytes>;

pub type Response = http::Response<Body>;

/// What a client sees of one request.
#[derive(Debug)]
pub enum Outcome {
    Answer(Response),
    /// The answer's head and the first bytes of its body, then the connection breaks.
    CutShort(Response, usize),
    /// The connection breaks before any answer. Whether the request took effect is not to be seen.
    Dropped,
    /// No answer ever comes; the client has to give up by itself.
    Silence,
}

/// The body of an answer.
pub enum Body {
    /// All of it at once.
    Full(Bytes),
    /// Piece by piece, as it happens: a watch.
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

/// Headers after the body of an answer, as one of its extensions. HTTP/2 only.
#[derive(Debug, Clone)]
pub struct Trailers(pub http::HeaderMap);

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(bytes) => write!(f, "Full({} bytes)", bytes.len()),
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}

impl Body {
    /// The bytes of a body that is there at once; nothing of one that streams.
    pub fn bytes(&self) -> Bytes {
        match self {
            Self::Full(bytes) => bytes.clone(),
            Self::Stream(_) => Bytes::new(),
        }
    }
}

/// An answer of JSON.
pub fn json(status: http::StatusCode, value: &serde_json::Value) -> Response {
    let mut response =
        Response::new(Body::Full(Bytes::from(serde_json::to_vec(value).unwrap_or_default())));
    *response.status_mut() = status;
    response.headers_mut().insert(
        http::header::CONTENT_TYPE,
        http::HeaderValue::from_static("application/json; charset=utf-8"),
    );
    response
}
