//! Reads of Azure, each with a timeout, each resulting in an observation.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::List;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use mooring_arm::{Client, Error, ErrorKind, Priority, ResourceId};
use mooring_nodes::verdict::registration::RequestState;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::observation::{MachineStatus, Observation, VmObservation};
use crate::run::api::Api;
use crate::schedule::QueuePriority;
use crate::state::{ReadTarget, Sweep, SweepResult, SweepRow, sweep_query};

/// A VM is deleted within this time; other reads can wait for a retry.
const EVENT_READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Shorter than the time that the state waits for a result.
const READ_TIMEOUT: Duration = Duration::from_secs(45);

pub async fn observe(arm: &Client, target: &ReadTarget, priority: QueuePriority) -> Observation {
    let client = match priority {
        QueuePriority::Trigger => arm.at(Priority::Trigger).within(EVENT_READ_TIMEOUT),
        // After scheduled reads, and without use once the VM is deleted.
        QueuePriority::Event => arm.at(Priority::Routine).within(EVENT_READ_TIMEOUT),
        QueuePriority::Sweep | QueuePriority::Pending => {
            arm.at(Priority::Routine).within(READ_TIMEOUT)
        }
    };
    let path = match target {
        ReadTarget::Vm(vm) => vm.path(),
        ReadTarget::Machine(machine) => machine.path(),
    };
    let Ok(id) = ResourceId::parse(&path) else {
        return Observation::Unreadable { what: "invalid resource id" };
    };
    let response = match target {
        ReadTarget::Vm(_) => {
            let vm = client.vm(&id).await;
            vm.map(|vm| Observation::Vm(VmObservation::of(&vm)))
        }
        ReadTarget::Machine(_) => {
            let machine = client.machine(&id).await;
            machine.map(|machine| Observation::Machine(MachineStatus::of(&machine)))
        }
    };
    response.unwrap_or_else(|error| observe_error(&error))
}

/// Converts an error. Its text is logged where it can be acted on.
fn observe_error(error: &Error) -> Observation {
    match &error.kind {
        ErrorKind::NotFound(_) => Observation::Missing,
        ErrorKind::Unauthorized(_) => Observation::Denied { status: 401 },
        ErrorKind::Forbidden(_) => Observation::Denied { status: 403 },
        ErrorKind::Throttled { retry_after, .. } => {
            Observation::Throttled { retry_after: *retry_after }
        }
        ErrorKind::BudgetFull => Observation::Throttled { retry_after: None },
        ErrorKind::Identity(why) => {
            tracing::error!(%why, "failed to get an Azure access token");
            Observation::Unreadable { what: "no Azure access token" }
        }
        ErrorKind::Deadline(_) | ErrorKind::Transport(_) => {
            Observation::Unreadable { what: "no response from Azure" }
        }
        ErrorKind::Server(_) => Observation::Unreadable { what: "server error" },
        _ => Observation::Unreadable { what: "unexpected response" },
    }
}

/// Reads a list; none if that failed.
pub async fn read_list(arm: &Client, sweep: &Sweep) -> Option<SweepResult> {
    let client = arm.at(Priority::Sweep).within(READ_TIMEOUT);
    let found = match sweep {
        Sweep::Extensions { subscription, group } => {
            let rows = client.graph::<SweepRow>(&[&**subscription], &sweep_query(group)).await;
            rows.map(|rows| {
                let rows = rows.iter().filter_map(SweepRow::state).collect();
                SweepResult::Extensions { group: group.clone(), rows }
            })
        }
        Sweep::Machines { pool } => {
            let id = ResourceId::parse(pool).ok()?;
            let machines = client.machines(&id).await;
            machines.map(|machines| {
                let machines = machines.iter().map(MachineStatus::of).collect();
                SweepResult::Machines { pool: pool.clone(), machines }
            })
        }
    };
    found.inspect_err(|error| tracing::warn!(%error, "sweep failed")).ok()
}

