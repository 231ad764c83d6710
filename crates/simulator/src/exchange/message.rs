use std::fmt;
use std::pin::Pin;

use bytes::Bytes;
use futures::Stream;

pub type Request = http::Request<Bytes>;

pub type Response = http::Response<Body>;

pub enum Body {
    Full(Bytes),
    /// Chunks of a watch.
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

/// Trailers of a response, as one of its extensions. HTTP/2 only.
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
    /// Returns the bytes of a full body; empty for a stream.
    pub fn bytes(&self) -> Bytes {
        match self {
            Self::Full(bytes) => bytes.clone(),
            Self::Stream(_) => Bytes::new(),
        }
    }
}

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
