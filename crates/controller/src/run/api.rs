//! Single requests to the API server: sent once, answered within a bound, told apart by status.

use std::time::Duration;

use http::Method;
use mooring_redact::{Limit, foreign};
use serde_json::Value;

/// A request that is not answered by then counts as lost. Less than what lies between the end of a
/// leader's writing and the end of its lease (5 s), so that a write of a lost term is over before the
/// next leader begins.
pub(super) const ANSWERED_WITHIN: Duration = Duration::from_secs(4);

#[derive(Clone)]
pub struct Api {
    client: kube::Client,
}

/// A request that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Refusal {
    /// The status; none if there was no answer.
    pub status: Option<u16>,
    /// What the API server said, or why it said nothing.
    pub what: String,
}

/// The path of a NodeClaim.
pub(crate) fn claim_path(name: &str) -> String {
    format!("/apis/karpenter.sh/v1/nodeclaims/{name}")
}

impl Api {
    /// Requests through this client.
    #[must_use]
    pub fn new(client: kube::Client) -> Self {
        Self { client }
    }

    /// Reads an object or a list.
    pub async fn get(&self, path: &str) -> Result<String, Refusal> {
        self.send(Method::GET, path, "", None).await
    }

    pub(crate) async fn create(&self, path: &str, object: &Value) -> Result<String, Refusal> {
        self.send(Method::POST, path, "application/json", Some(object)).await
    }

    pub(crate) async fn replace(&self, path: &str, object: &Value) -> Result<String, Refusal> {
        self.send(Method::PUT, path, "application/json", Some(object)).await
    }

    pub(crate) async fn json_patch(&self, path: &str, steps: &Value) -> Result<String, Refusal> {
        self.send(Method::PATCH, path, "application/json-patch+json", Some(steps)).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        kind: &str,
        body: Option<&Value>,
    ) -> Result<String, Refusal> {
        let manager = if body.is_some() { "?fieldManager=mooring" } else { "" };
        let mut request = http::Request::builder().method(method).uri(format!("{path}{manager}"));
        if body.is_some() {
            request = request.header(http::header::CONTENT_TYPE, kind);
        }
        let body = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
        let unanswered = |what: &str| Refusal { status: None, what: what.to_owned() };
        let request =
            request.body(body).map_err(|_| unanswered("the request has no valid path"))?;
        let answer = tokio::time::timeout(ANSWERED_WITHIN, self.client.request_text(request)).await;
        answer.map_err(|_| unanswered("no answer in time"))?.map_err(|error| match error {
            kube::Error::Api(status) => Refusal {
                status: Some(status.code),
                what: foreign(&status.message, Limit::Bytes(512)),
            },
            other => unanswered(&crate::verdict::text::safe(
                &mooring_kube::redacted_message(&other),
                512,
            )),
        })
    }
}
