//! A simulated cluster, replicas of the controller, and their observed effects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use mooring_controller::Settings;
use mooring_controller::metrics::Metrics;
use mooring_controller::run::{Clock, Controller, Health, StateView, ViewRequest};
use mooring_k8s::Times;
use mooring_nodes::record::{RecordDocument, counts};
use mooring_simulator::cluster::{ClockTask, ClusterOptions, Shell, SimulatedCluster};
use mooring_simulator::karpenter;
use mooring_simulator::kubernetes::{InProcess, Key, User};
use mooring_simulator::scenario::Scenario;
use serde_json::Value;
use tokio::sync::{Notify, mpsc, oneshot};

use super::{azure, rules};

pub(crate) const NAMESPACE: &str = "mooring-system";
pub(crate) const CLAIMS: &str = "nodeclaims.karpenter.sh";
const TOKEN: &str = "mooring-token";

/// A simulated cluster under virtual time.
pub(crate) struct Cluster {
    pub(crate) shell: Shell,
    /// Last version of each NodeClaim, including deleted ones.
    last_versions: Arc<Mutex<BTreeMap<String, Value>>>,
    /// Every version of the condition on each NodeClaim, in order.
    forms: Arc<Mutex<BTreeMap<String, Vec<String>>>>,
    /// Of replicas that start.
    forbidden: Forbidden,
    sampler: tokio::task::JoinHandle<()>,
    _running: ClockTask,
}

/// Calls that returned 403.
type Forbidden = Arc<Mutex<BTreeSet<String>>>;

/// Every test runs under the chart's RBAC rules, and ends here: a forbidden call fails it.
impl Drop for Cluster {
    fn drop(&mut self) {
        self.sampler.abort();
        let forbidden = self.forbidden.lock().unwrap();
        if !std::thread::panicking() {
            assert!(forbidden.is_empty(), "the chart's rules forbid {forbidden:?}");
        }
    }
}

pub(crate) struct Replica {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) health: Arc<Health>,
    arm: mooring_arm::Client,
    views: mpsc::Sender<ViewRequest>,
    stop: Option<oneshot::Sender<()>>,
    task: tokio::task::JoinHandle<()>,
}

impl Replica {
    pub(crate) fn requests(&self) -> u64 {
        self.arm.metrics().requests.values().sum()
    }

    /// Returns the state, if it is newer than this generation.
    pub(crate) async fn view(&self, seen: u64) -> Option<StateView> {
        let (reply, view) = oneshot::channel();
        self.views.send(ViewRequest { seen, reply }).await.unwrap();
        view.await.unwrap()
    }

    /// Kills the replica without a shutdown.
    pub(crate) async fn kill(mut self) {
        // Dropping the sender would request a stop; keep it until the task has ended.
        let stop = self.stop.take();
        self.task.abort();
        let _ = self.task.await;
        drop(stop);
    }

    pub(crate) async fn stop(mut self) {
        let _ = self.stop.take().unwrap().send(());
        tokio::time::timeout(Duration::from_secs(20), self.task).await.unwrap().unwrap();
    }
}

/// The API of the cluster for one replica, which may be killed after a write.
#[derive(Clone)]
pub(crate) struct Wire {
    inner: InProcess,
    pub(crate) writes: Arc<AtomicUsize>,
    crash_after: Option<usize>,
    pub(crate) crashed: Arc<Notify>,
    forbidden: Forbidden,
}

impl<B, A> tower::Service<http::Request<B>> for Wire
where
    InProcess: tower::Service<http::Request<B>, Response = http::Response<A>>,
    <InProcess as tower::Service<http::Request<B>>>::Future: Send + 'static,
    <InProcess as tower::Service<http::Request<B>>>::Error: Send + 'static,
    A: Send + 'static,
{
    type Response = <InProcess as tower::Service<http::Request<B>>>::Response;
    type Error = <InProcess as tower::Service<http::Request<B>>>::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let counts =
            request.method() != http::Method::GET && !request.uri().path().contains("/leases");
        let number = if counts { self.writes.fetch_add(1, Ordering::SeqCst) } else { usize::MAX };
        let (dies, crashed) = (self.crash_after == Some(number), Arc::clone(&self.crashed));
        // No response after the crash.
        let dead = self.crash_after.is_some_and(|last| counts && number > last);
        if dead {
            return std::future::pending().boxed();
        }
        let (call, forbidden) =
            (format!("{} {}", request.method(), request.uri()), Arc::clone(&self.forbidden));
        let answer = self.inner.call(request);
        async move {
            let answer = answer.await;
            if answer.as_ref().is_ok_and(|answer| answer.status() == http::StatusCode::FORBIDDEN) {
                forbidden.lock().unwrap().insert(call);
            }
            if dies {
                crashed.notify_one();
                std::future::pending::<()>().await;
            }
            answer
        }
        .boxed()
    }
}

