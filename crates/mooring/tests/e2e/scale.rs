//! `status`, `fleet` and `why` of 5,000 NodeClaims and their Nodes on a real kube-apiserver.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use jiff::{SignedDuration, Timestamp};
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use mooring_nodes::{NodeItem, NodePage};
use mooring_testbed::{RealCluster, Users, require};
use serde_json::{Value, json};

use crate::common::{mooring, result, wait};

const CLAIMS: usize = 5_000;
const FAILED: usize = 60;
const JOINING: usize = 40;
const READY: usize = CLAIMS - FAILED - JOINING;
/// Requests at the same time.
const CONCURRENT: usize = 64;
const MAX_KIB: u64 = 100 * 1024;
const TIMEOUT: Duration = Duration::from_mins(1);
const GOOD: &str = "202601.13.0";
const BAD: &str = "202601.27.0";
const VMS: &str = "azure:///subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/MC_rg-demo_demo_westeurope/providers/Microsoft.Compute/virtualMachines";

fn objects(client: &kube::Client, group: &str, version: &str, kind: &str) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(group, version, kind);
    Api::all_with(client.clone(), &ApiResource::from_gvk(&kind))
}

async fn create(api: &Api<DynamicObject>, object: Value) {
    let object = serde_json::from_value(object).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap();
}

/// Creates the CRDs of Karpenter. Status is not a subresource, so that one request creates a NodeClaim.
async fn create_definitions(client: &kube::Client) {
    let api = objects(client, "apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    for (kind, text) in [
        ("NodeClaim", include_str!("../../../../lab/simulator/fixtures/crds/nodeclaims.yaml")),
        ("NodePool", include_str!("../../../../lab/simulator/fixtures/crds/nodepools.yaml")),
    ] {
        let mut definition: Value = serde_saphyr::from_str(text).unwrap();
        definition["spec"]["versions"][0].as_object_mut().unwrap().remove("subresources");
        create(&api, definition).await;
        let served = objects(client, "karpenter.sh", "v1", kind);
        let start = Instant::now();
        while served.list(&ListParams::default()).await.is_err() {
            assert!(start.elapsed() < TIMEOUT, "{kind} is not served");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn labels(image: &str) -> Value {
    json!({
        "karpenter.sh/nodepool": "default",
        "karpenter.sh/capacity-type": "on-demand",
        "karpenter.azure.com/sku-family": "D",
        "karpenter.azure.com/sku-cpu": "4",
        "kubernetes.azure.com/node-image-version": format!("AKSAzureLinux-V3gen2-{image}"),
        "node.kubernetes.io/instance-type": "Standard_D4s_v5",
        "topology.kubernetes.io/region": "westeurope",
        "topology.kubernetes.io/zone": "westeurope-1",
    })
}

/// The first NodeClaims failed, the next are joining, and the others are ready.
fn claim(number: usize, now: Timestamp) -> Value {
    let is_joining = (FAILED..FAILED + JOINING).contains(&number);
    let age = SignedDuration::from_mins(if is_joining { 1 } else { 20 });
    let (name, at) = (name(number), (now - age).to_string());
    let image = if number < FAILED { BAD } else { GOOD };
    let condition = |kind: &str, status: &str, reason: &str, message: &str| json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at});
    let joined = if number < FAILED + JOINING { "Unknown" } else { "True" };
    let mut conditions = vec![
        condition("Launched", "True", "Launched", "Launched"),
        condition("Registered", joined, "Registered", "Registered"),
        condition("Initialized", joined, "Initialized", "Initialized"),
        condition("Ready", joined, "Ready", "Ready"),
    ];
    if number < FAILED {
        let message = "CSE exited with code 211 (ERR_ORAS_PULL_NETWORK_TIMEOUT): timeout: failed to run command 'oras': No such file or directory";
        conditions.push(condition("CSEProvisioned", "False", "CSEFailed", message));
    }
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": name, "labels": labels(image), "finalizers": ["karpenter.sh/termination"]},
        "spec": {
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": [
                {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["Standard_D4s_v5", "Standard_D8s_v5"]},
            ],
            "resources": {"requests": {"cpu": "3", "memory": "9Gi", "pods": "30"}},
        },
        "status": {
            "providerID": format!("{VMS}/aks-{name}"),
            "imageID": format!("/CommunityGalleries/AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b/images/V3gen2/versions/{image}"),
            "nodeName": format!("aks-{name}"),
            "capacity": {"cpu": "4", "memory": "16Gi", "pods": "110", "ephemeral-storage": "128G"},
            "allocatable": {"cpu": "3860m", "memory": "14Gi", "pods": "110", "ephemeral-storage": "128G"},
            "conditions": conditions,
        },
    })
}

