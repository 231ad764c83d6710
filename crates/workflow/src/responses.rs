//! Responses of a Kubernetes API as readings and effect results.

use http::Method;
use jiff::SignedDuration;
use mooring_k8s::{Client, Lost, RequestError, Response};
use serde_json::Value;

use crate::model::effect::EffectResult;
use crate::model::reading::Reading;

impl<T> From<Result<T, RequestError>> for Reading<T> {
    fn from(result: Result<T, RequestError>) -> Self {
        match result {
            Ok(value) => Self::Known(value),
            Err(RequestError { status: Some(404), .. }) => Self::NotFound,
            Err(RequestError { status: Some(401 | 403), reason, .. }) => Self::Denied(reason),
            Err(error) => Self::Failed(error.reason),
        }
    }
}

impl From<Result<Response, Lost>> for EffectResult {
    fn from(response: Result<Response, Lost>) -> Self {
        match response {
            Ok(response) if response.is_success() => Self::Done,
            Ok(response) => {
                let (code, message) = response.refusal();
                let retry_after = response.retry_after.map(SignedDuration::from_secs);
                Self::Refused { status: response.status, code, message, retry_after }
            }
            Err(Lost(why)) => Self::Unknown { why },
        }
    }
}

/// Reads one object.
pub async fn read<T>(
    client: &Client,
    path: &str,
    parse: impl FnOnce(&Value) -> Option<T>,
) -> Reading<T> {
    let response = client.get(path).await.map_err(RequestError::from);
    response.and_then(|response| response.parse(parse)).into()
}

/// Reads a whole list.
pub async fn list<T>(
    client: &Client,
    path: &str,
    parse: impl Fn(&Value) -> Option<Vec<T>>,
) -> Reading<Vec<T>> {
    client.list(path, parse).await.into()
}

/// Sends one change, once.
pub async fn change(client: &Client, method: Method, path: &str, body: &Value) -> EffectResult {
    let deletes = method == Method::DELETE;
    let result = EffectResult::from(client.send(method, path, Some(body)).await);
    if deletes { result.or_gone() } else { result }
}
