use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::conversion::converted;
use super::request::ResourceRequest;
use super::table;
use crate::exchange::{Body, Response};
use crate::kubernetes::api::state::{ObjectForm, StatusError};

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

pub(crate) fn json_answer(status: StatusCode, value: &Value) -> Response {
    bytes_answer(status, Bytes::from(value.to_string()))
}

/// Returns a response with serialized JSON.
pub(crate) fn bytes_answer(status: StatusCode, bytes: Bytes) -> Response {
    with_type(status, "application/json", Body::Full(bytes))
}

/// Returns a response of any content type.
pub(crate) fn with_type(status: StatusCode, kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(http::header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Returns a stored object in the form that the client asked for.
pub(crate) fn object_answer(
    call: &ResourceRequest<'_>,
    status: StatusCode,
    stored: &Value,
) -> Response {
    let value = converted(call.resource(), stored);
    let shown = match call.form() {
        ObjectForm::Whole => value,
        ObjectForm::Metadata => table::metadata_of(&value),
        ObjectForm::Table => table::of(call.resource(), &[value], call.now, &json!({})),
    };
    json_answer(status, &shown)
}

pub(crate) fn success(status: StatusCode) -> Response {
    let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"});
    json_answer(status, &body)
}
