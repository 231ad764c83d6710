//! The production implementation of [`World`].
//!
//! Requests use reqwest with rustls, not the pipeline of `azure_core`: that pipeline retries by its own rules and
//! sleeps by its own clock, does not distinguish a request that was never sent from one whose response was lost,
//! and would not count its retries against the budget. `azure_identity` gets tokens over a client that trusts the
//! same certificates.

use std::collections::hash_map::RandomState;
use std::error::Error as _;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;

use super::{TransportError, World};
use crate::cloud::Cloud;
use crate::identity::{Chain, IdentityError, IdentitySettings, Token};
use crate::text::safe;

/// Maximum size of a response. A full page of the activity log has about 2 MiB.
const MAX_BODY: usize = 32 << 20;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Instance metadata is served by the host and connects immediately or not at all.
const METADATA_CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The system's clock, network and identity.
#[derive(Debug)]
pub struct Real {
    client: reqwest::Client,
    chain: Chain,
    keys: RandomState,
    drawn: AtomicU64,
}

impl Real {
    /// Reads the additional certificates and prepares the credentials without sending a request.
    pub fn new(cloud: &Cloud, identity: &IdentitySettings) -> Result<Self, IdentityError> {
        // reqwest and azure_identity use the provider of the process; one that is already installed is kept.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let roots = roots(cloud)?;
        let builder = || {
            reqwest::Client::builder()
                .tls_certs_merge(roots.clone())
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .connect_timeout(CONNECT_TIMEOUT)
                .user_agent(concat!("mooring/", env!("CARGO_PKG_VERSION")))
        };
        let built = |client: reqwest::ClientBuilder| {
            client.build().map_err(|error| IdentityError::Setup(describe(&error)))
        };
        let client = built(builder().https_only(true))?;
        let sign_in = built(builder().https_only(true))?;
        // The metadata service uses plain HTTP on a link-local address and must not be reached through a proxy.
        let metadata = built(builder().no_proxy().connect_timeout(METADATA_CONNECT_TIMEOUT))?;
        let chain = Chain::new(cloud, identity, &sign_in, &metadata)?;
        Ok(Self { client, chain, keys: RandomState::new(), drawn: AtomicU64::new(0) })
    }
}

impl World for Real {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(duration).boxed()
    }

    fn random(&self) -> u64 {
        self.keys.hash_one(self.drawn.fetch_add(1, Ordering::Relaxed))
    }

    fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> BoxFuture<'_, Result<http::Response<Bytes>, TransportError>> {
        async move {
            let request = reqwest::Request::try_from(request)
                .map_err(|error| TransportError::unsent(describe(&error)))?;
            let mut response = self.client.execute(request).await.map_err(|error| {
                let what = describe(&error);
                if error.is_connect() || error.is_builder() {
                    TransportError::unsent(what)
                } else {
                    TransportError::unknown(what)
                }
            })?;
            let mut answer = http::Response::builder().status(response.status());
            if let Some(headers) = answer.headers_mut() {
                headers.clone_from(response.headers());
            }
            let mut body = BytesMut::new();
            while let Some(piece) =
                response.chunk().await.map_err(|error| TransportError::unknown(describe(&error)))?
            {
                if body.len() + piece.len() > MAX_BODY {
                    return Err(TransportError::unknown("response larger than 32 MiB"));
                }
                body.extend_from_slice(&piece);
            }
            answer
                .body(body.freeze())
                .map_err(|_| TransportError::unknown("response without status"))
        }
        .boxed()
    }

    fn token<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<Token, IdentityError>> {
        self.chain.token(scope).boxed()
    }
}

fn roots(cloud: &Cloud) -> Result<Vec<reqwest::Certificate>, IdentityError> {
    let Some(path) = cloud.ca() else { return Ok(Vec::new()) };
    let wrong =
        |why: &str| IdentityError::Certificates { path: path.to_owned(), why: why.to_owned() };
    let pem = std::fs::read(path).map_err(|error| wrong(&error.to_string()))?;
    let roots = reqwest::Certificate::from_pem_bundle(&pem).map_err(|_| wrong("is not PEM"))?;
    if roots.is_empty() { Err(wrong("contains no certificate")) } else { Ok(roots) }
}

/// Formats an error with its causes, without the URL, whose query may contain a signature.
fn describe(error: &reqwest::Error) -> String {
    let mut text = match error.url() {
        Some(url) => format!("no response from {}", url.origin().ascii_serialization()),
        None => "no response".to_owned(),
    };
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    safe(&text)
}
