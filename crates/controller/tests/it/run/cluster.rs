//! A world, the controller's replicas in it, and what was seen of them.

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
use mooring_controller::record::Document;
use mooring_controller::run::{Clock, Controller, Health};
use mooring_kube::Times;
use mooring_simulator::cluster::{Cluster as World, Options, Running, Shell};
use mooring_simulator::karpenter;
use mooring_simulator::kubernetes::{InProcess, Key, User};
use mooring_simulator::scenario::Scenario;
use serde_json::Value;
use tokio::sync::{Notify, oneshot};

use super::{azure, rules};

pub(crate) const NAMESPACE: &str = "mooring-system";
pub(crate) const CLAIMS: &str = "nodeclaims.karpenter.sh";
const TOKEN: &str = "mooring-token";

/// A world under virtual time.
pub(crate) struct Cluster {
    pub(crate) shell: Shell,
    /// The last that was seen of each claim, also of those that are gone.
    last_words: Arc<Mutex<BTreeMap<String, Value>>>,
    /// Every form that our condition had on each claim, in order.
    forms: Arc<Mutex<BTreeMap<String, Vec<String>>>>,
    /// What the chart's rules did not let a replica do.
    forbidden: Forbidden,
    sampler: tokio::task::JoinHandle<()>,
    _running: Running,
}

/// Calls that were answered with 403.
type Forbidden = Arc<Mutex<BTreeSet<String>>>;

/// Every test runs under the chart's rules, and ends here: a call that they forbid fails it.
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
    stop: Option<oneshot::Sender<()>>,
    task: tokio::task::JoinHandle<()>,
}

impl Replica {
    /// Requests to Azure so far.
    pub(crate) fn requests(&self) -> u64 {
        self.arm.metrics().requests.values().sum()
    }

    /// Killed: no last words.
    pub(crate) async fn kill(mut self) {
        // Dropping the sender would be a request to stop; keep it until the task is gone.
        let stop = self.stop.take();
        self.task.abort();
        let _ = self.task.await;
        drop(stop);
    }

    /// Told to stop, and waited for.
    pub(crate) async fn stop(mut self) {
        let _ = self.stop.take().unwrap().send(());
        tokio::time::timeout(Duration::from_secs(20), self.task).await.unwrap().unwrap();
    }
}

/// The cluster's API for one replica, which may be killed behind a write.
#[derive(Clone)]
pub(crate) struct Wire {
    inner: InProcess,
    pub(crate) writes: Arc<AtomicUsize>,
    crash_behind: Option<usize>,
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
        let (dies, crashed) = (self.crash_behind == Some(number), Arc::clone(&self.crashed));
        // Nobody hears of what comes behind the crash.
        let dead = self.crash_behind.is_some_and(|last| counts && number > last);
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
    pub(crate) fn new(atomic: bool, karpenter: karpenter::Options) -> Self {
        Self::of(Options {
            atomic_conditions: atomic,
            karpenter: Some(karpenter),
            workloads: false,
            ..Options::default()
        })
    }

    pub(crate) fn of(options: Options) -> Self {
        let mut cluster = Self::quiet(options);
        let (last_words, forms) = (Arc::clone(&cluster.last_words), Arc::clone(&cluster.forms));
        cluster.sampler = tokio::spawn(sample(cluster.shell.clone(), last_words, forms));
        cluster
    }

