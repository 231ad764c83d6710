//! Requests to a Kubernetes API, each with a timeout.
//!
//! Raw requests over [`kube::Client`] instead of its typed API: decisions depend on statuses and on fields that may
//! be absent, and nothing may be retried implicitly.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use mooring_redact::{Limit, foreign};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use thiserror::Error;

use crate::error::redacted_message;

/// Timeout of a request, including the wait for a token. Not longer than the time between the end of a Lease
/// holder's writes and the end of the Lease, so that a write has ended before the next holder starts.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Pauses between the attempts of a read.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(200), Duration::from_millis(800), Duration::from_secs(2)];
/// 200 pages with 500 entries: 100,000 pods.
const PAGE_SIZE: usize = 500;
const MAX_PAGES: usize = 200;
const MAX_TEXT: Limit = Limit::Chars(400);

/// Source of tokens, such as Entra.
pub trait TokenSource: Send + Sync {
    /// Returns a bearer token, renewed before it expires.
    fn token(&self) -> BoxFuture<'_, Result<http::HeaderValue, String>>;
}

#[derive(Clone)]
pub struct Client {
    transport: kube::Client,
    /// Token of each request; none if the transport authenticates.
    signer: Option<Arc<dyn TokenSource>>,
    metadata_only: bool,
    /// URL of the API server, for messages.
    server: Option<String>,
    /// Cluster setting that may block this host, for messages.
    obstacle: Option<Arc<str>>,
    timeout: Duration,
    /// Set by the first 401.
    signed_out: Arc<AtomicBool>,
}

/// Identifies the writer in `managedFields`.
const USER_AGENT: &str = concat!("mooring/", env!("CARGO_PKG_VERSION"));

/// A server without support for it returns complete objects.
const METADATA_ONLY: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json";

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    /// Null if it is not JSON.
    pub body: Value,
    /// `Retry-After` in seconds.
    pub retry_after: Option<i64>,
    /// Time of the server, in seconds.
    pub date: Option<Timestamp>,
}

/// No complete response; the request may have been applied.
#[derive(Debug)]
pub struct Lost(pub String);

impl Client {
    /// Creates a client whose transport authenticates.
    pub fn new(client: kube::Client) -> Self {
        Self {
            transport: client,
            signer: None,
            metadata_only: false,
            server: None,
            obstacle: None,
            timeout: REQUEST_TIMEOUT,
            signed_out: Arc::default(),
        }
    }

    /// Sets the server's URL for messages.
    #[must_use]
    pub fn at(self, server: Option<String>) -> Self {
        Self { server, ..self }
    }

    /// Sets a cluster setting that may block this host, to explain errors without a response.
    #[must_use]
    pub fn with_obstacle(self, obstacle: Option<String>) -> Self {
        Self { obstacle: obstacle.map(Arc::from), ..self }
    }

    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    fn add_obstacle(&self, Lost(why): Lost) -> Lost {
        match &self.obstacle {
            Some(obstacle) => Lost(format!("{why}; {obstacle}")),
            None => Lost(why),
        }
    }

    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// Creates a client whose requests have a token.
    pub fn signed(client: kube::Client, signer: Arc<dyn TokenSource>) -> Self {
        Self { signer: Some(signer), ..Self::new(client) }
    }

    /// Returns a client whose lists return metadata only, so that nothing else can leak.
    #[must_use]
    pub fn metadata_only(&self) -> Self {
        Self { metadata_only: true, ..self.clone() }
    }

    /// Returns true after a 401: missing authentication, not a missing permission.
    pub fn is_signed_out(&self) -> bool {
        self.signed_out.load(Ordering::Relaxed)
    }

    /// Sends a request without retries.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Response, Lost> {
        let mut request =
            Request::builder().method(&method).uri(path).header("user-agent", USER_AGENT);
        if body.is_some() {
            let kind = if method == Method::PATCH {
                "application/merge-patch+json"
            } else {
                "application/json"
            };
            request = request.header("content-type", kind);
        }
        if self.metadata_only {
            request = request.header("accept", METADATA_ONLY);
        }
        let bytes = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let mut request =
            request.body(kube::client::Body::from(bytes)).map_err(|error| lost(&error))?;
        let answer = async {
            if let Some(signer) = &self.signer {
                let token = signer.token().await.map_err(Lost)?;
                request.headers_mut().insert(http::header::AUTHORIZATION, token);
            }
            let response = self.transport.send(request).await;
            let response = response.map_err(|error| self.add_obstacle(lost(&error)))?;
            let (head, body) = response.into_parts();
            if head.status == StatusCode::UNAUTHORIZED {
                self.signed_out.store(true, Ordering::Relaxed);
            }
            let body = body.collect().await.map_err(|error| lost(&error))?.to_bytes();
            let header = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
            Ok(Response {
                status: head.status.as_u16(),
                body: serde_json::from_slice(&body).unwrap_or_default(),
                retry_after: header("retry-after").and_then(|text| text.trim().parse().ok()),
                date: header("date")
                    .and_then(|text| rfc2822::parse(text).ok())
                    .map(|at| at.timestamp()),
            })
        };
        let started = tokio::time::Instant::now();
        let answer =
            match tokio::time::timeout(self.timeout, answer).await {
                Ok(answer) => answer,
                Err(_) => Err(self
                    .add_obstacle(Lost(format!("no response within {}s", self.timeout.as_secs())))),
            };
        let outcome = answer.as_ref().map_or(0, |answer| answer.status);
        let milliseconds = started.elapsed().as_millis();
        tracing::debug!(%method, path, outcome, milliseconds, "request sent to Kubernetes");
        answer
    }

    /// Reads an object, with retries while the server is busy or unavailable.
    pub async fn get(&self, path: &str) -> Result<Response, Lost> {
        for pause in PAUSES {
            match self.send(Method::GET, path, None).await {
                Ok(answer) if answer.status == 429 || answer.status >= 500 => {}
                Ok(answer) => return Ok(answer),
                Err(_) => {}
            }
            tokio::time::sleep(pause).await;
        }
        self.send(Method::GET, path, None).await
    }

    /// Reads a complete list in pages, each reduced by `read` before the next is read.
    pub async fn list<T>(
        &self,
        path: &str,
        read: impl Fn(&Value) -> Option<Vec<T>>,
    ) -> Result<Vec<T>, RequestError> {
        let mut items = Vec::new();
        let mut follow = String::new();
        let mut restarted = false;
        let joint = if path.contains('?') { '&' } else { '?' };
        for _ in 0..MAX_PAGES {
            let answer = self.get(&format!("{path}{joint}limit={PAGE_SIZE}{follow}")).await?;
            // The continue token has expired: start again.
            if answer.status == 410 && !restarted {
                restarted = true;
                items.clear();
                follow.clear();
                continue;
            }
            items.extend(answer.parse(|body| read(body))?);
            let token = answer.body.pointer("/metadata/continue").and_then(Value::as_str);
            match token.filter(|token| !token.is_empty()) {
                Some(token) => follow = format!("&continue={}", query_value(token)),
                None => return Ok(items),
            }
        }
        Err(RequestError::new(None, format!("the list has more than {MAX_PAGES} pages")))
    }
}

