//! Acquires, renews and releases a Lease.

use std::time::Duration;

use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::lease::Clock;
use crate::lease::{Candidate, Lease, LeaseStep, Times};
use crate::request::{Client, RequestError};

const RELEASE_TIMEOUT: Duration = Duration::from_secs(8);

/// Result of an attempt to hold a Lease.
#[derive(Debug, PartialEq, Eq)]
pub enum LeaseAttempt {
    /// The Lease was created, acquired or renewed.
    Held,
    /// Another process holds the Lease.
    Waiting(Lease),
    /// Another process took over the Lease: stop writing immediately.
    Lost(Lease),
}

/// One process that holds or waits for a Lease.
pub struct Holder {
    client: Client,
    namespace: String,
    name: String,
    clock: Clock,
    candidate: Candidate,
    /// The Lease as this process wrote it last; none if another process may have written since.
    written: Option<Lease>,
}

impl Holder {
    /// Creates a process that does not hold the Lease. `identity` must be unique.
    pub fn new(
        client: Client,
        namespace: &str,
        name: &str,
        identity: &str,
        times: Times,
        clock: Clock,
    ) -> Self {
        let candidate = Candidate::new(identity, times);
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        Self { client, namespace, name, clock, candidate, written: None }
    }

    pub async fn read(&self) -> Result<Option<Lease>, RequestError> {
        read_lease(&self.client, &self.namespace, &self.name).await
    }

    /// Creates, acquires or renews the Lease if possible.
    pub async fn attempt(&mut self) -> Result<LeaseAttempt, RequestError> {
        // A holder renews the version that it wrote. If that one is outdated, the Lease is read.
        if let Some(written) = self.written.take() {
            match self.confirm(Method::PUT, Some(&written)).await {
                Err(RequestError { status: Some(404 | 409), .. }) => {}
                renewed => return renewed,
            }
        }
        let lease = self.read().await?;
        let method = match (self.candidate.decide(lease.as_ref(), (self.clock)()), &lease) {
            (LeaseStep::Wait, Some(lease)) => return Ok(LeaseAttempt::Waiting(lease.clone())),
            (LeaseStep::StepDown, Some(lease)) => return Ok(LeaseAttempt::Lost(lease.clone())),
            (LeaseStep::Acquire | LeaseStep::Renew, Some(_)) => Method::PUT,
            _ => Method::POST,
        };
        self.confirm(method, lease.as_ref()).await
    }

    /// Replaces `lease` with the Lease of this process.
    async fn confirm(
        &mut self,
        method: Method,
        lease: Option<&Lease>,
    ) -> Result<LeaseAttempt, RequestError> {
        // Other processes count from when they read a renewal, which may be before its response arrives.
        let sent = (self.clock)();
        let written = self.write(method, self.candidate.object(lease, sent)).await?;
        self.candidate.confirmed(sent);
        // Without a version the next write would be unconditional.
        self.written = Some(written).filter(|lease| !lease.resource_version.is_empty());
        Ok(LeaseAttempt::Held)
    }

    /// Returns until when this process may write; none if it does not hold the Lease.
    pub fn may_write_until(&self) -> Option<Timestamp> {
        self.candidate.may_write_until()
    }

    /// Stops holding the Lease, without a request.
    pub fn lose(&mut self) {
        self.written = None;
        self.candidate.lost();
    }

    /// Releases the Lease, so that the next holder does not wait until it expires. Returns true if that was confirmed.
    pub async fn release(&mut self) -> bool {
        let written = self.written.take();
        self.lose();
        let released = async {
            let lease = match written {
                Some(written) => written,
                None => self.read().await.ok()??,
            };
            let object = self.candidate.released(&lease, (self.clock)())?;
            self.write(Method::PUT, object).await.ok()
        };
        matches!(tokio::time::timeout(RELEASE_TIMEOUT, released).await, Ok(Some(_)))
    }

    async fn write(&self, method: Method, mut object: Value) -> Result<Lease, RequestError> {
        object["metadata"]["name"] = json!(self.name);
        object["metadata"]["namespace"] = json!(self.namespace);
        let name = if method == Method::PUT { &self.name } else { "" };
        let path = path(&self.namespace, name);
        self.client
            .send(method, &path, Some(&object))
            .await?
            .parse(|body| Some(Lease::from_value(body)))
    }
}

