//! HTTP requests to hooks.

use std::error::Error as _;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use mooring_redact::Secret;

use crate::text::safe;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationRequest {
    pub url: Secret,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

/// The way to hooks.
pub trait Transport: Send + Sync {
    /// Sends a POST request once. Returns the status of the response, or why there is none, without the URL.
    fn send(&self, request: NotificationRequest) -> BoxFuture<'_, Result<u16, String>>;
}

/// The network, through the proxy of the environment. Redirects are not followed: the request is for one host.
#[derive(Debug)]
pub struct HttpTransport {
    client: reqwest::Client,
}

impl HttpTransport {
    pub fn new() -> Result<Self, String> {
        // reqwest uses the provider of the process; one that is already installed is kept.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(CONNECT_TIMEOUT)
            .user_agent(concat!("mooring/", env!("CARGO_PKG_VERSION")))
            .build();
        client.map(|client| Self { client }).map_err(|error| describe(&error))
    }
}

impl Transport for HttpTransport {
    fn send(&self, request: NotificationRequest) -> BoxFuture<'_, Result<u16, String>> {
        async move {
            let mut builder = self
                .client
                .post(request.url.expose())
                .header(http::header::CONTENT_TYPE, "application/json");
            for (name, value) in request.headers {
                builder = builder.header(name, value);
            }
            let response = builder.body(request.body).send().await;
            response.map(|response| response.status().as_u16()).map_err(|error| describe(&error))
        }
        .boxed()
    }
}

/// Formats an error with its causes, without the URL, which is a secret.
fn describe(error: &reqwest::Error) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    let text = causes.fold("no response".to_owned(), |text, cause| format!("{text}: {cause}"));
    safe(&text, 256)
}
