//! Two clusters for each source, which differ in nothing but what that source alone knows.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};
use mooring_simulator::scenario::Scenario;
use serde_json::{Value, json};

use crate::common::Sim;

/// A source of facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fact {
    NodeClaims,
    Nodes,
    Events,
    Record,
    Azure,
    Karpenter,
    Controller,
}

/// A way in which a source cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Denied,
    Silent,
    /// The type does not exist.
    Missing,
    /// A page of the list ends in its middle.
    Cut,
}

impl Fact {
    pub(super) const ALL: [Self; 7] = [
        Self::NodeClaims,
        Self::Nodes,
        Self::Events,
        Self::Record,
        Self::Azure,
        Self::Karpenter,
        Self::Controller,
    ];

    /// Returns true if a text says that it is not installed. Names have no place for it.
    pub(super) fn is_absent_in(self, text: &str) -> bool {
        let phrases: &[&str] = match self {
            Self::NodeClaims | Self::Karpenter => &["not installed", "absent"],
            Self::Record => {
                &["o failure record", "record is empty", "record: none", "not found", "absent"]
            }
            Self::Controller => &["o controller", "not running", "not-running", "stale"],
            Self::Nodes | Self::Events | Self::Azure => &[],
        };
        let is_names = !text.contains([' ', '{']);
        phrases.iter().any(|phrase| text.contains(phrase)) || (is_names && !phrases.is_empty())
    }

    /// Returns true if a line says that it was not read, or that its server did not answer.
    pub(super) fn is_named_in(self, text: &str) -> bool {
        let names: &[&str] = match self {
            Self::NodeClaims => &["nodeclaim", "karpenter.sh"],
            Self::Nodes => &["nodes"],
            Self::Events => &["event"],
            Self::Record => &["record", "counts", "configmap", "journal", "repairs"],
            Self::Azure => &["azure", "aks ", "resource group", "authorizationfailed"],
            Self::Karpenter => &["karpenter", "nodepool", "aksnodeclass"],
            Self::Controller => &["controller", "lease", "deployments"],
        };
        let unread = ["not read", "be read", "not permitted", "not found", "unknown", "failed"];
        let silent = ["no answer from ", "did not respond", "no response"];
        text.to_lowercase().lines().any(|line| {
            let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
            has(&silent) || (has(names) && has(&unread))
        })
    }

    /// Returns false for good news that this source has no part in.
    pub(super) fn can_know(self, claim: &str) -> bool {
        let of_others: &[&str] = match self {
            // It has the failures of deleted nodes.
            Self::Record => &["exist", "among its ", "✓ joined"],
            // It knows why a node does not join, and knows no nodes of AKS pools.
            Self::Azure => &["✓ joined", "Pool system of demo: no failures"],
            // The activity log has them.
            Self::Nodes => &["0 writes to "],
            _ => &[],
        };
        !of_others.iter().any(|phrase| claim.contains(phrase))
    }

    /// Selects the calls that read it: service and path.
    fn calls(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::NodeClaims => &[("kubernetes", "/apis/karpenter.sh/*/nodeclaims*")],
            Self::Nodes => &[("kubernetes", "/api/v1/nodes*")],
            Self::Events => &[("kubernetes", "*/events*")],
            Self::Record => &[("kubernetes", "*/configmaps/mooring-*")],
            Self::Azure => &[("arm", "*")],
            Self::Karpenter => {
                &[("kubernetes", "*/nodepools*"), ("kubernetes", "*/aksnodeclasses*")]
            }
            Self::Controller => {
                &[("kubernetes", "*/leases/mooring"), ("kubernetes", "/apis/apps/v1/deployments*")]
            }
        }
    }
}

impl Way {
    pub(super) const ALL: [Self; 4] = [Self::Denied, Self::Silent, Self::Missing, Self::Cut];

    fn outcome(self) -> Value {
        match self {
            Self::Denied => json!({"status": {"status": 403}}),
            Self::Silent => json!("timeoutBefore"),
            Self::Missing => json!({"status": {"status": 404}}),
            Self::Cut => json!("truncate"),
        }
    }
}

/// A simulated cluster, and whether its news are bad.
pub(super) struct World {
    pub(super) sim: Sim,
    pub(super) folder: tempfile::TempDir,
}

impl World {
    pub(super) fn healthy() -> Self {
        Self::start(None)
    }

    /// Starts a cluster in which this source, and no other, has bad news.
    pub(super) fn unhealthy(fact: Fact) -> Self {
        Self::start(Some(fact))
    }

