//! The main path against a real kube-apiserver, on both generations of the NodeClaim. Azure is the model; time is real,
//! and every wait has an end.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mooring_controller::lease::Times;
use mooring_controller::metrics::Metrics;
use mooring_controller::run::{Api, Controller, Health};
use mooring_controller::{Settings, record};
use mooring_simulator::azure::{Cse, NewVm};
use mooring_simulator::scenario::Scenario;
use mooring_simulator::world::{Options, Shell, World};
use mooring_testbed::{RealCluster, Users};
use serde_json::{Value, json};

use crate::cluster::NAMESPACE;
use crate::{azure, rules};

/// The user that takes the service account's place.
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../simulator/fixtures/crds");
    serde_saphyr::from_str(&std::fs::read_to_string(folder.join(file)).unwrap()).unwrap()
}

async fn furnish(admin: &kube::Client, claims: &str) {
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

/// A claim that was launched two minutes ago.
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
    let at = format!("{:.0}", Timestamp::now() - SignedDuration::from_mins(2));
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_api_server_takes_the_condition_the_events_and_the_record() {
    for claims in ["nodeclaims.yaml", "nodeclaims-atomic.yaml"] {
        let Some(real) = RealCluster::start().await.unwrap() else {
            println!("SKIPPED: there is no kube-apiserver; `scripts/kube-assets` fetches one");
            return;
        };
        let admin = real.client(Users::ADMIN).await.unwrap();
        furnish(&admin, claims).await;
        let options = Options { workloads: false, ..Options::default() };
        let world = World::new(&Scenario::named("healthy").unwrap(), 1, Timestamp::now(), options);
        let shell = Shell::with_clock(world, Arc::new(Timestamp::now));
        let vm = |name: &str, cse: Cse| {
            let vm = NewVm {
                name: format!("aks-{name}"),
                node_pool: "default".to_owned(),
                image_version: "202601.27.0".to_owned(),
                size: "Standard_D4s_v5".to_owned(),
                zone: "westeurope-1".to_owned(),
                cse,
                created: Timestamp::now() - SignedDuration::from_mins(3),
                grown: true,
            };
            shell.with(|world, _| world.azure_mut().create_vm(&vm))
        };
        launch(&admin, "default-bad1", &vm("default-bad1", Cse::oras_missing())).await;
        launch(&admin, "default-good1", &vm("default-good1", Cse::default())).await;

        let clock: mooring_controller::run::Clock = Arc::new(Timestamp::now);
        let health = Arc::new(Health::new(clock()));
        let controller = Controller {
            kube: real.client(USER).await.unwrap(),
            arm: azure::client(&shell),
            clock: Arc::clone(&clock),
            settings: Settings { instance: "a".to_owned(), ..Settings::default() },
            namespace: NAMESPACE.to_owned(),
            times: Times::default(),
            metrics: Arc::new(Metrics::new()),
            health: Arc::clone(&health),
        };
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let running = tokio::spawn(controller.run(async move {
            let _ = stopped.await;
        }));
        let told = async |name: &str, reason: &str| {
            let path = format!("/apis/karpenter.sh/v1/nodeclaims/{name}");
            eventually(reason, async || {
                let claim = send(&admin, "GET", &path, &Value::Null).await.unwrap();
                let conditions = claim["status"]["conditions"].as_array().unwrap().clone();
                assert_eq!(conditions.iter().filter(|one| one["type"] == "Launched").count(), 1);
                conditions
                    .into_iter()
                    .find(|one| one["type"] == "CSEProvisioned" && one["reason"] == reason)
            })
            .await
        };
        let failed = told("default-bad1", "CSEFailed").await;
        assert_eq!(failed["status"], "False");
        assert!(
            failed["message"].as_str().unwrap().starts_with(
                "CSE exited with code 211 (ERR_ORAS_PULL_NETWORK_TIMEOUT): oras is missing on the image (232 ERR_ORAS_BINARY_NOT_FOUND). "
            ),
            "{failed}"
        );
        assert_eq!(told("default-good1", "CSESucceeded").await["status"], "True");
        // Karpenter's merge patch drops it; it comes back.
        let path = "/apis/karpenter.sh/v1/nodeclaims/default-bad1/status";
        let at = format!("{:.0}", Timestamp::now());
        let dropped = json!({"status": {"conditions": [
            {"type": "Launched", "status": "True", "reason": "Launched", "message": "Launched", "lastTransitionTime": at},
        ]}});
        send(&admin, "PATCH", path, &dropped).await.unwrap();
        told("default-bad1", "CSEFailed").await;

        let events =
            send(&admin, "GET", "/apis/events.k8s.io/v1/namespaces/default/events", &Value::Null)
                .await
                .unwrap();
        let ours: Vec<&Value> = events["items"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|event| event["reason"] == "CSEFailed")
            .collect();
        let mut kinds: Vec<&str> =
            ours.iter().map(|event| event["regarding"]["kind"].as_str().unwrap()).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, ["NodeClaim", "NodePool"], "{events}");
        let text = Api::new(admin.clone())
            .get(&format!("/api/v1/namespaces/{NAMESPACE}/configmaps/{}", record::NAME))
            .await
            .unwrap();
        let record =
            record::Document::from_config_map(&serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(record.entries().count(), 1);
        assert_eq!(health.readyz(clock()), Ok(()));
        stop.send(()).unwrap();
        tokio::time::timeout(Duration::from_secs(30), running).await.unwrap().unwrap();
        let lease = format!("/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/mooring");
        let lease = send(&admin, "GET", &lease, &Value::Null).await.unwrap();
        assert!(lease["spec"]["holderIdentity"].as_str().unwrap_or_default().is_empty(), "{lease}");
        println!("{} with {claims}: told", real.version());
    }
}
