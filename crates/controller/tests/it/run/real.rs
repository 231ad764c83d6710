//! The main path against a real kube-apiserver, on both generations of the NodeClaim. Azure is simulated;
//! time is real, and every wait has a timeout.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mooring_controller::Settings;
use mooring_controller::metrics::Metrics;
use mooring_controller::run::{Api, Clock, Controller, Health, ViewRequest};
use mooring_k8s::Times;
use mooring_nodes::record;
use mooring_simulator::azure::{Cse, NewVm, ProvisionMode};
use mooring_simulator::cluster::{ClusterOptions, Shell, SimulatedCluster};
use mooring_simulator::scenario::Scenario;
use mooring_testbed::{RealCluster, Users, require};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::run::cluster::NAMESPACE;
use crate::run::{azure, rules};

/// The user that replaces the service account.
const USER: &str = "ann";

async fn send(
    client: &kube::Client,
    method: &str,
    path: &str,
    body: &Value,
) -> Result<Value, String> {
    let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", kind)
        .body(if body.is_null() { Vec::new() } else { body.to_string().into_bytes() })
        .unwrap();
    client.request(request).await.map_err(|error| error.to_string())
}

async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let found = tokio::time::timeout(Duration::from_mins(1), async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    found.await.unwrap_or_else(|_| panic!("within a minute there was no {what}"))
}

fn definition(file: &str) -> Value {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/simulator/fixtures/crds");
    serde_saphyr::from_str(&std::fs::read_to_string(directory.join(file)).unwrap()).unwrap()
}

async fn create_resources(admin: &kube::Client, claims: &str) {
    for file in [claims, "nodepools.yaml", "aksnodeclasses.yaml"] {
        let definition = definition(file);
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        send(admin, "POST", path, &definition).await.unwrap();
        let spec = &definition["spec"];
        let [group, version, plural] =
            [&spec["group"], &spec["versions"][0]["name"], &spec["names"]["plural"]]
                .map(|part| part.as_str().unwrap());
        let list = format!("/apis/{group}/{version}/{plural}");
        eventually(&list, async || send(admin, "GET", &list, &Value::Null).await.ok()).await;
    }
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    send(admin, "POST", "/api/v1/namespaces", &namespace).await.unwrap();
    // The API server creates this one shortly after its start.
    let old = "/api/v1/namespaces/kube-system";
    eventually(old, async || send(admin, "GET", old, &Value::Null).await.ok()).await;
    for mut object in rules::rbac(NAMESPACE) {
        if object.get("subjects").is_some() {
            object["subjects"] =
                json!([{"kind": "User", "name": USER, "apiGroup": "rbac.authorization.k8s.io"}]);
        }
        let group = "/apis/rbac.authorization.k8s.io/v1";
        let plural = format!("{}s", object["kind"].as_str().unwrap().to_lowercase());
        let path = match object["metadata"]["namespace"].as_str() {
            Some(namespace) => format!("{group}/namespaces/{namespace}/{plural}"),
            None => format!("{group}/{plural}"),
        };
        send(admin, "POST", &path, &object).await.unwrap();
    }
    let pool = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}],
            "expireAfter": "720h",
        }}},
    });
    send(admin, "POST", "/apis/karpenter.sh/v1/nodepools", &pool).await.unwrap();
}

/// Creates a NodeClaim that was launched seven minutes ago.
async fn launch(admin: &kube::Client, name: &str, vm: &str) {
    let object = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": "default"}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}],
        },
    });
    send(admin, "POST", "/apis/karpenter.sh/v1/nodeclaims", &object).await.unwrap();
    let at = format!("{:.0}", Timestamp::now() - SignedDuration::from_mins(7));
    let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "reason": kind, "message": kind, "lastTransitionTime": at});
    let status = json!({"status": {
        "providerID": format!("azure://{vm}"),
        "imageID": "/CommunityGalleries/x/images/V3gen2/versions/202601.27.0",
        "conditions": [condition("Launched", "True"), condition("Registered", "Unknown"), condition("Ready", "Unknown")],
    }});
    send(admin, "PATCH", &format!("/apis/karpenter.sh/v1/nodeclaims/{name}/status"), &status)
        .await
        .unwrap();
}

/// A real API server and a simulated Azure.
struct Fixture {
    real: RealCluster,
    admin: kube::Client,
    azure: Shell,
    /// Seconds by which the clocks of the replicas are ahead.
    ahead: Arc<AtomicI64>,
}

struct Replica {
    health: Arc<Health>,
    clock: Clock,
    views: mpsc::Sender<ViewRequest>,
    stop: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<()>,
}

impl Replica {
    async fn stop(self) {
        self.stop.send(()).unwrap();
        tokio::time::timeout(Duration::from_secs(30), self.task).await.unwrap().unwrap();
    }

    async fn view(&self) {
        let (reply, view) = oneshot::channel();
        self.views.send(ViewRequest { seen: 0, reply }).await.unwrap();
        view.await.unwrap();
    }

    fn readyz(&self) -> Result<(), String> {
        self.health.readyz((self.clock)())
    }
}