    fn start(bad: Option<Fact>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scenario.yaml");
        std::fs::write(&file, scenario(bad, Timestamp::now()).to_string()).unwrap();
        let words = ["--kube-port", "0", "--scenario", file.to_str().unwrap()];
        let sim = Sim::start(&folder.path().join("sim"), &words);
        let world = Self { sim, folder };
        if bad == Some(Fact::Nodes) {
            world.stop_kubelets();
        }
        world
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Switches a source off.
    pub(super) fn switch_off(&self, fact: Fact, way: Way) {
        for (service, path) in fact.calls() {
            let rule = json!({"when": {"service": service, "path": path}, "then": way.outcome()});
            let answer = self.sim.admin("POST /admin/faults", &rule.to_string());
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
    }

    pub(super) fn switch_on(&self) {
        let answer = self.sim.admin("DELETE /admin/faults", "");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    /// Makes every Node not ready.
    fn stop_kubelets(&self) {
        use k8s_openapi::api::core::v1::Node;
        use kube::api::{Api, ListParams, Patch, PatchParams};
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let kubeconfig = self.sim.variable("KUBECONFIG");
            let client =
                mooring_k8s::kubeconfig::client_by_file(Path::new(&kubeconfig)).await.unwrap();
            let nodes: Api<Node> = Api::all(client);
            let since = Timestamp::now() - SignedDuration::from_mins(20);
            let ready = json!({
                "type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
                "lastTransitionTime": format!("{since:.0}"),
            });
            let patch = Patch::Merge(json!({"status": {"conditions": [ready]}}));
            for node in nodes.list(&ListParams::default()).await.unwrap() {
                let name = node.metadata.name.unwrap();
                nodes.patch_status(&name, &PatchParams::default(), &patch).await.unwrap();
            }
        });
    }
}

/// Returns the healthy cluster, or one with bad news of one source.
fn scenario(bad: Option<Fact>, now: Timestamp) -> Value {
    let is_bad = |fact: Fact| bad == Some(fact);
    let at = |minutes: i64| format!("{:.6}", now + SignedDuration::from_mins(minutes));
    // More calls than a subscription allows.
    let unlimited = json!({"burst": 1e6, "perSecond": 1e6});
    let buckets =
        ["reads", "writes", "deletes", "machine", "machineList", "aks", "aksOperations", "graph"];
    let limits: Value = buckets.iter().map(|name| (*name, unlimited.clone())).collect();
    let vms = |names: &[&str], image: &str, minutes: i64, more: Value| {
        let mut vms = json!({
            "names": names, "imageVersion": image, "mode": "bootstrappingclient",
            "ageMinutes": minutes,
        });
        vms.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        vms
    };
    let good = ["aks-default-good1", "aks-default-good2", "aks-default-good3"];
    let new = ["aks-default-new1", "aks-default-new2"];
    let result = if is_bad(Fact::Azure) {
        json!({"bootstrap": "orasMissing"})
    } else {
        json!({"boots": true, "bootstrap": {"custom": {"seconds": null}}})
    };
    let all = [
        // It usually takes long, so that no node is late during the test.
        vms(&good, "202601.13.0", 240, json!({"bootstrap": {"custom": {"seconds": 800}}})),
        vms(&new, "202601.27.0", 1, result),
    ];
    let mut objects = retired_operator();
    objects.extend(controller(is_bad(Fact::Controller), at));
    objects.extend(record(is_bad(Fact::Record), at));
    if is_bad(Fact::NodeClaims) {
        objects.extend((1..=3).map(|number| unlaunched(number, at)));
    }
    if is_bad(Fact::Karpenter) {
        objects.push(stopped_pool());
    }
    if is_bad(Fact::Events) {
        objects.extend(events(at));
    }
    let mut scenario = json!({
        "description": "A cluster with bad news of one source.",
        "limits": limits, "vms": all, "objects": objects,
    });
    if is_bad(Fact::Azure) {
        scenario["wedge"] = json!({"pool": "system", "failedWrites": 40});
    }
    scenario
}

/// Returns the objects that `finalizers` removes.
fn retired_operator() -> Vec<Value> {
    let scenario = Scenario::text_of("retired-operator").unwrap();
    let scenario: Value = serde_saphyr::from_str(scenario).unwrap();
    scenario["objects"].as_array().unwrap().clone()
}

/// Returns a controller that runs, or one that has stopped.
fn controller(is_stopped: bool, at: impl Fn(i64) -> String) -> [Value; 2] {
    let labels = json!({"app.kubernetes.io/name": "mooring", "app.kubernetes.io/version": "0.2.0"});
    let pod = json!({"a": "b"});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "mooring", "namespace": "mooring-system", "labels": labels},
        "spec": {
            "replicas": i32::from(!is_stopped), "selector": {"matchLabels": pod},
            "template": {
                "metadata": {"labels": pod},
                "spec": {"containers": [{"name": "controller", "image": "mooring"}]},
            },
        },
    });
    // No holder renews it during the test.
    let renewed = if is_stopped { at(-60) } else { at(60) };
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "mooring", "namespace": "mooring-system"},
        "spec": {
            "holderIdentity": "mooring-pod-1", "leaseDurationSeconds": 36000,
            "acquireTime": at(-120), "renewTime": renewed, "leaseTransitions": 1,
        },
    });
    [deployment, lease]
}

