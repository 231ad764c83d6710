//! The client's world: the model of Azure with an unreliable network.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{HeaderValue, Request, Response};
use jiff::Timestamp;
use mooring_arm::identity::IdentityError;
use mooring_arm::{BudgetLimits, Token, TransportError, World};
use mooring_simulator::azure::Azure;
use mooring_simulator::exchange::{Body, ServerReply};
use mooring_simulator::random::Random;

/// The only host that may receive a token.
const HOST: &str = "management.azure.com";
const FOREIGN: &str = "https://management.azure.com.elsewhere.example";

/// Failure rates of network and sign-in, in percent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Network {
    pub(crate) unsent: u64,
    pub(crate) no_token: u64,
    /// Links in responses lead to other hosts.
    pub(crate) foreign: u64,
}

/// One request and its response.
#[derive(Debug, Clone)]
pub(crate) struct RecordedRequest {
    pub(crate) at: u64,
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) host: String,
    pub(crate) correlation: String,
    pub(crate) request_id: String,
    /// Status that the model returned, also if the response was lost; 0 for none.
    pub(crate) status: u16,
    /// A fault rule returned the response, and nothing was applied.
    pub(crate) by_rule: bool,
    /// Time of the response, and its `Retry-After` in seconds.
    pub(crate) responded: Option<(u64, Option<u64>)>,
    pub(crate) unsent: bool,
}

impl RecordedRequest {
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    pub(crate) fn is_write(&self) -> bool {
        self.method != "GET" && !self.path().ends_with("listClusterUserCredential")
    }

    /// Returns true for calls of class `once`.
    pub(crate) fn is_once(&self) -> bool {
        self.method == "POST" && self.is_write()
    }

    pub(crate) fn is_accepted(&self) -> bool {
        (200..300).contains(&self.status) && !self.by_rule
    }

    /// Returns true if the request may have been applied, as far as the client knows.
    pub(crate) fn may_be_applied(&self) -> bool {
        !self.unsent
            && (self.responded.is_none()
                || self.status < 300
                || self.status == 408
                || self.status >= 500)
    }
}

/// Record of one schedule.
pub(crate) struct Record {
    pub(crate) azure: Azure,
    pub(crate) seen: Vec<RecordedRequest>,
    pub(crate) reports: Vec<crate::schedules::steps::StepReport>,
    pub(crate) limits: BudgetLimits,
    pub(crate) ended: u64,
    /// The model may return stale reads.
    pub(crate) stale: bool,
    pub(crate) actors: usize,
}

impl Record {
    pub(crate) fn text(&self) -> String {
        use std::fmt::Write as _;
        let mut text = self.azure.trace().text();
        for seen in &self.seen {
            writeln!(text, "{seen:?}").unwrap();
        }
        for report in &self.reports {
            writeln!(text, "{report:?}").unwrap();
        }
        text
    }
}

pub(crate) struct TestWorld {
    pub(crate) azure: Mutex<Azure>,
    pub(crate) seen: Mutex<Vec<RecordedRequest>>,
    random: Mutex<Random>,
    network: Network,
    start: Timestamp,
    began: tokio::time::Instant,
}

impl TestWorld {
    pub(crate) fn new(
        azure: Azure,
        start: Timestamp,
        random: Random,
        network: Network,
    ) -> Arc<Self> {
        Arc::new(Self {
            azure: Mutex::new(azure),
            seen: Mutex::default(),
            random: Mutex::new(random),
            network,
            start,
            began: tokio::time::Instant::now(),
        })
    }

    /// Returns milliseconds since the start.
    pub(crate) fn millis(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap()
    }

    fn below(&self, bound: u64) -> u64 {
        self.random.lock().unwrap().below(bound)
    }