/// Limit of list requests, regardless of the number of nodes.
const LIST_INTERVAL: Duration = Duration::from_secs(10);
/// Limit of requests read: kubelets of nodes that join have one each, for an hour.
const MAX_REQUESTS: usize = 5_000;
const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests\
    ?fieldSelector=spec.signerName%3Dkubernetes.io%2Fkube-apiserver-client-kubelet&limit=500";

#[derive(Clone)]
pub struct Inspector {
    api: Api,
    listed: Arc<Mutex<Option<(Instant, Requests)>>>,
}

/// Newest decision on the requests of each node; none if they cannot be listed.
type Requests = Option<Arc<HashMap<String, RequestState>>>;

impl Inspector {
    #[must_use]
    pub fn new(api: Api) -> Self {
        Self { api, listed: Arc::default() }
    }

    /// Returns the newest decision on the requests of a node; unknown if they cannot be read.
    pub async fn inspect(&self, node: &str) -> RequestState {
        self.requests().await.map_or(RequestState::Unknown, |requests| {
            requests.get(node).copied().unwrap_or(RequestState::Absent)
        })
    }

    async fn requests(&self) -> Requests {
        let mut listed = self.listed.lock().await;
        if let Some((at, requests)) = &*listed
            && at.elapsed() < LIST_INTERVAL
        {
            return requests.clone();
        }
        let requests = self.list().await.map(Arc::new);
        *listed = Some((Instant::now(), requests.clone()));
        requests
    }

    async fn list(&self) -> Option<HashMap<String, RequestState>> {
        let (mut found, mut page) = (Vec::new(), String::new());
        loop {
            let list = match self.api.get(&format!("{REQUESTS}{page}")).await {
                Ok(text) => serde_json::from_str::<List<CertificateSigningRequest>>(&text).ok()?,
                Err(error) => {
                    tracing::debug!(%error, "failed to list certificate signing requests");
                    return None;
                }
            };
            // The objects are large; only this is kept of all pages.
            found.extend(list.items.into_iter().map(|request| {
                let (node, state) = (node_of(&request), state_of(&request));
                (request.metadata.creation_timestamp, node, state)
            }));
            match list.metadata.continue_.filter(|next| !next.is_empty()) {
                Some(next) if is_plain(&next) && found.len() < MAX_REQUESTS => {
                    page = format!("&continue={next}");
                }
                // An incomplete list cannot show absence.
                Some(_) => return None,
                None => break,
            }
        }
        found.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        Some(found.into_iter().filter_map(|(_, node, state)| Some((node?, state))).collect())
    }
}

/// Returns true if a token needs no encoding in a query, as those of the API server.
fn is_plain(token: &str) -> bool {
    token.chars().all(|c| c.is_ascii_alphanumeric() || "-_.=".contains(c))
}

/// Returns the node of a request. The API server sets the user name, so only holders of a bootstrap token can create a
/// request that counts.
fn node_of(request: &CertificateSigningRequest) -> Option<String> {
    let spec = &request.spec;
    spec.username.as_deref().filter(|name| name.starts_with("system:bootstrap:"))?;
    let pem = str::from_utf8(&spec.request.0).ok()?;
    let body: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    let name = common_name(&STANDARD.decode(body.as_bytes()).ok()?)?;
    name.strip_prefix("system:node:").map(str::to_owned)
}

fn state_of(request: &CertificateSigningRequest) -> RequestState {
    let conditions = request.status.as_ref().and_then(|status| status.conditions.as_deref());
    let has = |kind: &str| {
        conditions
            .is_some_and(|all| all.iter().any(|one| one.type_ == kind && one.status != "False"))
    };
    if has("Denied") {
        RequestState::Denied
    } else if has("Approved") {
        RequestState::Approved
    } else {
        RequestState::Pending
    }
}