    /// One that nobody looks at meanwhile.
    pub(crate) fn quiet(options: Options) -> Self {
        let start: Timestamp = "2026-11-15T05:00:00Z".parse().unwrap();
        let world = World::new(&Scenario::named("healthy").unwrap(), 1, start, options);
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
            last_words: Arc::default(),
            forms: Arc::default(),
            forbidden: Arc::default(),
            sampler,
            _running: running,
        }
    }

    /// What was forbidden until now, by a test's own rule.
    pub(crate) fn take_forbidden(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.forbidden.lock().unwrap())
    }

    pub(crate) fn claim(&self, name: &str) {
        self.shell.with(|world, now| world.create_claim(name, now)).unwrap();
    }

    pub(crate) async fn pass(&self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    fn wire(&self, crash_behind: Option<usize>) -> Wire {
        Wire {
            inner: self.shell.kube_service(TOKEN),
            writes: Arc::default(),
            crash_behind,
            crashed: Arc::default(),
            forbidden: Arc::clone(&self.forbidden),
        }
    }

    pub(crate) fn start(&self, instance: &str) -> Replica {
        self.start_on(self.wire(None), instance)
    }

    pub(crate) fn start_to_crash(&self, instance: &str, behind: usize) -> (Replica, Wire) {
        let wire = self.wire(Some(behind));
        (self.start_on(wire.clone(), instance), wire)
    }

    fn start_on(&self, wire: Wire, instance: &str) -> Replica {
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
        let task = tokio::spawn(controller.run(async move {
            let _ = stopped.await;
        }));
        Replica { metrics, health, arm, stop: Some(stop), task }
    }

    /// A condition of a claim as it was seen last.
    pub(crate) fn condition(&self, claim: &str, kind: &str) -> Option<Value> {
        condition(self.last_words.lock().unwrap().get(claim)?, kind)
    }

    /// Status, reason and message of ours.
    pub(crate) fn told(&self, claim: &str) -> (String, String, String) {
        words(self.condition(claim, "CSEProvisioned"))
    }

    /// The same as it is now, where nobody samples.
    pub(crate) fn tells(&self, claim: &str) -> (String, String, String) {
        let object = self.shell.with(|world, _| {
            world.kubernetes().get(CLAIMS, &Key::new(None, claim)).cloned().unwrap_or_default()
        });
        words(condition(&object, "CSEProvisioned"))
    }

    /// Returns whether Karpenter has deleted a NodeClaim.
    pub(crate) fn is_gone(&self, claim: &str) -> bool {
        let key = Key::new(None, claim);
        self.shell.with(|world, _| world.kubernetes().get(CLAIMS, &key).is_none())
    }

    /// The forms that our condition had.
    pub(crate) fn forms(&self, claim: &str) -> Vec<String> {
        self.forms.lock().unwrap().get(claim).cloned().unwrap_or_default()
    }

    /// Our events: (kind, name, reason) and the note.
    pub(crate) fn events(&self) -> BTreeSet<(String, String, String, String)> {
        self.shell.with(|world, _| {
            let events = world.kubernetes().objects("events.events.k8s.io", Some("default"));
            let all: Vec<Value> = events.cloned().collect();
            let core: Vec<Value> =
                world.kubernetes().objects("events", Some("default")).cloned().collect();
            let ours = all.iter().chain(&core).filter(|event| {
                event["reportingController"] == "mooring"
                    || event["reportingComponent"] == "mooring"
            });
            ours.map(|event| {
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
        })
    }

    pub(crate) fn record(&self) -> Document {
        self.shell.with(|world, _| {
            let key = Key::new(Some(NAMESPACE), "mooring-failures");
            let object = world.kubernetes().get("configmaps", &key).cloned().unwrap_or_default();
            Document::from_config_map(&object).unwrap()
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

    /// Writes of the controller, apart from its lease: (resource, name, verb, subresource).
    pub(crate) fn writes(&self) -> Vec<(String, String, String, Timestamp)> {
        self.shell.with(|world, _| {
            let writes = world.kubernetes().writes();
            let ours = writes.filter(|write| {
                write.user.ends_with(":mooring") && !write.resource.starts_with("leases")
            });
            ours.map(|write| {
                let what = format!("{} {}", write.verb, write.subresource);
                (write.resource.clone(), write.uid.clone(), what.trim_end().to_owned(), write.at)
            })
            .collect()
        })
    }
}

fn words(condition: Option<Value>) -> (String, String, String) {
    let condition = condition.unwrap_or_default();
    let text = |name: &str| condition[name].as_str().unwrap_or_default().to_owned();
    (text("status"), text("reason"), text("message"))
}

fn condition(claim: &Value, kind: &str) -> Option<Value> {
    let conditions = claim["status"]["conditions"].as_array()?;
    conditions.iter().find(|condition| condition["type"] == kind).cloned()
}

/// Looks at all claims four times a second, and at what Karpenter's conditions must never lose.
async fn sample(
    shell: Shell,
    last_words: Arc<Mutex<BTreeMap<String, Value>>>,
    forms: Arc<Mutex<BTreeMap<String, Vec<String>>>>,
) {
    let mut versions: BTreeMap<String, Value> = BTreeMap::new();
    loop {
        // Only what has changed is copied: tests pass hours in which little does.
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
            let before = last_words.lock().unwrap().insert(name.clone(), claim.clone());
            if let Some(before) =
                before.filter(|before| before["metadata"]["uid"] == claim["metadata"]["uid"])
            {
                for kind in ["Launched", "Registered", "Initialized"] {
                    let (was, is) = (condition(&before, kind), condition(&claim, kind));
                    assert!(was.is_none() || is.is_some(), "{kind} was lost on {name}");
                }
            }
            if let Some(ours) = condition(&claim, "CSEProvisioned") {
                let form = format!("{} {} {}", ours["status"], ours["reason"], ours["message"]);
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