impl Cluster {
    pub(crate) fn new(atomic: bool, karpenter: karpenter::KarpenterOptions) -> Self {
        Self::of(ClusterOptions {
            atomic_conditions: atomic,
            karpenter: Some(karpenter),
            workloads: false,
            ..ClusterOptions::default()
        })
    }

    pub(crate) fn of(options: ClusterOptions) -> Self {
        let mut cluster = Self::quiet(options);
        let (last_versions, forms) =
            (Arc::clone(&cluster.last_versions), Arc::clone(&cluster.forms));
        cluster.sampler = tokio::spawn(sample(cluster.shell.clone(), last_versions, forms));
        cluster
    }

    /// Creates a cluster that is not sampled.
    pub(crate) fn quiet(options: ClusterOptions) -> Self {
        let start: Timestamp = "2026-11-15T05:00:00Z".parse().unwrap();
        let world = SimulatedCluster::new(&Scenario::named("healthy").unwrap(), 1, start, options);
        let shell = Shell::new(world);
        shell.with(|world, now| {
            let namespace = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
            // Only a cluster with workloads has it already.
            let _ = world.kubernetes_mut().create(namespace, now);
            for object in rules::rbac(NAMESPACE) {
                world.kubernetes_mut().create(object, now).unwrap();
            }
            let user = User::service_account(NAMESPACE, "mooring");
            world.kubernetes_mut().add_token(TOKEN, user);
        });
        let running = shell.start();
        let sampler = tokio::spawn(std::future::ready(()));
        Self {
            shell,
            last_versions: Arc::default(),
            forms: Arc::default(),
            forbidden: Arc::default(),
            sampler,
            _running: running,
        }
    }

