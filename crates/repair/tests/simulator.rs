//! The whole repair over the whole simulator: the real shell, the client for Azure, both models, one process,
//! virtual time. A kill before or after any change ends as the clean run does.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test may fail loudly"
)]

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use mooring_arm::identity::IdentityError;
use mooring_arm::{Budget, Client, Cloud, Limits, Outside, Token, TransportError};
use mooring_repair::guards::{Outcome as Checked, Verdict};
use mooring_repair::journal::Finish;
use mooring_repair::run::Rest;
use mooring_repair::settings::{Settings, Target};
use mooring_repair::shell::{Access, Ending, KubeApi, Operator};
use mooring_simulator::azure::Denial;
use mooring_simulator::exchange::Outcome;
use mooring_simulator::faults::Service;
use mooring_simulator::kubernetes::InProcess;
use mooring_simulator::scenario::Scenario;
use mooring_simulator::world::{Options, Running, Shell, World};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

const MEDDLED: &str = "another operation began";

/// The world, and when a process in it dies.
#[derive(Clone)]
struct Bench {
    shell: Shell,
    /// Changes so far by the process that runs: of Azure, and of Kubernetes but for the journal.
    changes: Arc<AtomicU64>,
    /// Dies before (even) or after (odd) the change of half this number.
    kill: Option<u64>,
    dead: Arc<Notify>,
    /// Every change that was sent, by anybody.
    sent: Arc<Mutex<Vec<String>>>,
    drawn: Arc<AtomicU64>,
    /// How often it was asked which operation is the latest, and before which time another one begins.
    looks: Arc<AtomicU64>,
    meddle: Option<u64>,
}

impl Bench {
    fn new(scenario: &str) -> (Self, Running) {
        let start: Timestamp = "2026-11-15T08:00:00Z".parse().unwrap();
        let scenario = Scenario::named(scenario).unwrap();
        let shell = Shell::new(World::new(&scenario, 7, start, Options::default()));
        let running = shell.start();
        let bench = Self {
            shell,
            changes: Arc::default(),
            kill: None,
            dead: Arc::default(),
            sent: Arc::default(),
            drawn: Arc::default(),
            looks: Arc::default(),
            meddle: None,
        };
        (bench, running)
    }

    /// The same world for a process that dies there.
    fn process(&self, kill: Option<u64>) -> Self {
        Self { changes: Arc::default(), kill, dead: Arc::default(), ..self.clone() }
    }

    /// Notes a change; the process dies around it if it is its time.
    async fn around<T>(&self, what: Option<String>, act: impl Future<Output = T>) -> T {
        let Some(what) = what else { return act.await };
        let change = self.changes.fetch_add(1, Ordering::Relaxed);
        if self.kill == Some(2 * change) {
            self.die().await;
        }
        self.sent.lock().unwrap().push(what);
        let answer = act.await;
        if self.kill == Some(2 * change + 1) {
            self.die().await;
        }
        answer
    }

    /// Somebody else's operation takes the place of the one that hung.
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

    fn operator(&self) -> Operator {
        let (endpoint, target) = self.shell.with(|world, _| {
            let options = world.azure().options();
            let target = Target {
                subscription: options.subscription.clone(),
                resource_group: options.resource_group.clone(),
                cluster: options.cluster.clone(),
                pool: "system".into(),
            };
            (options.endpoint.clone(), target)
        });
        let cloud = Cloud::new(mooring_arm::Settings {
            endpoint: Some(endpoint.clone()),
            authority: Some(endpoint),
            ..mooring_arm::Settings::default()
        });
        let client =
            Client::new(cloud.unwrap(), Arc::new(self.clone()), Budget::new(Limits::default()));
        let service = Kubernetes { bench: self.clone(), inner: self.shell.admin_service() };
        let kube = KubeApi::new(kube::Client::new(service, "default"));
        let shell = self.shell.clone();
        let (_, stop) = watch::channel(false);
        let clock = Rc::new(move || shell.now());
        Operator::new(&client, Access::Given(Box::new(kube)), Settings::new(target), clock, stop)
            .unwrap()
    }

