//! A simulated cluster with a repair that can be killed at any change.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use mooring_arm::identity::IdentityError;
use mooring_arm::{Budget, BudgetLimits, Client, Cloud, Token, TransportError, World};
use mooring_repair::plan::{Plan, Step};
use mooring_repair::resume::{Consent, Fresh, ResumeBasis};
use mooring_repair::runtime::{CommandResult, CredentialSource, Operator, store};
use mooring_repair::settings::{PoolTarget, Settings};
use mooring_repair::workflow::Runs;
use mooring_simulator::cluster::{ClockTask, ClusterOptions, Shell, SimulatedCluster};
use mooring_simulator::kubernetes::InProcess;
use mooring_simulator::scenario::Scenario;
use mooring_testbed::InProcessAzure;
use mooring_workflow::approval::Approval;
use mooring_workflow::store::NAMESPACE;
use mooring_workflow::{Finish, RunOutcome};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

use super::rbac::{self, Requests, TOKEN};

const START: &str = "2026-11-15T08:00:00Z";
pub(crate) const MEDDLED: &str = "another operation began";

/// The simulated cluster, and the kill of a process.
#[derive(Clone)]
pub(crate) struct Harness {
    pub(crate) shell: Shell,
    /// Changes of the running process to Azure and Kubernetes, except the journal.
    pub(crate) changes: Arc<AtomicU64>,
    /// Kills before (even) or after (odd) the change of half this number.
    kill: Option<u64>,
    dead: Arc<Notify>,
    /// All changes that were sent.
    pub(crate) sent: Arc<Mutex<Vec<String>>>,
    pub(crate) changed_at: Arc<Mutex<Option<Timestamp>>>,
    azure: Arc<InProcessAzure>,
    /// Requests to Kubernetes.
    pub(crate) asked: Requests,
    pub(crate) flags: Arc<dyn Fn(&mut Settings) + Send + Sync>,
    /// The temporary pool has had a Ready node.
    up: Arc<AtomicBool>,
    /// Reads of the latest operation, and the read before which another operation starts.
    looks: Arc<AtomicU64>,
    pub(crate) meddle: Option<u64>,
    pub(crate) reads: Reads,
}

/// Reads by service and kind of resource.
pub(crate) type Reads = Arc<Mutex<BTreeMap<String, u64>>>;

impl Harness {
    pub(crate) fn new(scenario: &str) -> (Self, ClockTask) {
        Self::with(scenario, ClusterOptions::default())
    }

    pub(crate) fn with(scenario: &str, options: ClusterOptions) -> (Self, ClockTask) {
        Self::of(&Scenario::named(scenario).unwrap(), options)
    }

    /// A wedged pool in a custom VNet.
    pub(crate) fn own_network() -> (Self, ClockTask) {
        let wedged = Scenario::named("wedged-system-pool").unwrap();
        Self::of(&Scenario { own_network: true, ..wedged }, ClusterOptions::default())
    }

    pub(crate) fn of(scenario: &Scenario, options: ClusterOptions) -> (Self, ClockTask) {
        let start: Timestamp = START.parse().unwrap();
        let shell = Shell::new(SimulatedCluster::new(scenario, 7, start, options));
        shell.with(|world, now| rbac::grant(world.kubernetes_mut(), now));
        let running = shell.start();
        let harness = Self {
            azure: Arc::new(InProcessAzure::of(&shell)),
            shell,
            changes: Arc::default(),
            kill: None,
            dead: Arc::default(),
            sent: Arc::default(),
            changed_at: Arc::default(),
            asked: Arc::default(),
            flags: Arc::new(|_| {}),
            up: Arc::default(),
            looks: Arc::default(),
            meddle: None,
            reads: Arc::default(),
        };
        (harness, running)
    }

    /// The same cluster for a process that is killed there.
    pub(crate) fn process(&self, kill: Option<u64>) -> Self {
        Self { changes: Arc::default(), kill, dead: Arc::default(), ..self.clone() }
    }

