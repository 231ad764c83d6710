//! Responses.

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use serde_json::Value;

use crate::exchange::{Body, Response};
use crate::kubernetes::api::state::StatusError;

/// An error as an answer.
pub(crate) fn error_answer(error: &StatusError) -> Response {
    if error.is_page() {
        let text = Bytes::from(error.message.clone());
        return with_type(error.status(), "text/plain; charset=utf-8", Body::Full(text));
    }
    let mut response = json_answer(error.status(), &error.object());
    if let Some(seconds) = error.retry_after() {
        response.headers_mut().insert(http::header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// An answer of JSON.
pub(crate) fn json_answer(status: StatusCode, value: &Value) -> Response {
    bytes_answer(status, Bytes::from(value.to_string()))
}

/// An answer of JSON that is bytes already.
pub(crate) fn bytes_answer(status: StatusCode, bytes: Bytes) -> Response {
    with_type(status, "application/json", Body::Full(bytes))
}

/// An answer of any type.
pub(crate) fn with_type(status: StatusCode, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(http::header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