    fn percent(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Passes the request to the model, and records the status from its trace.
    fn arrive(&self, index: usize, request: &Request<Bytes>) -> ServerReply {
        let mut azure = self.azure.lock().unwrap();
        let outcome = azure.handle(request, self.now());
        let line = azure.trace().lines().next_back().unwrap_or_default();
        let (_, answered) = line.split_once(" -> ").expect("a line of the trace tells the status");
        let seen = &mut self.seen.lock().unwrap()[index];
        seen.status = answered.split(' ').next().unwrap().parse().unwrap();
        seen.by_rule = answered.contains(r#" fault {"status""#);
        outcome
    }

    /// Returns the response that reaches the client.
    fn deliver(&self, response: Response<Body>, cut: Option<usize>) -> Response<Bytes> {
        let (mut parts, body) = response.into_parts();
        let mut body = body.bytes();
        if let Some(length) = cut {
            body.truncate(length);
        }
        if self.percent(self.network.foreign) {
            for name in ["azure-asyncoperation", "location"] {
                if let Some(link) = parts.headers.get(name) {
                    let link =
                        link.to_str().unwrap().replace("https://management.azure.com", FOREIGN);
                    parts.headers.insert(name, HeaderValue::try_from(link).unwrap());
                }
            }
            let text = String::from_utf8_lossy(&body);
            if text.contains(r#""nextLink":"#) {
                let moved = text.replace("https://management.azure.com/", &format!("{FOREIGN}/"));
                body = Bytes::from(moved);
            }
        }
        Response::from_parts(parts, body)
    }

    fn record_response(&self, index: usize, retry_after: Option<u64>) {
        let at = self.millis();
        self.seen.lock().unwrap()[index].responded = Some((at, retry_after));
    }
}

impl World for TestWorld {
    fn now(&self) -> Timestamp {
        self.start.checked_add(self.began.elapsed()).unwrap()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(duration).boxed()
    }

    fn random(&self) -> u64 {
        self.random.lock().unwrap().draw()
    }

    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        let header = |name: &str| {
            let value = request.headers().get(name).map(|value| value.to_str().unwrap());
            value.unwrap_or_default().to_owned()
        };
        let index = {
            let mut seen = self.seen.lock().unwrap();
            seen.push(RecordedRequest {
                at: self.millis(),
                method: request.method().to_string(),
                target: request.uri().path_and_query().unwrap().to_string(),
                host: request.uri().host().unwrap_or_default().to_owned(),
                correlation: header("x-ms-correlation-request-id"),
                request_id: header("x-ms-client-request-id"),
                status: 0,
                by_rule: false,
                responded: None,
                unsent: false,
            });
            seen.len() - 1
        };
        async move {
            // In transit to the server: a call that is dropped here has sent nothing.
            tokio::time::sleep(Duration::from_millis(self.below(80))).await;
            if self.percent(self.network.unsent) {
                self.seen.lock().unwrap()[index].unsent = true;
                return Err(TransportError::unsent("connection refused"));
            }
            let outcome = self.arrive(index, &request);
            // In transit to the client: a call that is dropped here has unknown status.
            tokio::time::sleep(Duration::from_millis(self.below(400))).await;
            let (response, cut) = match outcome {
                ServerReply::Answer(response) => (response, None),
                // The truncation is not always visible: a proxy may end the body normally.
                ServerReply::CutShort(response, length) if self.percent(50) => {
                    (response, Some(length))
                }
                ServerReply::CutShort(..) => {
                    return Err(TransportError::unknown("the body broke off"));
                }
                ServerReply::Dropped => return Err(TransportError::unknown("connection reset")),
                ServerReply::Silence => return std::future::pending().await,
            };
            // The headers of a truncated response are ignored.
            let retry_after = response.headers().get("retry-after").filter(|_| cut.is_none());
            self.record_response(
                index,
                retry_after.and_then(|value| value.to_str().ok()?.parse().ok()),
            );
            Ok(self.deliver(response, cut))
        }
        .boxed()
    }

    fn token<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<Token, IdentityError>> {
        async move {
            tokio::time::sleep(Duration::from_millis(self.below(300))).await;
            if self.percent(self.network.no_token) {
                return Err(IdentityError::Setup("the sign-in endpoint is away".to_owned()));
            }
            let now = self.now();
            let audience = scope.trim_end_matches(".default");
            let secret = self.azure.lock().unwrap().token(audience, now);
            let expires = now.checked_add(Duration::from_hours(1)).unwrap();
            Ok(Token { secret: secret.as_str().into(), expires, credential: None })
        }
        .boxed()
    }
}

/// Returns true if the request was sent to the cloud's host.
pub(crate) fn is_own(seen: &RecordedRequest) -> bool {
    seen.host == HOST
}
