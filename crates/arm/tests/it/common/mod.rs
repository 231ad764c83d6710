//! A world with scripted responses, under tokio's paused clock.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use mooring_arm::identity::IdentityError;
use mooring_arm::{
    Budget, BudgetLimits, Client, Cloud, CloudSettings, ResourceId, Token, TransportError, World,
};

/// Response to one request.
pub(crate) enum Reply {
    Answer(u16, Vec<(String, String)>, String),
    Lost,
    Unsent,
    Silence,
}

pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Reply {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Reply::Answer(status, headers.collect(), body.to_owned())
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedRequest {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) body: String,
    pub(crate) if_match: Option<String>,
    pub(crate) if_none_match: Option<String>,
    pub(crate) correlation_id: String,
    pub(crate) request_id: String,
    pub(crate) at: u64,
}

pub(crate) struct TestWorld {
    began: tokio::time::Instant,
    replies: Mutex<VecDeque<Reply>>,
    pub(crate) seen: Mutex<Vec<RecordedRequest>>,
    drawn: AtomicU64,
    /// Lifetimes of the tokens to come in seconds; 0 is a failure. When empty: an hour each.
    pub(crate) tokens: Mutex<VecDeque<u64>>,
    pub(crate) tokens_asked: AtomicU64,
    pub(crate) token: Mutex<String>,
}

/// Must never be printed.
pub(crate) const CANARY: &str = "canary-4f1c0ffee-token";
/// The only other host that gets requests, without a token.
pub(crate) const STORAGE: &str = "account.blob.core.windows.net";

impl TestWorld {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Arc<Self> {
        Arc::new(Self {
            began: tokio::time::Instant::now(),
            replies: Mutex::new(replies.into_iter().collect()),
            seen: Mutex::default(),
            drawn: AtomicU64::new(0),
            tokens: Mutex::default(),
            tokens_asked: AtomicU64::new(0),
            token: Mutex::new(CANARY.to_owned()),
        })
    }

    pub(crate) fn client(self: &Arc<Self>) -> Client {
        let cloud = Cloud::new(CloudSettings::default()).unwrap();
        Client::new(cloud, Arc::<Self>::clone(self), Budget::new(BudgetLimits::default()))
    }

    pub(crate) fn sent(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    pub(crate) fn times(&self) -> Vec<u64> {
        self.seen.lock().unwrap().iter().map(|seen| seen.at).collect()
    }

    pub(crate) fn seen(&self, at: usize) -> RecordedRequest {
        self.seen.lock().unwrap()[at].clone()
    }

    pub(crate) fn remaining_replies(&self) -> usize {
        self.replies.lock().unwrap().len()
    }
}

impl World for TestWorld {
    fn now(&self) -> Timestamp {
        let start: Timestamp = "2026-11-15T05:00:00Z".parse().unwrap();
        start.checked_add(self.began.elapsed()).unwrap()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(duration).boxed()
    }

    fn random(&self) -> u64 {
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        drawn.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> BoxFuture<'_, Result<http::Response<Bytes>, TransportError>> {
        let header = |name: &str| {
            request.headers().get(name).map(|value| value.to_str().unwrap().to_owned())
        };
        let token = match request.uri().host() {
            Some("management.azure.com") => Some(format!("Bearer {CANARY}")),
            Some(STORAGE) => None,
            host => panic!("a request went to {host:?}"),
        };
        assert_eq!(header("authorization"), token);
        assert_eq!(header("content-type").is_some(), !request.body().is_empty());
        self.seen.lock().unwrap().push(RecordedRequest {
            method: request.method().to_string(),
            target: request.uri().path_and_query().unwrap().to_string(),
            body: String::from_utf8(request.body().to_vec()).unwrap(),
            if_match: header("if-match"),
            if_none_match: header("if-none-match"),
            correlation_id: header("x-ms-correlation-request-id").unwrap_or_default(),
            request_id: header("x-ms-client-request-id").unwrap_or_default(),
            at: self.began.elapsed().as_secs(),
        });
        let reply = self.replies.lock().unwrap().pop_front();
        async move {
            match reply.expect("the script has no answer for this request") {
                Reply::Answer(status, headers, body) => {
                    let mut response = http::Response::builder().status(status);
                    for (name, value) in headers {
                        response = response.header(name, value);
                    }
                    Ok(response.body(Bytes::from(body)).unwrap())
                }
                Reply::Lost => Err(TransportError::unknown("connection reset")),
                Reply::Unsent => Err(TransportError::unsent("connection refused")),
                Reply::Silence => std::future::pending().await,
            }
        }
        .boxed()
    }

    fn token<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Token, IdentityError>> {
        self.tokens_asked.fetch_add(1, Ordering::Relaxed);
        let seconds = self.tokens.lock().unwrap().pop_front().unwrap_or(3600);
        let expires = self.now().checked_add(Duration::from_secs(seconds)).unwrap();
        let secret = self.token.lock().unwrap().as_str().into();
        async move {
            // Long enough for concurrent requests.
            tokio::time::sleep(Duration::from_millis(10)).await;
            if seconds == 0 {
                return Err(IdentityError::Setup("sign-in endpoint unavailable".to_owned()));
            }
            Ok(Token { secret, expires, credential: None })
        }
        .boxed()
    }
}

pub(crate) fn cluster() -> ResourceId {
    ResourceId::cluster("s", "rg", "demo").unwrap()
}

pub(crate) fn pool() -> ResourceId {
    cluster().child("agentPools", "system").unwrap()
}