    /// Records a change, and kills the process around it if due.
    async fn with_kill<T>(&self, what: Option<String>, act: impl Future<Output = T>) -> T {
        let Some(what) = what else { return act.await };
        let change = self.changes.fetch_add(1, Ordering::Relaxed);
        if self.kill == Some(2 * change) {
            self.die().await;
        }
        if what.starts_with("DELETE") && what.ends_with("/agentPools/system") {
            self.may_delete().await;
        }
        self.sent.lock().unwrap().push(what);
        *self.changed_at.lock().unwrap() = Some(self.shell.now());
        let answer = act.await;
        self.check();
        if self.kill == Some(2 * change + 1) {
            self.die().await;
        }
        answer
    }

    /// The pool is never deleted without a durable snapshot and a verified temporary pool.
    async fn may_delete(&self) {
        let mut store = store(self.kube(), NAMESPACE, "system");
        let runs: Runs = Box::pin(store.load()).await.unwrap();
        let state = runs.last.unwrap();
        assert!(
            state.has_done(Step::Snapshot) && state.has_done(Step::VerifyWorkloads),
            "{state:?}"
        );
        assert!(self.usable("systmp") > 0, "nothing carries the load");
    }

    fn usable(&self, pool: &str) -> usize {
        let is_usable = |node: &&Value| {
            let conditions = node["status"]["conditions"].as_array().into_iter().flatten();
            let mut ready = conditions.filter(|found| found["type"] == "Ready");
            node["metadata"]["labels"]["agentpool"] == pool
                && node["spec"]["unschedulable"] != true
                && ready.any(|found| found["status"] == "True")
        };
        self.shell
            .with(|world, _| world.kubernetes().objects("nodes", None).filter(is_usable).count())
    }

    /// Checks the invariants: once the temporary pool is up, a system node is Ready, and no pool is deleted twice.
    fn check(&self) {
        if self.usable("systmp") > 0 {
            self.up.store(true, Ordering::Relaxed);
        }
        let system = self.usable("system") + self.usable("systmp");
        assert!(system > 0 || !self.up.load(Ordering::Relaxed), "no schedulable system node");
        let sent = self.sent.lock().unwrap();
        for pool in ["system", "systmp"] {
            let of = |sent: &&String| {
                sent.starts_with("DELETE") && sent.ends_with(&format!("/agentPools/{pool}"))
            };
            assert!(sent.iter().filter(of).count() <= 1, "{sent:?}");
        }
    }

    /// Counts a read by the last path segment that is not a name.
    fn count_read(&self, service: &str, path: &str) {
        const KINDS: [&str; 14] = [
            "agentPools",
            "virtualMachineScaleSets",
            "virtualMachines",
            "networkInterfaces",
            "operations",
            "eventtypes",
            "managedClusters",
            "nodes",
            "pods",
            "poddisruptionbudgets",
            "replicasets",
            "statefulsets",
            "configmaps",
            "leases",
        ];
        let found = path.split('/').rev().find(|part| KINDS.contains(part)).unwrap_or("other");
        *self.reads.lock().unwrap().entry(format!("{service} {found}")).or_default() += 1;
    }

    /// Another operation replaces the stuck one.
    fn meddle(&self, path: &str) {
        if path.ends_with("/operations/latest")
            && Some(self.looks.fetch_add(1, Ordering::Relaxed)) == self.meddle
        {
            self.shell.with(|world, now| world.azure_mut().begin_stuck_update(now));
            self.sent.lock().unwrap().push(MEDDLED.to_owned());
        }
    }

    async fn die(&self) {
        self.dead.notify_one();
        std::future::pending::<()>().await;
    }

    pub(crate) fn operator(&self) -> Operator {
        self.operator_by(CredentialSource::Given(Box::new(self.kube())))
    }