/// Returns the failure record and the counts.
fn record(has_failures: bool, at: impl Fn(i64) -> String) -> [Value; 2] {
    let failure = |number: i64| {
        let name = format!("default-gone{number}");
        json!({
            "id": name, "at": at(-30), "uid": name, "nodeClaim": name, "pool": "default",
            "nodeClass": "default", "node": format!("aks-{name}"), "reason": "CSEFailed",
            "message": "CSE exited with code 50 (ERR_OUTBOUND_CONN_FAIL): no route.", "note": "",
            "key": name, "code": 50, "name": "ERR_OUTBOUND_CONN_FAIL", "cause": "OutboundBlocked",
            "summary": "no route",
            "owner": "network", "confidence": "high", "image": "AKSUbuntu/2204/202601.27.0",
            "launched": at(-40), "unconfirmed": number == 1,
        })
    };
    let failures: Vec<Value> = if has_failures { (1..=4).map(failure).collect() } else { vec![] };
    let record = json!({
        "schema": "mooring.failures/v1", "pools": {"default": failures},
        "dropped": if has_failures { 2 } else { 0 },
    });
    let counts = json!({
        "schema": "mooring.counts/v1", "since": at(-600), "settledBefore": at(-600),
    });
    let map = |name: &str, key: &str, document: Value| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "mooring-system"},
            "data": {key: document.to_string()},
        })
    };
    [map("mooring-failures", "failures.json", record), map("mooring-counts", "counts.json", counts)]
}

/// Returns a NodeClaim for which no VM could be created, so that Azure knows nothing of it.
fn unlaunched(number: u8, at: impl Fn(i64) -> String) -> Value {
    let at = format!("{}Z", at(-6).split('.').next().unwrap());
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {
            "name": format!("default-bad{number}"), "labels": {"karpenter.sh/nodepool": "default"},
        },
        "spec": {"nodeClassRef": CLASS.clone(), "requirements": []},
        "status": {"conditions": [{
            "type": "Launched", "status": "False", "reason": "LaunchFailed",
            "message": "exceeding approved standardDSv5Family Cores quota", "lastTransitionTime": at,
        }]},
    })
}

static CLASS: LazyLock<Value> = LazyLock::new(
    || json!({"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}),
);

/// Returns a NodePool whose rollout is held, and which may have no nodes.
fn stopped_pool() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "stopped"},
        "spec": {
            "limits": {"nodes": "0"}, "disruption": {"budgets": [{"nodes": "0"}]},
            "template": {"spec": {
                "nodeClassRef": CLASS.clone(), "requirements": [], "expireAfter": "720h",
            }},
        },
    })
}

/// Returns events of Karpenter about a NodeClaim, and of the operator that was uninstalled.
fn events(at: impl Fn(i64) -> String) -> Vec<Value> {
    let event = |name: &str, namespace: &str, by: &str, object: Value| {
        let second = format!("{}Z", at(-1).split('.').next().unwrap());
        json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": object, "type": "Warning", "reason": "Unhealthy",
            "message": "failed", "source": {"component": by}, "reportingComponent": by,
            "firstTimestamp": second, "lastTimestamp": second, "count": 1,
        })
    };
    let claim =
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": "default-new1"});
    let package = json!({
        "apiVersion": "package-operator.run/v1alpha1", "kind": "ClusterPackage",
        "name": "monitoring",
    });
    vec![
        event("of-claim", "default", "karpenter", claim),
        event("of-operator", "default", "package-operator", package),
    ]
}
