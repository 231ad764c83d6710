//! System workloads of every cluster, as far as a drain meets them: DNS, metrics, the tunnel to the
//! control plane, and a daemon on each node.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::kubernetes::Kubernetes;

const NAMESPACE: &str = "kube-system";

/// Namespace of Mooring, created by the operator at installation.
const MOORING_NAMESPACE: &str = "mooring-system";

/// Installs them. They belong to AKS, so they tolerate the taints of system nodes, and stay there.
pub(super) fn install(kubernetes: &mut Kubernetes, now: Timestamp) {
    let _ = kubernetes.create(
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": MOORING_NAMESPACE}}),
        now,
    );
    for (name, label, replicas) in [
        ("coredns", "k8s-app", 2),
        ("metrics-server", "k8s-app", 2),
        ("konnectivity-agent", "app", 2),
    ] {
        let app = if name == "coredns" { "kube-dns" } else { name };
        let labels = json!({label: app});
        let mut template = pod(name, &labels);
        template["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [
                {"key": "kubernetes.azure.com/mode", "operator": "In", "values": ["system"]},
            ]}],
        }}});
        template["spec"]["tolerations"] =
            json!([{"key": "CriticalAddonsOnly", "operator": "Exists"}]);
        let _ = kubernetes.create(
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
                "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
            }),
            now,
        );
        let _ = kubernetes.create(
            json!({
                "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                "metadata": {"name": format!("{name}-pdb"), "namespace": NAMESPACE},
                "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}},
            }),
            now,
        );
    }
    let labels = json!({"component": "kube-proxy"});
    let mut template = pod("kube-proxy", &labels);
    template["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
    let _ = kubernetes.create(
        json!({
            "apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": {"name": "kube-proxy", "namespace": NAMESPACE, "labels": labels},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        }),
        now,
    );
}

fn pod(name: &str, labels: &Value) -> Value {
    json!({
        "metadata": {"labels": labels},
        "spec": {
            "priorityClassName": "system-node-critical",
            "containers": [{"name": name, "image": format!("mcr.microsoft.com/oss/kubernetes/{name}:simulated")}],
        },
    })
}