    pub(crate) fn operator_by(&self, access: CredentialSource) -> Operator {
        let (endpoint, target) = self.shell.with(|world, _| {
            let options = world.azure().options();
            let target = PoolTarget {
                subscription: options.subscription.clone(),
                resource_group: options.resource_group.clone(),
                cluster: options.cluster.clone(),
                pool: "system".into(),
            };
            (options.endpoint.clone(), target)
        });
        let cloud = Cloud::new(mooring_arm::CloudSettings {
            endpoint: Some(endpoint.clone()),
            authority: Some(endpoint),
            ..mooring_arm::CloudSettings::default()
        });
        let mut settings = Settings::new(target);
        (self.flags)(&mut settings);
        let outside = Arc::new(Azure { harness: self.clone() });
        let client = Client::new(cloud.unwrap(), outside, Budget::new(BudgetLimits::default()));
        let shell = self.shell.clone();
        let (_, stop) = watch::channel(false);
        let clock = Rc::new(move || shell.now());
        Operator::new(&client, access, settings, clock, stop).unwrap()
    }

    /// The Kubernetes API with the permissions of a repair.
    pub(crate) fn kube(&self) -> mooring_k8s::Client {
        let service = Kubernetes { harness: self.clone(), inner: self.shell.kube_service(TOKEN) };
        mooring_k8s::Client::new(kube::Client::new(service, "default"))
    }

    /// Resumes without a new plan.
    pub(crate) async fn resume(&self, consent: &Consent) -> CommandResult {
        let mut operator = self.operator();
        Box::pin(operator.resume(consent, None, Box::new(|_, _, _| {}), &mut |_| {})).await
    }

    /// Starts or resumes like a pipeline until it stops; none if it was killed.
    pub(crate) fn go(&self) -> Pin<Box<dyn Future<Output = Option<CommandResult>> + '_>> {
        Box::pin(async move {
            let mut operator = self.operator();
            let unfinished = operator.status().await.unwrap().unfinished().cloned();
            let run = async {
                let basis = match &unfinished {
                    Some(state) => Some(operator.resume_basis(state).await.unwrap()),
                    None => None,
                };
                if basis.as_ref().is_some_and(|basis| *basis != ResumeBasis::Replannable) {
                    let watcher = Box::new(|_: &_, _: &_, _| {});
                    return operator.resume(&Consent::Pipeline, None, watcher, &mut |_| {}).await;
                }
                let examined = operator.examine(None, unfinished.as_ref()).await;
                let plan = examined.plan.unwrap();
                let checks = &examined.report.detection.checks;
                let watcher = Box::new(|_: &_, _: &_, _| {});
                if basis.is_some() {
                    let fresh = Some(Fresh { plan: &plan, checks });
                    return operator.resume(&Consent::Pipeline, fresh, watcher, &mut |_| {}).await;
                }
                let approval = Approval::Pipeline(plan.document.hash());
                operator.apply(&plan, checks, approval, watcher).await
            };
            tokio::select! {
                ending = run => Some(ending),
                () = self.dead.notified() => None,
            }
        })
    }

    /// The same without a kill; fails unless the run completes.
    pub(crate) async fn completes(&self) {
        let ending = self.go().await.unwrap();
        let complete = RunOutcome::Finished(Finish::Complete);
        assert!(matches!(&ending, CommandResult::Stopped(end) if *end == complete), "{ending:?}");
    }

    /// Plans, and applies the plan after a change.
    pub(crate) async fn apply(&self, change: impl FnOnce(&mut Plan)) -> CommandResult {
        let mut operator = self.operator();
        let examined = operator.examine(None, None).await;
        let mut plan = examined.plan.unwrap();
        change(&mut plan);
        let approval = Approval::Typed(plan.document.hash());
        let checks = &examined.report.detection.checks;
        Box::pin(operator.apply(&plan, checks, approval, Box::new(|_, _, _| {}))).await
    }

    /// Final state without values that differ between runs.
    pub(crate) async fn end_state(&self) -> Value {
        let report = self.operator().detect().await;
        let (nodes, maps) = self.shell.with(|world, _| {
            let nodes: Vec<(Value, bool)> = world
                .kubernetes()
                .objects("nodes", None)
                .map(|node| {
                    let cordoned = node["spec"]["unschedulable"] == true;
                    (node["metadata"]["labels"]["agentpool"].clone(), cordoned)
                })
                .collect();
            let maps = world
                .kubernetes()
                .objects("configmaps", Some("kube-system"))
                .filter(|map| map["metadata"]["name"] == "mooring-repair-system")
                .count();
            (nodes, maps)
        });
        let mut pools: Vec<String> = nodes.iter().map(|(pool, _)| pool.to_string()).collect();
        pools.sort();
        json!({
            "verdict": report.detection.verdict, "nodes": pools, "journals": maps,
            "cordoned": nodes.iter().filter(|(_, cordoned)| *cordoned).count(),
        })
    }
}

