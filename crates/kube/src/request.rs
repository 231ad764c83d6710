//! Requests to a Kubernetes API: one at a time, each with an end, judged by their status.
//!
//! Raw requests over [`kube::Client`] instead of its typed API: what is decided here depends on statuses and on
//! members that may be absent, and nothing may be repeated unseen.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use mooring_redact::{Limit, foreign};
use serde_json::Value;
use thiserror::Error;

use crate::error::redacted_message;

/// The timeout of a request, the wait for a token included. Not more than the time between the end of a Lease holder's
/// writes and the end of the Lease, so that a write is over before the next holder begins.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a read is tried, with these pauses between.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(200), Duration::from_millis(800), Duration::from_secs(2)];
/// Entries of one page, and pages of one list: 100,000 pods.
const PAGE: usize = 500;
const MOST_PAGES: usize = 200;
/// Of a server's reason or message.
const MAX_TEXT: Limit = Limit::Chars(400);

/// Gives tokens for requests, such as those of Entra.
pub trait TokenSource: Send + Sync {
    /// Returns a bearer token, a new one when the last gets old; else why there is none.
    fn token(&self) -> BoxFuture<'_, Result<http::HeaderValue, String>>;
}

/// A client of a Kubernetes API, which may sign its requests.
#[derive(Clone)]
pub struct Client {
    transport: kube::Client,
    /// Gives a token for each request; none if the client signs by itself.
    signer: Option<Arc<dyn TokenSource>>,
    /// Lists are asked for their objects' metadata alone.
    metadata_only: bool,
    /// The address of the API server, for people.
    server: Option<String>,
    /// What may keep this machine from the server, by the cluster's own settings.
    obstacle: Option<Arc<str>>,
    timeout: Duration,
    /// Set by the first response 401.
    signed_out: Arc<AtomicBool>,
}

/// By which the server names the writer of a field.
const USER_AGENT: &str = concat!("mooring/", env!("CARGO_PKG_VERSION"));

/// A server that cannot leave the rest out answers with whole objects, which hold the same.
const METADATA_ONLY: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json";

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    /// The body; null if it is not JSON.
    pub body: Value,
    /// The header, in seconds.
    pub retry_after: Option<i64>,
}

/// No whole answer came; whether the request took effect is not known.
#[derive(Debug)]
pub struct Lost(pub String);

impl Client {
    /// A client that signs by itself.
    #[must_use]
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

    /// The same with the server's address, which people compare with the one that they mean.
    #[must_use]
    pub fn at(self, server: Option<String>) -> Self {
        Self { server, ..self }
    }

    /// The same with what may keep this machine from the server. It is named where no response comes: a time-out alone
    /// explains nothing.
    #[must_use]
    pub fn with_obstacle(self, obstacle: Option<String>) -> Self {
        Self { obstacle: obstacle.map(Arc::from), ..self }
    }

