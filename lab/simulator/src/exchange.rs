//! Requests and their outcomes; the text of URIs.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;

use bytes::Bytes;
use futures::Stream;
use http::{HeaderValue, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

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

/// Result of one request for its client.
#[derive(Debug)]
pub enum ServerReply {
    Answer(Response),
    /// Head and first bytes of the response; then the connection breaks.
    CutShort(Response, usize),
    /// The connection breaks before any response. The client cannot see if the request took effect.
    Dropped,
    /// No response; the client has to time out.
    Silence,
}

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

pub fn json(status: StatusCode, value: &serde_json::Value) -> Response {
    let mut response = plain(status, serde_json::to_vec(value).unwrap_or_default());
    let kind = HeaderValue::from_static("application/json; charset=utf-8");
    response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
    response
}

/// Returns a response without headers.
pub(crate) fn plain(status: StatusCode, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::Full(body.into()));
    *response.status_mut() = status;
    response
}

/// Returns a header of a request, if it is text.
pub(crate) fn header<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    request.headers().get(name)?.to_str().ok()
}

/// Characters that a query escapes: all but the unreserved ones.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the parameters of a query, by their names in lower case. The last of several wins.
pub(crate) fn query(text: Option<&str>) -> BTreeMap<String, String> {
    text.unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name, true).to_lowercase(), decode(value, true))
        })
        .collect()
}

/// Decodes percent-encoding; an invalid encoding is kept.
pub(crate) fn decode(text: &str, plus_is_blank: bool) -> String {
    let text = if plus_is_blank { text.replace('+', " ") } else { text.to_owned() };
    percent_decode_str(&text).decode_utf8_lossy().into_owned()
}

pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_undone_and_broken_ones_stay() {
        for (text, expected) in [
            ("a%20b", "a b"),
            ("a+b", "a b"),
            ("%", "%"),
            ("%zz", "%zz"),
            ("%c3%a4", "ä"),
            ("%2", "%2"),
        ] {
            assert_eq!(decode(text, true), expected);
        }
        assert_eq!(decode(&encode("eventTimestamp ge '2026'"), true), "eventTimestamp ge '2026'");
    }
}