impl Fixture {
    async fn create(claims: &str) -> Option<Self> {
        let real = require(RealCluster::start().await.unwrap(), "kube-apiserver")?;
        let admin = real.client(Users::ADMIN).await.unwrap();
        create_resources(&admin, claims).await;
        let options = ClusterOptions { workloads: false, ..ClusterOptions::default() };
        let world = SimulatedCluster::new(
            &Scenario::named("healthy").unwrap(),
            1,
            Timestamp::now(),
            options,
        );
        let azure = Shell::with_clock(world, Arc::new(Timestamp::now));
        Some(Self { real, admin, azure, ahead: Arc::default() })
    }

    fn advance(&self, seconds: i64) {
        self.ahead.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Creates a NodeClaim and its VM, whose bootstrap has finished unless it never ends.
    async fn launch(&self, name: &str, mode: ProvisionMode, cse: Cse) {
        let created = Timestamp::now() - SignedDuration::from_mins(7);
        let grown = cse.seconds.is_some();
        let vm = NewVm::booting(&format!("aks-{name}"), "202601.27.0", cse, created);
        let vm = NewVm { mode, grown, ..vm };
        let id = self.azure.with(|world, _| world.azure_mut().create_vm(&vm));
        launch(&self.admin, name, &id).await;
    }

    async fn start(&self, instance: &str, times: Times) -> Replica {
        let ahead = Arc::clone(&self.ahead);
        let clock: Clock = Arc::new(move || {
            Timestamp::now() + SignedDuration::from_secs(ahead.load(Ordering::SeqCst))
        });
        let health = Arc::new(Health::new(clock()));
        let controller = Controller {
            kube: self.real.client(USER).await.unwrap(),
            arm: azure::client(&self.azure),
            clock: Arc::clone(&clock),
            settings: Settings {
                instance: instance.to_owned(),
                scope: self.azure.with(|world, _| azure::scope(world.azure().options())),
                // Counted from the condition, which is new here.
                registration_timeout: SignedDuration::from_secs(2),
                ..Settings::default()
            },
            namespace: NAMESPACE.to_owned(),
            times,
            metrics: Arc::new(Metrics::new()),
            health: Arc::clone(&health),
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let (views, requests) = mpsc::channel(1);
        let stopped = async move {
            let _ = stopped.await;
        };
        let task = tokio::spawn(controller.run_viewed(stopped, requests));
        Replica { health, clock, views, stop, task }
    }

    /// Returns the controller's condition on a NodeClaim, once it has this reason. Karpenter's own is never lost.
    async fn condition_of(&self, name: &str, reason: &str) -> Value {
        let path = format!("/apis/karpenter.sh/v1/nodeclaims/{name}");
        eventually(&format!("{reason} on {name}"), async || {
            let claim = send(&self.admin, "GET", &path, &Value::Null).await.unwrap();
            let conditions = claim["status"]["conditions"].as_array().unwrap().clone();
            assert_eq!(conditions.iter().filter(|one| one["type"] == "Launched").count(), 1);
            conditions
                .into_iter()
                .find(|one| one["type"] == "CSEProvisioned" && one["reason"] == reason)
        })
        .await
    }

    /// Returns kind and name of the objects of events with this reason, in order. All have its uid, and the
    /// form that the server requires.
    async fn events(&self, reason: &str) -> Vec<String> {
        let path = "/apis/events.k8s.io/v1/namespaces/default/events";
        let events = send(&self.admin, "GET", path, &Value::Null).await.unwrap();
        let own = events["items"].as_array().unwrap().iter();
        let mut own: Vec<String> = own
            .filter(|event| event["reason"] == reason)
            .map(|event| {
                let of = |name: &str| event["regarding"][name].as_str().unwrap();
                assert!(!of("uid").is_empty(), "{event}");
                let namespace = event["regarding"]["namespace"].as_str();
                assert_eq!(namespace, (self.real.minor() < 23).then_some("default"), "{event}");
                format!("{} {}", of("kind"), of("name"))
            })
            .collect();
        own.sort_unstable();
        own
    }

    async fn holder(&self) -> String {
        let path = format!("/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/mooring");
        let lease = send(&self.admin, "GET", &path, &Value::Null).await.unwrap_or_default();
        lease["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned()
    }

    async fn recorded(&self) -> usize {
        let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/{}", record::NAME);
        let Ok(text) = Api::new(self.admin.clone()).get(&path).await else { return 0 };
        let map = serde_json::from_str(&text).unwrap();
        record::RecordDocument::from_config_map(&map).unwrap().entries().count()
    }
}

mod slow {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn real_api_server_accepts_every_outcome() {
        for claims in ["nodeclaims.yaml", "nodeclaims-atomic.yaml"] {
            let Some(fixture) = Fixture::create(claims).await else { return };
            let exits = |exit_code| Cse { exit_code, ..Cse::default() };
            fixture.launch("default-bad1", ProvisionMode::Vm, Cse::oras_missing()).await;
            fixture.launch("default-good1", ProvisionMode::Vm, Cse::default()).await;
            fixture.launch("default-late1", ProvisionMode::Vm, exits(124)).await;
            fixture
                .launch("default-slow1", ProvisionMode::Vm, Cse { seconds: None, ..Cse::default() })
                .await;
            fixture.launch("default-bare1", ProvisionMode::Scriptless, exits(0)).await;
            let replica = fixture.start("a", Times::default()).await;

            let failed = fixture.condition_of("default-bad1", "CSEFailed").await;
            assert_eq!(failed["status"], "False");
            assert!(
            failed["message"].as_str().unwrap().starts_with(
                "CSE exited with code 211 (ERR_ORAS_PULL_NETWORK_TIMEOUT): oras is missing on the image (232 ERR_ORAS_BINARY_NOT_FOUND). "
            ),
            "{failed}"
        );
            for (name, status, reason) in [
                ("default-good1", "True", "CSESucceeded"),
                ("default-late1", "False", "CSETimedOut"),
                ("default-slow1", "Unknown", "CSERunning"),
                ("default-bare1", "Unknown", "NoCSEExtension"),
            ] {
                assert_eq!(fixture.condition_of(name, reason).await["status"], status, "{name}");
            }
            // Karpenter's merge patch drops it; it is written again.
            let path = "/apis/karpenter.sh/v1/nodeclaims/default-bad1/status";
            let at = format!("{:.0}", Timestamp::now());
            let dropped = json!({"status": {"conditions": [
                {"type": "Launched", "status": "True", "reason": "Launched", "message": "Launched", "lastTransitionTime": at},
            ]}});
            send(&fixture.admin, "PATCH", path, &dropped).await.unwrap();
            fixture.condition_of("default-bad1", "CSEFailed").await;

            assert_eq!(
                fixture.events("CSEFailed").await,
                ["NodeClaim default-bad1", "NodePool default"],
                "{claims}"
            );
            eventually("word of the node that is late", async || {
                let late = fixture.events("NodeNotRegistered").await;
                late.contains(&"NodeClaim default-good1".to_owned()).then_some(())
            })
            .await;
            assert!(fixture.recorded().await >= 2);
            assert_eq!(replica.readyz(), Ok(()));
            replica.stop().await;
            assert_eq!(fixture.holder().await, "", "the lease was not given back");
            println!("{} with {claims}: reported", fixture.real.version());
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn failover_after_a_kill_on_a_real_api_server() {
        let Some(fixture) = Fixture::create("nodeclaims.yaml").await else { return };
        // In proportion to the others, and short enough for a test.
        let times = Times {
            lease: Duration::from_secs(9),
            renew: Duration::from_secs(6),
            retry: Duration::from_secs(1),
        };
        let first = fixture.start("a", times).await;
        eventually("leader", async || (fixture.holder().await == "a").then_some(())).await;
        let second = fixture.start("b", times).await;
        fixture.launch("default-bad1", ProvisionMode::Vm, Cse::oras_missing()).await;
        fixture.condition_of("default-bad1", "CSEFailed").await;
        first.task.abort();
        eventually("second leader", async || (fixture.holder().await == "b").then_some(())).await;
        fixture.launch("default-bad2", ProvisionMode::Vm, Cse::oras_missing()).await;
        fixture.condition_of("default-bad2", "CSEFailed").await;
        eventually("record of both", async || (fixture.recorded().await == 2).then_some(())).await;
        assert_eq!(
            fixture.events("CSEFailed").await,
            [
                "NodeClaim default-bad1",
                "NodeClaim default-bad2",
                "NodePool default",
                "NodePool default"
            ],
            "each is reported once"
        );
        second.stop().await;
    }

    /// Jumps of the clock stand for minutes without any message.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn page_keeps_no_heartbeat_from_a_real_cluster() {
        let Some(fixture) = Fixture::create("nodeclaims.yaml").await else { return };
        let (lease, renew) = (Duration::from_mins(15), Duration::from_mins(10));
        let times = Times { lease, renew, retry: Duration::from_secs(1) };
        let replica = fixture.start("a", times).await;
        eventually("leader", async || replica.readyz().ok()).await;
        for _ in 0..3 {
            fixture.advance(61);
            eventually("heartbeat", async || {
                replica.view().await;
                replica.readyz().ok()
            })
            .await;
        }
        replica.stop().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn replica_is_ready_again_after_an_outage_of_a_real_api_server() {
        let Some(mut fixture) = Fixture::create("nodeclaims.yaml").await else { return };
        let replica = fixture.start("a", Times::default()).await;
        eventually("sync", async || replica.readyz().ok()).await;
        fixture.real.stop();
        eventually("failing watch", async || {
            fixture.advance(1);
            replica.readyz().err().filter(|why| why.starts_with("watch failing: "))
        })
        .await;
        fixture.real.restart().await.unwrap();
        // There are no NodeClaims and no events whose changes could show that the watches work.
        eventually("recovery", async || replica.readyz().ok()).await;
        replica.stop().await;
    }
}
