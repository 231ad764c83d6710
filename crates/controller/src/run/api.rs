//! Single requests to the API server: sent once, with a timeout, errors distinguished by status.

use std::error::Error;
use std::time::Duration;

use http::Method;
use http_body_util::BodyExt as _;
use mooring_k8s::{protobuf, redacted_message};
use mooring_nodes::text::safe;
use mooring_redact::{Limit, foreign};
use serde_json::Value;

/// Less than the time between a leader's last write and the end of its Lease (5 s), so that a write of a lost
/// term finishes before the next leader starts.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(4);

/// Limit of a list of thousands of objects over a slow connection.
const LIST_TIMEOUT: Duration = Duration::from_mins(2);

/// Objects of a list without their content.
const METADATA: &str =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";

#[derive(Clone)]
pub struct Api {
    client: kube::Client,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ApiError {
    /// None without a response.
    pub status: Option<u16>,
    /// Message of the API server, or the reason of the failed request.
    pub what: String,
    /// True if the certificate of the server is not trusted, or not valid.
    pub is_untrusted: bool,
}

/// Returns the version of an object as it was read.
pub(crate) fn version_of(object: &Value) -> String {
    object["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned()
}

pub(crate) fn claim_path(name: &str) -> String {
    format!("/apis/karpenter.sh/v1/nodeclaims/{name}")
}

impl Api {
    #[must_use]
    pub fn new(client: kube::Client) -> Self {
        Self { client }
    }

    pub async fn get(&self, path: &str) -> Result<String, ApiError> {
        self.send(RESPONSE_TIMEOUT, Method::GET, path, None).await
    }

    /// Reads an object. One that is not JSON was not read: as an empty one, it would be overwritten.
    pub async fn json(&self, path: &str) -> Result<Value, ApiError> {
        let text = self.get(path).await?;
        serde_json::from_str(&text).map_err(|_| ApiError {
            status: None,
            what: "the response is not valid JSON".to_owned(),
            is_untrusted: false,
        })
    }

    /// Reads an object; none if it does not exist.
    pub(crate) async fn object(&self, path: &str) -> Result<Option<Value>, ApiError> {
        match self.json(path).await {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.status == Some(404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads an object; none if it does not exist, or without permission to read it.
    pub(crate) async fn permitted_object(&self, path: &str) -> Result<Option<Value>, ApiError> {
        match self.object(path).await {
            Err(error) if error.status == Some(403) => Ok(None),
            read => read,
        }
    }

    /// Reads a list, which takes longer than an object.
    pub async fn get_list(&self, path: &str) -> Result<String, ApiError> {
        let text = self.get_as(LIST_TIMEOUT, path, "application/json").await?;
        String::from_utf8(text).map_err(|_| ApiError {
            status: None,
            what: "the list is not text".to_owned(),
            is_untrusted: false,
        })
    }

    /// Reads a list in the server's binary format, or as JSON if it does not have it.
    pub async fn get_binary_list(&self, path: &str) -> Result<Vec<u8>, ApiError> {
        self.get_as(LIST_TIMEOUT, path, protobuf::ACCEPT).await
    }

    /// Reads the metadata of the objects of a list, as JSON.
    pub async fn get_metadata_list(&self, path: &str) -> Result<Vec<u8>, ApiError> {
        self.get_as(RESPONSE_TIMEOUT, path, METADATA).await
    }

    async fn get_as(&self, limit: Duration, path: &str, format: &str) -> Result<Vec<u8>, ApiError> {
        let request = http::Request::get(path).header(http::header::ACCEPT, format);
        let request = request.body(kube::client::Body::empty()).map_err(|_| invalid_path())?;
        let read = async {
            let response = self.client.send(request).await?;
            let status = response.status();
            let mut body = response.into_body();
            // One buffer that grows: collected parts would be in memory twice, which matters for 5,000 objects.
            let mut bytes = Vec::new();
            while let Some(frame) = body.frame().await {
                if let Ok(data) = frame?.into_data() {
                    bytes.extend_from_slice(&data);
                }
            }
            if status.is_success() {
                return Ok(bytes);
            }
            let message = protobuf::error_message(&bytes).unwrap_or_else(|| status.to_string());
            let error = kube::core::Status::failure(&message, "").with_code(status.as_u16());
            Err(kube::Error::Api(error.boxed()))
        };
        answer(limit, &Method::GET, path, read).await
    }

    pub(crate) async fn create(&self, path: &str, object: &Value) -> Result<String, ApiError> {
        self.send(RESPONSE_TIMEOUT, Method::POST, path, Some(object)).await
    }

    /// Replaces the version of an object, or creates an object without one.
    pub(crate) async fn write(&self, path: &str, object: &Value) -> Result<String, ApiError> {
        match path.rsplit_once('/') {
            Some((list, _)) if object["metadata"]["resourceVersion"].is_null() => {
                self.create(list, object).await
            }
            _ => self.send(RESPONSE_TIMEOUT, Method::PUT, path, Some(object)).await,
        }
    }

    pub(crate) async fn json_patch(&self, path: &str, steps: &Value) -> Result<String, ApiError> {
        self.send(RESPONSE_TIMEOUT, Method::PATCH, path, Some(steps)).await
    }

    async fn send(
        &self,
        limit: Duration,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<String, ApiError> {
        let manager = if body.is_some() { "?fieldManager=mooring" } else { "" };
        let mut request = http::Request::builder().method(&method).uri(format!("{path}{manager}"));
        if body.is_some() {
            let is_patch = method == Method::PATCH;
            let kind = if is_patch { "application/json-patch+json" } else { "application/json" };
            request = request.header(http::header::CONTENT_TYPE, kind);
        }
        let body = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
        let request = request.body(body).map_err(|_| invalid_path())?;
        answer(limit, &method, path, self.client.request_text(request)).await
    }
}

fn invalid_path() -> ApiError {
    ApiError { status: None, what: "invalid request path".to_owned(), is_untrusted: false }
}

/// Returns true if TLS ended because of the server's certificate.
fn is_untrusted(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if matches!(error.downcast_ref(), Some(rustls::Error::InvalidCertificate(_))) {
            return true;
        }
        // The source of an I/O error is that of the error in it.
        cause = match error.downcast_ref::<std::io::Error>() {
            Some(wrapper) => wrapper.get_ref().map(|inner| inner as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    false
}

/// Waits for the response to a request, and logs it.
async fn answer<T>(
    limit: Duration,
    method: &Method,
    path: &str,
    response: impl Future<Output = kube::Result<T>>,
) -> Result<T, ApiError> {
    let started = tokio::time::Instant::now();
    let response = tokio::time::timeout(limit, response).await;
    let is_ok = matches!(response, Ok(Ok(_)));
    let milliseconds = started.elapsed().as_millis();
    tracing::debug!(%method, path, is_ok, milliseconds, "request sent to Kubernetes");
    let unanswered = |what, is_untrusted| ApiError { status: None, what, is_untrusted };
    let response = response.map_err(|_| unanswered("request timed out".to_owned(), false))?;
    response.map_err(|error| match error {
        kube::Error::Api(status) => ApiError {
            status: Some(status.code),
            what: foreign(&status.message, Limit::Bytes(512)),
            is_untrusted: false,
        },
        other => unanswered(safe(&redacted_message(&other), 512), is_untrusted(&other)),
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// An API server with one response.
    fn api(status: u16, body: &'static str) -> Api {
        let service = tower::service_fn(move |_: http::Request<kube::client::Body>| {
            let body = kube::client::Body::from(body.as_bytes().to_vec());
            let response = http::Response::builder().status(status).body(body).unwrap();
            std::future::ready(Ok::<_, Infallible>(response))
        });
        Api::new(kube::Client::new(service, "default"))
    }

    #[tokio::test]
    async fn list_is_returned_as_it_is_or_with_its_error() {
        let found = api(200, "text");
        assert_eq!(found.get_list("/x").await.as_deref(), Ok("text"));
        assert_eq!(found.get_binary_list("/x").await.as_deref(), Ok(&b"text"[..]));
        assert_eq!(found.get_metadata_list("/x").await.as_deref(), Ok(&b"text"[..]));
        let body = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no list","code":403}"#;
        let expected =
            ApiError { status: Some(403), what: "no list".to_owned(), is_untrusted: false };
        assert_eq!(api(403, body).get_list("/x").await, Err(expected.clone()));
        assert_eq!(api(403, body).get_metadata_list("/x").await, Err(expected.clone()));
        assert_eq!(api(403, body).get_binary_list("/x").await, Err(expected));
    }

    #[tokio::test]
    async fn object_that_is_not_json_is_not_an_empty_one() {
        for text in ["", "{\"data\": {\"failures.js"] {
            let error = api(200, text).object("/x").await.unwrap_err();
            assert_eq!((error.status, &*error.what), (None, "the response is not valid JSON"));
        }
        assert_eq!(api(200, "{}").object("/x").await, Ok(Some(serde_json::json!({}))));
    }

    #[tokio::test]
    async fn failed_request_has_a_reason_and_no_status() {
        let service = tower::service_fn(|_: http::Request<kube::client::Body>| {
            let error = std::io::Error::other("connection reset password=hunter2");
            std::future::ready(Err::<http::Response<kube::client::Body>, _>(error))
        });
        let api = Api::new(kube::Client::new(service, "default"));
        let failed = [
            api.get("/x").await.unwrap_err(),
            api.get_list("/x").await.unwrap_err(),
            api.get_binary_list("/x").await.unwrap_err(),
        ];
        for error in failed {
            assert_eq!(error.status, None);
            assert!(error.what.contains("connection reset"), "{error:?}");
            assert!(!error.what.contains("hunter2"), "{error:?}");
        }
    }
}
