//! Check of the target before the token is attached, and printed calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::Method;
use jiff::Timestamp;

use super::Call;
use crate::identity::IdentityError;
use crate::path::tests::unchecked;
use crate::request_class::Class;
use crate::{
    Budget, BudgetLimits, Client, Cloud, CloudSettings, ErrorKind, Token, TransportError, World,
    WriteStatus,
};

/// Counts tokens and requests.
#[derive(Default)]
struct Canary {
    tokens: AtomicUsize,
    requests: AtomicUsize,
}

impl World for Canary {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        std::future::pending().boxed()
    }

    fn random(&self) -> u64 {
        0
    }

    fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> BoxFuture<'_, Result<http::Response<Bytes>, TransportError>> {
        assert_eq!(request.uri().authority().unwrap(), "management.azure.com");
        self.requests.fetch_add(1, Ordering::Relaxed);
        async { Ok(http::Response::new(Bytes::from_static(b"{}"))) }.boxed()
    }

    fn token<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Token, IdentityError>> {
        self.tokens.fetch_add(1, Ordering::Relaxed);
        async { Ok(Token { secret: "canary".into(), expires: Timestamp::MAX, credential: None }) }
            .boxed()
    }
}

#[test]
fn unchecked_target_gets_neither_token_nor_request() {
    let canary = Arc::new(Canary::default());
    let cloud = Cloud::new(CloudSettings::default()).unwrap();
    let client =
        Client::new(cloud, Arc::<Canary>::clone(&canary), Budget::new(BudgetLimits::default()));
    for target in unchecked() {
        let error = client.send(&Call::follow(target.clone())).now_or_never().unwrap();
        let error = error.err().unwrap_or_else(|| panic!("{target:?} was sent"));
        assert!(matches!(error.kind, ErrorKind::Invalid(_)), "{target:?}: {error}");
        assert_eq!(error.write_status, WriteStatus::NotApplied);
    }
    let counts =
        || (canary.tokens.load(Ordering::Relaxed), canary.requests.load(Ordering::Relaxed));
    assert_eq!(counts(), (0, 0));
    let own = Call::get("/x", "v").unwrap();
    assert!(client.send(&own).now_or_never().unwrap().is_ok());
    assert_eq!(counts(), (1, 1));
}

#[test]
fn printed_call_contains_neither_query_nor_body() {
    let call = Call::get("/x", "v").unwrap().query("sig", "hunter2").text(r#"{"a":"hunter2"}"#);
    assert_eq!(format!("{call:?}"), "GET /x (read)");
}

#[test]
fn error_of_a_call_that_cannot_be_sent_names_it() {
    let call = |path| Call::new(Method::PUT, Class::Idempotent, path, "v");
    let error = call("/x").unwrap().if_match(Some("a\nb")).unwrap_err();
    assert_eq!(error.to_string(), "invalid eTag (PUT /x)");
    let error = call("/x?y").unwrap_err();
    assert!(error.to_string().contains("it contains a query (PUT /x"), "{error}");
    assert_eq!((error.reason(), error.write_status), ("Invalid", WriteStatus::NotApplied));
}