/// A Node with as many images as a kubelet reports.
fn node(number: usize, now: Timestamp) -> Value {
    let name = name(number);
    let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "reason": format!("Kubelet{kind}"), "message": "kubelet is posting ready status", "lastHeartbeatTime": now.to_string(), "lastTransitionTime": now.to_string()});
    let images: Vec<Value> = (0..50)
        .map(|number| {
            json!({"sizeBytes": 94_371_840, "names": [
                format!("mcr.microsoft.com/oss/kubernetes/image-{number}@sha256:{}", "9f2c".repeat(16)),
                format!("mcr.microsoft.com/oss/kubernetes/image-{number}:v1.33.6"),
            ]})
        })
        .collect();
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": format!("aks-{name}"), "labels": labels(GOOD)},
        "spec": {"providerID": format!("{VMS}/aks-{name}")},
        "status": {
            "conditions": [
                condition("MemoryPressure", "False"), condition("DiskPressure", "False"),
                condition("PIDPressure", "False"), condition("Ready", "True"),
            ],
            "images": images,
        },
    })
}

fn name(number: usize) -> String {
    format!("default-{number:05}")
}

async fn load(client: &kube::Client) {
    create_definitions(client).await;
    let pools = objects(client, "karpenter.sh", "v1", "NodePool");
    let class = json!({"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"});
    let template = json!({"spec": {"nodeClassRef": class, "requirements": []}});
    create(&pools, json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"}, "spec": {"template": template}})).await;
    let (claims, nodes) =
        (&objects(client, "karpenter.sh", "v1", "NodeClaim"), &objects(client, "", "v1", "Node"));
    let now = Timestamp::now();
    let create_both = |number| async move {
        create(claims, claim(number, now)).await;
        if number >= FAILED + JOINING {
            create(nodes, node(number, now)).await;
        }
    };
    let requests = futures::stream::iter(0..CLAIMS).map(create_both);
    requests.buffer_unordered(CONCURRENT).count().await;
}

/// Memory and time of a process.
#[derive(Default)]
struct Usage {
    peak_kib: u64,
    /// Hundredths of a second.
    processor: u64,
}

impl Usage {
    fn read(process: u32) -> Option<Self> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // After the name, which may contain spaces: user and system time.
        let times = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(2);
        Some(Self {
            peak_kib: peak.trim().trim_end_matches(" kB").parse().ok()?,
            processor: times.filter_map(|time| time.parse::<u64>().ok()).sum(),
        })
    }
}

/// Runs a command; returns its exit code, stdout, and what it needed.
fn run(mut command: Command) -> (i32, String, Usage) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let process = child.id();
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Read until the process ends; both figures only grow.
        let usage = scope.spawn(|| {
            let mut last = Usage::default();
            while !has_ended.load(Ordering::Relaxed) {
                last = Usage::read(process).unwrap_or(last);
                std::thread::sleep(Duration::from_millis(1));
            }
            last
        });
        let output = wait(child, TIMEOUT);
        has_ended.store(true, Ordering::Relaxed);
        let (code, out, err) = result(&output);
        assert!(err.is_empty() || !err.contains("error"), "{err}");
        (code, out, usage.join().unwrap())
    })
}