    /// Begins or resumes, until it rests; none if it died.
    async fn go(&self) -> Option<Ending> {
        let mut operator = self.operator();
        let begun = !operator.status().await.unwrap().records.is_empty();
        let run = async {
            if begun {
                return operator.resume(Box::new(|_, _, _| {}), &mut |_| {}).await;
            }
            let examined = operator.examine().await;
            let plan = examined.plan.unwrap();
            let guards = &examined.report.detection.guards;
            operator.apply(&plan, guards, Some(&plan.hash), Box::new(|_, _, _| {})).await
        };
        tokio::select! {
            ending = run => Some(ending),
            () = self.dead.notified() => None,
        }
    }

    /// What is left, without what differs from run to run.
    async fn end_state(&self) -> Value {
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

impl Outside for Bench {
    fn now(&self) -> Timestamp {
        self.shell.now()
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
        let path = request.uri().path().to_owned();
        self.meddle(&path);
        let reads = request.method() == http::Method::GET || path.ends_with("Credential");
        let what = (!reads).then(|| format!("{} {path}", request.method()));
        async move {
            match self.around(what, self.shell.call(Service::Arm, request)).await {
                Outcome::Answer(response) => Ok(response.map(|body| body.bytes())),
                other => Err(TransportError::unknown(format!("{other:?}"))),
            }
        }
        .boxed()
    }

    fn token<'a>(&'a self, scope: &'a str) -> BoxFuture<'a, Result<Token, IdentityError>> {
        let audience = scope.trim_end_matches("/.default");
        let secret = self.shell.with(|world, now| world.azure().token(audience, now));
        let expires = self.now() + Duration::from_mins(50);
        async move { Ok(Token { secret: secret.into(), expires }) }.boxed()
    }
}

/// The Kubernetes API of the world, with the same deaths.
#[derive(Clone)]
struct Kubernetes {
    bench: Bench,
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
        let (bench, mut inner) = (self.bench.clone(), self.inner.clone());
        let path = request.uri().path().to_owned();
        // The journal itself is killed at every write in other tests.
        let counts = request.method() != http::Method::GET && !path.contains("/configmaps");
        let what = counts.then(|| format!("{} {path}", request.method()));
        async move { bench.around(what, inner.call(request)).await }.boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_wedged_pool_is_rebuilt_and_detection_changes_nothing() {
    let (bench, _running) = Bench::new("wedged-system-pool");
    let report = bench.operator().detect().await;
    assert_eq!(report.detection.verdict, Verdict::Confirmed, "{}", report.table());
    assert!(bench.operator().examine().await.plan.is_ok());
    assert_eq!(*bench.sent.lock().unwrap(), Vec::<String>::new());
    let ending = bench.go().await.unwrap();
    assert!(matches!(ending, Ending::Rested(Rest::Finished(Finish::Repaired))), "{ending:?}");
    let state = bench.end_state().await;
    assert_eq!(state["verdict"], "healthy", "{state}");
    assert_eq!(state["cordoned"], 0);
    // Scale sets are never written: a full PUT would need rights on the image.
    let sent = bench.sent.lock().unwrap().clone();
    assert!(!sent.iter().any(|sent| sent.contains("Microsoft.Compute")), "{sent:?}");
    let again = bench.operator().resume(Box::new(|_, _, _| {}), &mut |_| {}).await;
    assert!(matches!(again, Ending::Nothing(_)), "{again:?}");
}

/// The abort of Azure names no operation. Whenever another one begins before the last look, it is left alone.
#[test]
fn an_operation_that_replaced_the_old_one_is_never_aborted() {
    let mut meddled = 0;
    for look in 0..8 {
        let sent = in_virtual_time(async {
            let (mut bench, _running) = Bench::new("wedged-system-pool");
            bench.meddle = Some(look);
            bench.go().await;
            let sent = bench.sent.lock().unwrap();
            sent.clone()
        });
        let Some(at) = sent.iter().position(|sent| sent == MEDDLED) else { continue };
        meddled += 1;
        assert!(!sent[at..].iter().any(|sent| sent.ends_with("/abort")), "look {look}: {sent:?}");
    }
    assert!(meddled >= 2, "there is a look before the intent, and one right before the call");
}

#[tokio::test(start_paused = true)]
async fn a_plan_tells_the_room_in_the_pools_subnet_or_why_it_does_not() {
    let subnet = async |bench: &Bench| {
        let plan = bench.operator().examine().await.plan.unwrap();
        let found = plan.prechecks.into_iter().find(|check| check.name == "subnet").unwrap();
        (found.outcome, found.detail)
    };
    let (bench, _running) = Bench::new("wedged-system-pool");
    let (outcome, detail) = subnet(&bench).await;
    assert_eq!(outcome, Checked::Unknown, "AKS made the network: {detail}");
    let id = bench.shell.with(|world, _| {
        let azure = world.azure_mut();
        let options = azure.options();
        let group = format!(
            "/subscriptions/{}/resourceGroups/{}",
            options.subscription, options.node_resource_group
        );
        let id = format!(
            "{group}/providers/Microsoft.Network/virtualNetworks/aks-vnet/subnets/aks-subnet"
        );
        let pool = format!("{}/agentPools/system", options.cluster_id());
        let mut pool = azure.resource(&pool).unwrap().clone();
        pool["properties"]["vnetSubnetID"] = id.clone().into();
        azure.put_resource(pool);
        id
    });
    // Three nodes of 111 addresses each; of the range five are Azure's, and four nodes have one.
    let (outcome, detail) = subnet(&bench).await;
    assert_eq!(outcome, Checked::Pass, "{detail}");
    assert_eq!(detail, "333 addresses of aks-subnet needed, 65527 left");
    bench.shell.with(|world, _| {
        let mut small = world.azure().resource(&id).unwrap().clone();
        small["properties"]["addressPrefix"] = "10.224.0.0/28".into();
        world.azure_mut().put_resource(small);
    });
    assert_eq!(subnet(&bench).await.0, Checked::Fail);
    bench.shell.with(|world, _| {
        let action = "Microsoft.Network/*".to_owned();
        world.azure_mut().deny(Denial { principal: None, action, scope: None });
    });
    let (outcome, detail) = subnet(&bench).await;
    assert_eq!(outcome, Checked::Unknown);
    assert!(detail.contains("AuthorizationFailed"), "{detail}");
}

#[test]
fn a_kill_before_or_after_any_change_ends_as_the_clean_run_does() {
    let (wanted, changes) = in_virtual_time(async {
        let (clean, _running) = Bench::new("wedged-system-pool");
        let ending = clean.go().await.unwrap();
        assert!(matches!(ending, Ending::Rested(Rest::Finished(Finish::Repaired))), "{ending:?}");
        (clean.end_state().await, clean.changes.load(Ordering::Relaxed))
    });
    assert!(changes >= 10, "{changes}");
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let kill = next.fetch_add(1, Ordering::Relaxed);
                    if kill >= 2 * changes {
                        break;
                    }
                    in_virtual_time(killed(kill, &wanted));
                }
            });
        }
    });
}

async fn killed(kill: u64, wanted: &Value) {
    let (bench, _running) = Bench::new("wedged-system-pool");
    assert!(bench.process(Some(kill)).go().await.is_none(), "kill {kill} was never reached");
    let ending = bench.process(None).go().await.unwrap();
    assert!(
        matches!(ending, Ending::Rested(Rest::Finished(Finish::Repaired))),
        "kill {kill}: {ending:?}"
    );
    assert_eq!(bench.end_state().await, *wanted, "kill {kill}");
}

fn in_virtual_time<T>(act: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(act)
}