impl Response {
    pub fn is_success(&self) -> bool {
        StatusCode::from_u16(self.status).is_ok_and(|status| status.is_success())
    }

    /// Returns reason and message of an error.
    pub fn refusal(&self) -> (String, String) {
        let text = |name: &str| {
            let text = self.body.get(name).and_then(Value::as_str).unwrap_or_default();
            foreign(text, MAX_TEXT)
        };
        let reason = text("reason");
        let reason = if reason.is_empty() { format!("HTTP {}", self.status) } else { reason };
        (reason, text("message"))
    }

    /// Parses the body of a successful response.
    pub fn parse<T>(&self, parse: impl FnOnce(&Value) -> Option<T>) -> Result<T, RequestError> {
        if !self.is_success() {
            let (reason, message) = self.refusal();
            return Err(RequestError { status: Some(self.status), reason, message });
        }
        parse(&self.body).ok_or_else(|| RequestError::new(None, "invalid response".to_owned()))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}{}{message}", if message.is_empty() { "" } else { ": " })]
pub struct RequestError {
    /// None without a usable response.
    pub status: Option<u16>,
    /// The server's reason, or the cause of a missing response.
    pub reason: String,
    pub message: String,
}

impl RequestError {
    fn new(status: Option<u16>, reason: String) -> Self {
        Self { status, reason, message: String::new() }
    }
}

impl From<Lost> for RequestError {
    fn from(Lost(why): Lost) -> Self {
        Self::new(None, why)
    }
}

/// Bytes of a query value that are escaped.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Escapes a value of a query, such as a continue token.
pub fn query_value(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

fn lost(error: &(dyn std::error::Error + 'static)) -> Lost {
    Lost(redacted_message(error))
}

const PATH: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/// A verb on a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access<'a> {
    pub verb: &'a str,
    /// API group; empty for core resources.
    pub group: &'a str,
    /// With its subresource, such as `pods/eviction`.
    pub resource: &'a str,
    /// None for all namespaces, and for resources without one.
    pub namespace: Option<&'a str>,
    /// None for all objects.
    pub name: Option<&'a str>,
}

impl fmt::Display for Access<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        self.namespace.map_or(Ok(()), |namespace| write!(f, " in {namespace}"))
    }
}

impl Client {
    /// Returns the permissions that the caller lacks.
    pub async fn lacking<'a>(
        &self,
        all: impl IntoIterator<Item = Access<'a>>,
    ) -> Result<Vec<String>, RequestError> {
        let reviews = all.into_iter().map(|access| async move {
            let may = self.may(access).await?;
            Ok::<_, RequestError>((!may).then(|| access.to_string()))
        });
        let lacking = futures::future::try_join_all(reviews).await?;
        Ok(lacking.into_iter().flatten().collect())
    }

    /// Returns true if the caller has this permission.
    pub async fn may(&self, access: Access<'_>) -> Result<bool, RequestError> {
        let Access { verb, group, resource, namespace, name } = access;
        let (resource, part) = resource.split_once('/').unwrap_or((resource, ""));
        let mut attributes = json!({"verb": verb, "group": group, "resource": resource});
        if !part.is_empty() {
            attributes["subresource"] = json!(part);
        }
        if let Some(namespace) = namespace {
            attributes["namespace"] = json!(namespace);
        }
        if let Some(name) = name {
            attributes["name"] = json!(name);
        }
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        });
        let response = self.send(Method::POST, PATH, Some(&review)).await?;
        response.parse(|body| body["status"]["allowed"].as_bool())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_query_are_escaped() {
        assert_eq!(query_value("aZ9-._~ /é"), "aZ9-._~%20%2F%C3%A9");
    }
}