/// Compares both formats of Nodes, of which one is cordoned and one is not ready.
async fn binary_nodes_equal_those_of_json(client: &kube::Client) {
    let nodes = objects(client, "", "v1", "Node");
    let mut cordoned = node(CLAIMS, Timestamp::now());
    cordoned["spec"]["unschedulable"] = true.into();
    let mut broken = node(CLAIMS + 1, Timestamp::now());
    broken["status"]["conditions"][3]["status"] = "False".into();
    broken["spec"] = json!({});
    for node in [cordoned, broken] {
        create(&nodes, node).await;
    }
    let api = mooring_controller::run::Api::new(client.clone());
    let binary = api.get_binary_list("/api/v1/nodes?limit=500").await.unwrap();
    let page = NodePage::decode(&binary).unwrap();
    assert!(page.nodes.len() == 500 && !page.next.is_empty());
    // The last bytes are members that are empty.
    for length in (0..50).map(|part| part * (binary.len() / 50)) {
        assert_eq!(NodePage::decode(&binary[..length]), None, "{length} bytes");
    }
    let names = [0, 1].map(|number| format!("aks-{}", name(CLAIMS + number)));
    let names = [&format!("aks-{}", name(CLAIMS - 1)), &names[0], &names[1]];
    let mut seen = Vec::new();
    for name in names {
        let path = format!("/api/v1/nodes?fieldSelector=metadata.name%3D{name}");
        let page = NodePage::decode(&api.get_binary_list(&path).await.unwrap()).unwrap();
        let text = api.get_list(&path).await.unwrap();
        let list: Value = serde_json::from_str(&text).unwrap();
        let item = serde_json::value::to_raw_value(&list["items"][0]).unwrap();
        assert_eq!(page.nodes, [NodeItem::parse(&item).unwrap()]);
        seen.extend(page.nodes);
    }
    let state = |node: &NodeItem| (node.is_ready, node.is_unschedulable, node.not_ready.is_some());
    assert_eq!(
        seen.iter().map(state).collect::<Vec<_>>(),
        [(true, false, false), (true, true, false), (false, false, true)]
    );
    for name in &names[1..] {
        nodes.delete(name, &DeleteParams::default()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_of_5000_node_claims_need_little_memory() {
    let Some(real) = require(RealCluster::start().await.unwrap(), "kube-apiserver") else { return };
    let start = Instant::now();
    load(&real.client(Users::ADMIN).await.unwrap()).await;
    println!("loaded in {:.1} s", start.elapsed().as_secs_f64());
    binary_nodes_equal_those_of_json(&real.client(Users::ADMIN).await.unwrap()).await;
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    std::fs::write(&kubeconfig, real.kubeconfig(Users::ADMIN)).unwrap();
    // Another build of the program, to measure it.
    let program = std::env::var_os("MOORING_MEASURED");
    let answer = |words: &[&str]| {
        let mut command = program.as_ref().map_or_else(mooring, Command::new);
        command.env_clear().env("KUBECONFIG", &kubeconfig).env("HOME", folder.path());
        command.args(words).args(["--azure", "never", "-o", "json"]);
        let start = Instant::now();
        let (code, out, usage) = run(command);
        let (elapsed, processor) = (start.elapsed().as_secs_f64(), usage.processor);
        let peak = usage.peak_kib;
        println!("{words:?}: {elapsed:.2} s, {} MiB, processor {processor} cs", peak >> 10);
        assert!(peak > 0 && peak < MAX_KIB, "{words:?}: {peak} KiB");
        assert_eq!(code, 1, "{words:?}: {out}");
        serde_json::from_str::<Value>(&out).unwrap_or_else(|_| panic!("{words:?}: {out}"))
    };
    let status = answer(&["status"]);
    let pool = &status["pools"][0];
    let counts = ["name", "ready", "joining", "failed"].map(|member| &pool[member]);
    assert_eq!(counts, [&json!("default"), &json!(READY), &json!(JOINING), &json!(FAILED)]);

    let fleet = answer(&["fleet"]);
    let counts = ["ready", "joining", "failed"].map(|member| &fleet[member]);
    assert_eq!(counts, [&json!(READY), &json!(JOINING), &json!(FAILED)]);
    let row = &fleet["rows"][0];
    assert_eq!(
        (&row["here"]["failed"], &row["others"]["nodes"]),
        (&json!(FAILED), &json!(READY)),
        "{row}"
    );

    let why = answer(&["why"]);
    let counts = ["failed", "joining", "joined"].map(|member| &why[member]);
    assert_eq!(counts, [&json!(FAILED), &json!(JOINING), &json!(READY)]);
    assert_eq!(why["diagnoses"].as_array().unwrap().len(), 1, "one group");
    assert_eq!(why["diagnoses"][0]["cause"], "OrasBinaryMissing");
    let node = answer(&["why", &name(0)]);
    assert_eq!(node["nodes"][0]["nodeClaim"], name(0));
}