/// The model for the client, with kills and external operations.
struct Azure {
    harness: Harness,
}

impl World for Azure {
    fn now(&self) -> Timestamp {
        self.harness.azure.now()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.harness.azure.sleep(duration)
    }

    fn random(&self) -> u64 {
        self.harness.azure.random()
    }

    fn send(
        &self,
        request: http::Request<Bytes>,
    ) -> BoxFuture<'_, Result<http::Response<Bytes>, TransportError>> {
        let path = request.uri().path().to_owned();
        let origin = self.harness.shell.with(|world, _| world.azure().options().endpoint.clone());
        let sent = request.uri().to_string();
        assert!(
            sent.starts_with(&format!("{}/", origin.trim_end_matches('/'))),
            "{sent} left {origin}"
        );
        self.harness.meddle(&path);
        let reads = request.method() == http::Method::GET || path.ends_with("Credential");
        if reads {
            self.harness.count_read("azure", &path);
        }
        let what = (!reads).then(|| format!("{} {path}", request.method()));
        self.harness.with_kill(what, self.harness.azure.send(request)).boxed()
    }

    fn token<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<Token, IdentityError>> {
        self.harness.azure.token(scope)
    }
}

/// The Kubernetes API with the same kills.
#[derive(Clone)]
struct Kubernetes {
    harness: Harness,
    inner: InProcess,
}

impl tower::Service<http::Request<kube::client::Body>> for Kubernetes {
    type Response = <InProcess as tower::Service<http::Request<kube::client::Body>>>::Response;
    type Error = <InProcess as tower::Service<http::Request<kube::client::Body>>>::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<kube::client::Body>) -> Self::Future {
        let (harness, mut inner) = (self.harness.clone(), self.inner.clone());
        let path = request.uri().path().to_owned();
        // The journal itself is killed at every write in other tests.
        let journal = path.contains("/configmaps") || path.contains("/leases");
        let counts = request.method() != http::Method::GET && !journal;
        if request.method() == http::Method::GET {
            harness.count_read("kubernetes", &path);
        }
        let call = format!("{} {path}", request.method());
        harness.asked.lock().unwrap().insert(rbac::asked(request.method(), &path));
        async move {
            let answer = harness.with_kill(counts.then(|| call.clone()), inner.call(request)).await;
            let forbidden =
                |answer: &http::Response<_>| answer.status() == http::StatusCode::FORBIDDEN;
            assert!(!answer.as_ref().is_ok_and(forbidden), "the roles do not allow {call}");
            answer
        }
        .boxed()
    }
}

pub(crate) fn in_virtual_time<T>(act: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(act)
}

/// The screen of a report.
pub(crate) fn shown(report: &mooring_repair::report::DetectionReport) -> String {
    let reports = std::slice::from_ref(report);
    mooring_repair::screens::detection(reports, &[], &[], true)
        .render(&mooring_terminal::Style::PIPE)
}