    /// The same with another timeout of requests.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    fn unreached(&self, Lost(why): Lost) -> Lost {
        match &self.obstacle {
            Some(obstacle) => Lost(format!("{why}; {obstacle}")),
            None => Lost(why),
        }
    }

    /// Returns the server's address, where it is known.
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// A client whose requests carry a token.
    #[must_use]
    pub fn signed(client: kube::Client, signer: Arc<dyn TokenSource>) -> Self {
        Self { signer: Some(signer), ..Self::new(client) }
    }

    /// The same, but lists hold metadata only: what is not read cannot leak.
    #[must_use]
    pub fn metadata_only(&self) -> Self {
        Self { metadata_only: true, ..self.clone() }
    }

    /// Returns true once the server has rejected the credentials (401): a missing sign-in, not a missing permission.
    pub fn is_signed_out(&self) -> bool {
        self.signed_out.load(Ordering::Relaxed)
    }

    /// Sends a request, once.
    ///
    /// # Errors
    /// No whole response came.
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
            if let Some(token) = self.token().await? {
                request.headers_mut().insert(http::header::AUTHORIZATION, token);
            }
            let response = self.transport.send(request).await;
            let response = response.map_err(|error| self.unreached(lost(&error)))?;
            let (head, body) = response.into_parts();
            if head.status == StatusCode::UNAUTHORIZED {
                self.signed_out.store(true, Ordering::Relaxed);
            }
            let body = body.collect().await.map_err(|error| lost(&error))?.to_bytes();
            let retry_after = head.headers.get("retry-after");
            Ok(Response {
                status: head.status.as_u16(),
                body: serde_json::from_slice(&body).unwrap_or_default(),
                retry_after: retry_after
                    .and_then(|value| value.to_str().ok())
                    .and_then(|value| value.trim().parse().ok()),
            })
        };
        match tokio::time::timeout(self.timeout, answer).await {
            Ok(answer) => answer,
            Err(_) => {
                Err(self.unreached(Lost(format!("no answer in {} s", self.timeout.as_secs()))))
            }
        }
    }

    async fn token(&self) -> Result<Option<http::HeaderValue>, Lost> {
        match &self.signer {
            Some(signer) => signer.token().await.map(Some).map_err(Lost),
            None => Ok(None),
        }
    }

    /// A read, tried again while the server is busy or away.
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

    /// A whole list, in pages, each reduced to what is needed of it before the next is read.
    pub async fn list<T>(
        &self,
        path: &str,
        read: impl Fn(&Value) -> Option<Vec<T>>,
    ) -> Result<Vec<T>, RequestError> {
        let mut items = Vec::new();
        let mut follow = String::new();
        let mut restarted = false;
        let joint = if path.contains('?') { '&' } else { '?' };
        for _ in 0..MOST_PAGES {
            let answer = self.get(&format!("{path}{joint}limit={PAGE}{follow}")).await?;
            // The pages so far are too old to be continued: once more from the beginning.
            if answer.status == 410 && !restarted {
                restarted = true;
                items.clear();
                follow.clear();
                continue;
            }
            items.extend(answer.parse(|body| read(body))?);
            let token = answer.body.pointer("/metadata/continue").and_then(Value::as_str);
            match token.filter(|token| !token.is_empty()) {
                Some(token) => follow = format!("&continue={}", escaped(token)),
                None => return Ok(items),
            }
        }
        Err(RequestError::new(None, format!("the list has more than {MOST_PAGES} pages")))
    }
}

impl Response {
    /// Returns true for a status of 2xx.
    pub fn is_success(&self) -> bool {
        StatusCode::from_u16(self.status).is_ok_and(|status| status.is_success())
    }

    /// The reason and message of a refusal.
    pub fn refusal(&self) -> (String, String) {
        let text = |name: &str| {
            let text = self.body.get(name).and_then(Value::as_str).unwrap_or_default();
            foreign(text, MAX_TEXT)
        };
        let reason = text("reason");
        let reason = if reason.is_empty() { format!("HTTP {}", self.status) } else { reason };
        (reason, text("message"))
    }

    /// Parses the body of a success.
    ///
    /// # Errors
    /// The status, if it is not a success, or a body that does not parse.
    pub fn parse<T>(&self, parse: impl FnOnce(&Value) -> Option<T>) -> Result<T, RequestError> {
        if !self.is_success() {
            let (reason, message) = self.refusal();
            return Err(RequestError { status: Some(self.status), reason, message });
        }
        parse(&self.body).ok_or_else(|| RequestError::new(None, "unreadable answer".to_owned()))
    }
}

/// A request that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}{}{message}", if message.is_empty() { "" } else { ": " })]
pub struct RequestError {
    /// The status; none without a usable response.
    pub status: Option<u16>,
    /// The server's reason, or why there is no usable response.
    pub reason: String,
    /// The server's message.
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

/// A continue token is base64 in practice, but that is not documented.
fn escaped(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

fn lost(error: &(dyn std::error::Error + 'static)) -> Lost {
    Lost(redacted_message(error))
}