/// Returns the common name of the subject: the text after its object identifier.
fn common_name(der: &[u8]) -> Option<String> {
    const COMMON_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x04, 0x03];
    let at = der.windows(COMMON_NAME.len()).position(|window| window == COMMON_NAME)?;
    // A tag, a length of one byte, and the bytes: a node name has at most 63 characters.
    let rest = der.get(at + COMMON_NAME.len()..)?;
    let length = usize::from(*rest.get(1).filter(|length| **length < 0x80)?);
    String::from_utf8(rest.get(2..2 + length)?.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use mooring_arm::identity::IdentityError;
    use mooring_arm::{AzureError, CallInfo, WriteStatus};
    use serde_json::json;

    use super::*;

    #[test]
    fn error_of_azure_is_an_observation() {
        let refusal = || AzureError::read(400, None, b"");
        let pause = Some(Duration::from_secs(7));
        let unreadable = |what| Observation::Unreadable { what };
        for (kind, expected) in [
            (ErrorKind::NotFound(refusal()), Observation::Missing),
            (ErrorKind::Unauthorized(refusal()), Observation::Denied { status: 401 }),
            (ErrorKind::Forbidden(refusal()), Observation::Denied { status: 403 }),
            (
                ErrorKind::Throttled { refusal: refusal(), retry_after: pause },
                Observation::Throttled { retry_after: pause },
            ),
            (ErrorKind::BudgetFull, Observation::Throttled { retry_after: None }),
            (
                ErrorKind::Identity(IdentityError::Setup(String::new())),
                unreadable("no Azure access token"),
            ),
            (ErrorKind::Deadline("x"), unreadable("no response from Azure")),
            (ErrorKind::Server(refusal()), unreadable("server error")),
            (ErrorKind::Refused(refusal()), unreadable("unexpected response")),
        ] {
            let (write_status, call) = (WriteStatus::NotApplied, Box::<CallInfo>::default());
            let error = Error { kind, write_status, call };
            assert_eq!(observe_error(&error), expected, "{error:?}");
        }
    }

    /// The beginning of a kubelet's request, with the subject `O=system:nodes, CN=system:node:node-001`.
    const REQUEST: &str = concat!(
        "MIHxMIGYAgEAMDYxFTATBgNVBAoMDHN5c3RlbTpub2RlczEdMBsGA1UEAwwUc3lz",
        "dGVtOm5vZGU6bm9kZS0wMDEw"
    );

    fn request(username: &str, conditions: &serde_json::Value) -> CertificateSigningRequest {
        let pem = format!(
            "-----BEGIN CERTIFICATE REQUEST-----\n{}\n{}\n-----END CERTIFICATE REQUEST-----\n",
            &REQUEST[..64],
            &REQUEST[64..]
        );
        serde_json::from_value(json!({
            "metadata": {"name": "csr-1"},
            "spec": {"username": username, "request": STANDARD.encode(pem)},
            "status": {"conditions": conditions},
        }))
        .unwrap()
    }

    /// Returns an inspector of pages, by their token, and the tokens of the pages that were read.
    fn inspector(
        pages: &[(&str, serde_json::Value)],
    ) -> (Inspector, Arc<std::sync::Mutex<Vec<String>>>) {
        let read = Arc::new(std::sync::Mutex::new(Vec::new()));
        let (log, pages) = (Arc::clone(&read), Vec::from(pages).into_iter());
        let pages: HashMap<String, String> =
            pages.map(|(token, page)| (token.to_owned(), page.to_string())).collect();
        let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let query = request.uri().query().unwrap().to_owned();
            let token = query.split_once("&continue=").map_or("", |(_, token)| token).to_owned();
            let page = pages.get(&token).cloned().unwrap_or_default();
            log.lock().unwrap().push(token);
            let response = http::Response::new(kube::client::Body::from(page.into_bytes()));
            std::future::ready(Ok::<_, std::convert::Infallible>(response))
        });
        (Inspector::new(Api::new(kube::Client::new(service, "default"))), read)
    }

    fn page(next: &str, items: &[serde_json::Value]) -> serde_json::Value {
        json!({"metadata": {"continue": next}, "items": items})
    }

    /// A kubelet's request of `node-001`.
    fn item(created: &str, decision: &str) -> serde_json::Value {
        let pem =
            format!("-----BEGIN-----\n{}\n{}\n-----END-----\n", &REQUEST[..64], &REQUEST[64..]);
        json!({
            "metadata": {"creationTimestamp": created},
            "spec": {"username": "system:bootstrap:x", "request": STANDARD.encode(pem)},
            "status": {"conditions": [{"type": decision}]},
        })
    }

    #[tokio::test(start_paused = true)]
    async fn newest_decision_of_all_pages_counts_for_ten_seconds() {
        let first = page("a-B_1.=", &[item("2026-11-15T05:00:02Z", "Denied")]);
        let second = page("", &[item("2026-11-15T05:00:01Z", "Approved")]);
        let (inspector, read) = inspector(&[("", first), ("a-B_1.=", second)]);
        assert_eq!(inspector.inspect("node-001").await, RequestState::Denied);
        assert_eq!(inspector.inspect("node-002").await, RequestState::Absent);
        assert_eq!(*read.lock().unwrap(), ["", "a-B_1.="]);
        tokio::time::advance(LIST_INTERVAL.saturating_sub(Duration::from_millis(1))).await;
        inspector.inspect("node-001").await;
        assert_eq!(read.lock().unwrap().len(), 2);
        tokio::time::advance(Duration::from_millis(1)).await;
        inspector.inspect("node-001").await;
        assert_eq!(read.lock().unwrap().len(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn incomplete_list_does_not_show_absence() {
        let blank = json!({"metadata": {}, "spec": {}});
        let most = vec![blank.clone(); MAX_REQUESTS - 1];
        let more = vec![blank; MAX_REQUESTS];
        for (next, items, expected) in [
            ("b", &most, RequestState::Absent),
            ("b", &more, RequestState::Unknown),
            ("", &more, RequestState::Absent),
            ("a&b", &most, RequestState::Unknown),
            ("unreadable", &most, RequestState::Unknown),
        ] {
            let last = page("", &[]);
            let (inspector, _) =
                inspector(&[("", page(next, items)), ("b", last.clone()), ("a&b", last)]);
            assert_eq!(inspector.inspect("node-001").await, expected, "{next} {}", items.len());
        }
    }

    #[test]
    fn condition_with_status_false_is_not_a_decision() {
        for (kind, status, expected) in [
            ("Denied", json!("False"), RequestState::Pending),
            ("Denied", json!(null), RequestState::Denied),
            ("Approved", json!("True"), RequestState::Approved),
            ("Failed", json!("True"), RequestState::Pending),
        ] {
            let one = request("system:bootstrap:x", &json!([{"type": kind, "status": status}]));
            assert_eq!(state_of(&one), expected, "{kind} {status}");
        }
    }

    #[test]
    fn common_name_has_a_length_of_one_byte() {
        let der = |length: u8| {
            let mut der = vec![0x30, 6, 3, 0x55, 4, 3, 12, length];
            der.extend(std::iter::repeat_n(b'a', 300));
            common_name(&der).map(|name| name.len())
        };
        assert_eq!((der(0), der(20), der(0x7f)), (Some(0), Some(20), Some(0x7f)));
        assert_eq!((der(0x80), der(0x81)), (None, None));
    }

    #[test]
    fn csr_shows_its_node_and_decision() {
        let pending = request("system:bootstrap:abcdef", &json!([]));
        assert_eq!(node_of(&pending).as_deref(), Some("node-001"));
        assert_eq!(state_of(&pending), RequestState::Pending);
        for (kind, expected) in
            [("Denied", RequestState::Denied), ("Approved", RequestState::Approved)]
        {
            let decided =
                request("system:bootstrap:abcdef", &json!([{"type": kind, "status": "True"}]));
            assert_eq!(state_of(&decided), expected);
        }
        assert_eq!(
            node_of(&request("system:serviceaccount:team-a:x", &json!([]))),
            None,
            "not a kubelet's"
        );
        for broken in [
            &b""[..],
            &[6, 3, 0x55, 4, 3],
            &[6, 3, 0x55, 4, 3, 12, 200],
            &[6, 3, 0x55, 4, 3, 12, 9, 1],
        ] {
            assert_eq!(common_name(broken), None);
        }
    }
}