/// Reads a Lease; none if it does not exist.
pub async fn read_lease(
    client: &Client,
    namespace: &str,
    name: &str,
) -> Result<Option<Lease>, RequestError> {
    let response = client.send(Method::GET, &path(namespace, name), None).await?;
    if response.status == 404 {
        return Ok(None);
    }
    response.parse(|body| Some(Some(Lease::from_value(body))))
}

fn path(namespace: &str, name: &str) -> String {
    let path = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}");
    path.trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use jiff::SignedDuration;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    /// An API server with one Lease, whose writes take 3 s.
    #[derive(Clone, Default)]
    struct Server {
        lease: Arc<Mutex<Option<Value>>>,
        time: Arc<Mutex<Timestamp>>,
    }

    impl Server {
        fn holder(&self, identity: &str) -> Holder {
            let server = self.clone();
            let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
                let server = server.clone();
                async move {
                    let (head, body) = request.into_parts();
                    let body = body.collect_bytes().await.unwrap();
                    let (status, body) = server.response(&head.method, &body);
                    let body = kube::client::Body::from(body.to_string().into_bytes());
                    http::Response::builder().status(status).body(body)
                }
            });
            let client = Client::new(kube::Client::new(service, "default"));
            let time = Arc::clone(&self.time);
            let clock: Clock = Arc::new(move || *time.lock().unwrap());
            Holder::new(client, "mooring-system", "one", identity, Times::default(), clock)
        }

        fn response(&self, method: &Method, body: &[u8]) -> (u16, Value) {
            let mut lease = self.lease.lock().unwrap();
            if method == Method::GET {
                return lease.clone().map_or((404, json!({})), |lease| (200, lease));
            }
            let mut sent: Value = serde_json::from_slice(body).unwrap();
            let version = lease.as_ref().map(|lease| lease["metadata"]["resourceVersion"].clone());
            let expected = version.clone().unwrap_or_default();
            if sent["metadata"]["resourceVersion"] != expected {
                return (409, json!({"reason": "Conflict"}));
            }
            let next = version.and_then(|version| version.as_str()?.parse().ok()).unwrap_or(0) + 1;
            sent["metadata"]["resourceVersion"] = json!(next.to_string());
            *lease = Some(sent.clone());
            *self.time.lock().unwrap() += SignedDuration::from_secs(3);
            (200, sent)
        }

        fn pass(&self, seconds: i64) {
            *self.time.lock().unwrap() += SignedDuration::from_secs(seconds);
        }
    }

    /// Other processes count from when they read a renewal, which is before the response arrives.
    #[tokio::test]
    async fn lease_starts_when_its_renewal_is_sent() {
        let server = Server::default();
        let mut holder = server.holder("a");
        assert_eq!(holder.attempt().await, Ok(LeaseAttempt::Held));
        assert_eq!(*server.time.lock().unwrap(), at(3));
        let until = at(0) + SignedDuration::try_from(Times::default().renew).unwrap();
        assert_eq!(holder.may_write_until(), Some(until));
    }

    #[tokio::test]
    async fn lease_is_held_by_one_process() {
        let server = Server::default();
        let (mut a, mut b) = (server.holder("a"), server.holder("b"));
        assert_eq!(a.attempt().await, Ok(LeaseAttempt::Held));
        assert!(
            matches!(b.attempt().await, Ok(LeaseAttempt::Waiting(lease)) if lease.holder == "a")
        );
        for _ in 0..5 {
            server.pass(10);
            assert_eq!(a.attempt().await, Ok(LeaseAttempt::Held), "it renews");
            assert!(matches!(b.attempt().await, Ok(LeaseAttempt::Waiting(_))));
        }
        server.pass(15);
        assert_eq!(b.attempt().await, Ok(LeaseAttempt::Held), "it expired");
        assert!(matches!(a.attempt().await, Ok(LeaseAttempt::Lost(lease)) if lease.holder == "b"));
        assert_eq!(a.may_write_until(), None);
        assert!(!a.release().await, "another process holds it");
        assert!(b.release().await);
        assert_eq!(a.attempt().await, Ok(LeaseAttempt::Held), "at once");
    }

    #[tokio::test]
    async fn concurrent_acquisition_gets_a_conflict() {
        let server = Server::default();
        let mut a = server.holder("a");
        a.attempt().await.unwrap();
        let stale = a.read().await.unwrap();
        a.attempt().await.unwrap();
        let error = a.confirm(Method::PUT, stale.as_ref()).await.unwrap_err();
        assert_eq!((error.status, error.reason.as_str()), (Some(409), "Conflict"));
    }
}