    /// Returns and clears the calls that a test forbade.
    pub(crate) fn take_forbidden(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.forbidden.lock().unwrap())
    }

    pub(crate) fn claim(&self, name: &str) {
        self.shell.with(|world, now| world.create_claim(name, now)).unwrap();
    }

    pub(crate) async fn pass(&self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    fn wire(&self, crash_after: Option<usize>) -> Wire {
        Wire {
            inner: self.shell.kube_service(TOKEN),
            writes: Arc::default(),
            crash_after,
            crashed: Arc::default(),
            forbidden: Arc::clone(&self.forbidden),
        }
    }

    pub(crate) fn start(&self, instance: &str) -> Replica {
        self.start_on(self.wire(None), instance, false)
    }

    /// Starts a replica whose state can be viewed.
    pub(crate) fn start_viewed(&self, instance: &str) -> Replica {
        self.start_on(self.wire(None), instance, true)
    }

    pub(crate) fn start_to_crash(&self, instance: &str, last_write: usize) -> (Replica, Wire) {
        let wire = self.wire(Some(last_write));
        (self.start_on(wire.clone(), instance, false), wire)
    }

    fn start_on(&self, wire: Wire, instance: &str, viewed: bool) -> Replica {
        let shell = self.shell.clone();
        let clock: Clock = Arc::new(move || shell.now());
        let health = Arc::new(Health::new(clock()));
        let metrics = Arc::new(Metrics::new());
        let options = self.shell.with(|world, _| world.azure().options().clone());
        let arm = azure::client(&self.shell);
        let controller = Controller {
            kube: kube::Client::new(wire, "default"),
            arm: arm.clone(),
            clock,
            settings: Settings {
                instance: instance.to_owned(),
                scope: azure::scope(&options),
                ..Settings::default()
            },
            namespace: NAMESPACE.to_owned(),
            times: Times::default(),
            metrics: Arc::clone(&metrics),
            health: Arc::clone(&health),
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let (views, requests) = mpsc::channel(1);
        let stopped = async move {
            let _ = stopped.await;
        };
        let task = if viewed {
            tokio::spawn(controller.run_viewed(stopped, requests))
        } else {
            tokio::spawn(controller.run(stopped))
        };
        Replica { metrics, health, arm, views, stop: Some(stop), task }
    }

    /// Returns the last observed condition of a NodeClaim.
    pub(crate) fn condition(&self, claim: &str, kind: &str) -> Option<Value> {
        condition(self.last_versions.lock().unwrap().get(claim)?, kind)
    }

    /// Returns status, reason and message of Mooring's condition, as last sampled.
    pub(crate) fn condition_of(&self, claim: &str) -> (String, String, String) {
        status_reason_message(self.condition(claim, "CSEProvisioned"))
    }

    /// Returns the same as it is now, without sampling.
    pub(crate) fn current_condition(&self, claim: &str) -> (String, String, String) {
        let object = self.shell.with(|world, _| {
            world.kubernetes().get(CLAIMS, &Key::new(None, claim)).cloned().unwrap_or_default()
        });
        status_reason_message(condition(&object, "CSEProvisioned"))
    }

    pub(crate) fn is_gone(&self, claim: &str) -> bool {
        let key = Key::new(None, claim);
        self.shell.with(|world, _| world.kubernetes().get(CLAIMS, &key).is_none())
    }

    pub(crate) fn forms(&self, claim: &str) -> Vec<String> {
        self.forms.lock().unwrap().get(claim).cloned().unwrap_or_default()
    }

    /// Returns kind, name, reason and note of each of Mooring's events, sorted.
    pub(crate) fn events(&self) -> Vec<(String, String, String, String)> {
        let mut events: Vec<_> = self.shell.with(|world, _| {
            let events = world.kubernetes().objects("events.events.k8s.io", Some("default"));
            let all: Vec<Value> = events.cloned().collect();
            let core: Vec<Value> =
                world.kubernetes().objects("events", Some("default")).cloned().collect();
            let own = all.iter().chain(&core).filter(|event| {
                event["reportingController"] == "mooring"
                    || event["reportingComponent"] == "mooring"
            });
            own.map(|event| {
                let object = [&event["regarding"], &event["involvedObject"]]
                    .into_iter()
                    .find(|object| object.is_object())
                    .unwrap();
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let note =
                    if event["note"].is_string() { &event["note"] } else { &event["message"] };
                (text(&object["kind"]), text(&object["name"]), text(&event["reason"]), text(note))
            })
            .collect()
        });
        events.sort();
        events
    }

    pub(crate) fn record(&self) -> RecordDocument {
        self.shell.with(|world, _| {
            let key = Key::new(Some(NAMESPACE), "mooring-failures");
            let object = world.kubernetes().get("configmaps", &key).cloned().unwrap_or_default();
            RecordDocument::from_config_map(&object).unwrap()
        })
    }

    /// Returns the counts. None if they do not exist.
    pub(crate) fn counts(&self) -> Option<counts::CountsDocument> {
        self.shell.with(|world, _| {
            let key = Key::new(Some(NAMESPACE), counts::NAME);
            let object = world.kubernetes().get("configmaps", &key)?;
            Some(counts::CountsDocument::from_config_map(object).unwrap())
        })
    }

    pub(crate) fn holder(&self) -> String {
        self.shell.with(|world, _| {
            let key = Key::new(Some(NAMESPACE), "mooring");
            let lease = world.kubernetes().get("leases.coordination.k8s.io", &key);
            let holder = lease.and_then(|lease| lease["spec"]["holderIdentity"].as_str());
            holder.unwrap_or_default().to_owned()
        })
    }

    /// Returns writes of the controller except its Lease: resource, name, verb, subresource.
    pub(crate) fn writes(&self) -> Vec<(String, String, String, Timestamp)> {
        self.shell.with(|world, _| {
            let writes = world.kubernetes().writes();
            let own = writes.filter(|write| {
                write.user.ends_with(":mooring") && !write.resource.starts_with("leases")
            });
            own.map(|write| {
                let what = format!("{} {}", write.verb, write.subresource);
                (write.resource.clone(), write.uid.clone(), what.trim_end().to_owned(), write.at)
            })
            .collect()
        })
    }
}

fn status_reason_message(condition: Option<Value>) -> (String, String, String) {
    let condition = condition.unwrap_or_default();
    let text = |name: &str| condition[name].as_str().unwrap_or_default().to_owned();
    (text("status"), text("reason"), text("message"))
}

fn condition(claim: &Value, kind: &str) -> Option<Value> {
    let conditions = claim["status"]["conditions"].as_array()?;
    conditions.iter().find(|condition| condition["type"] == kind).cloned()
}

/// Samples all NodeClaims four times a second, and asserts that Karpenter's conditions are never lost.
async fn sample(
    shell: Shell,
    last_versions: Arc<Mutex<BTreeMap<String, Value>>>,
    forms: Arc<Mutex<BTreeMap<String, Vec<String>>>>,
) {
    let mut versions: BTreeMap<String, Value> = BTreeMap::new();
    loop {
        // Only changes are copied: tests pass hours in which little changes.
        let claims: Vec<Value> = shell.with(|world, _| {
            let changed = world.kubernetes().objects(CLAIMS, None).filter(|claim| {
                let name = claim["metadata"]["name"].as_str().unwrap();
                versions.get(name) != Some(&claim["metadata"]["resourceVersion"])
            });
            changed.cloned().collect()
        });
        for claim in claims {
            let name = claim["metadata"]["name"].as_str().unwrap().to_owned();
            versions.insert(name.clone(), claim["metadata"]["resourceVersion"].clone());
            let before = last_versions.lock().unwrap().insert(name.clone(), claim.clone());
            if let Some(before) =
                before.filter(|before| before["metadata"]["uid"] == claim["metadata"]["uid"])
            {
                for kind in ["Launched", "Registered", "Initialized"] {
                    let (was, is) = (condition(&before, kind), condition(&claim, kind));
                    assert!(was.is_none() || is.is_some(), "{kind} was lost on {name}");
                }
            }
            if let Some(own) = condition(&claim, "CSEProvisioned") {
                let form = format!("{} {} {}", own["status"], own["reason"], own["message"]);
                let mut forms = forms.lock().unwrap();
                let forms = forms.entry(name).or_default();
                if forms.last() != Some(&form) {
                    forms.push(form);
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}
