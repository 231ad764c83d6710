//! The chart of a release installed, upgraded and removed by the real Helm, on the model and on a real server.

use std::path::Path;
use std::process::Command;

use mooring_testbed::{RealCluster, Users, find_kubectl, require};

use crate::chart::helm::{NAMESPACE, helm};

/// Kinds of the objects of the chart that are in a namespace, apart from those of the Prometheus operator.
const KINDS: &str = "deployments,services,serviceaccounts,configmaps,secrets,leases,networkpolicies,poddisruptionbudgets,roles,rolebindings";

fn kubectl(program: &Path, kubeconfig: &Path, arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new(program);
    let output = command.args(arguments).env("KUBECONFIG", kubeconfig).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// Installs, upgrades and removes the chart. Nothing is left but the namespace, and what Kubernetes puts into each.
fn assert_nothing_is_left(kubeconfig: &Path) {
    let Some(program) = require(find_kubectl(), "kubectl") else { return };
    // As a registry returns it, where `cargo xtask test` stored it in a layout.
    let chart = std::env::var("MOORING_CHART").unwrap_or_else(|_| ".".to_owned());
    let file = format!("--kubeconfig={}", kubeconfig.display());
    let run = |arguments: &[&str]| {
        let done = helm(&[arguments, &["--namespace", NAMESPACE, &file]].concat()).unwrap();
        done.unwrap_or_else(|error| panic!("helm {arguments:?}: {error}"))
    };
    let get = |arguments: &[&str]| {
        kubectl(&program, kubeconfig, &[&["get", "-o", "name"], arguments].concat())
    };
    let cluster =
        || get(&["clusterroles,clusterrolebindings", "-l", "app.kubernetes.io/instance=mooring"]);
    let events = || get(&["roles,rolebindings", "-n", "default"]);
    let before = events();
    let values = [
        "--create-namespace",
        "--set=azure.subscriptionId=00000000-0000-0000-0000-000000000001",
        "--set=azure.nodeResourceGroup=MC_x",
    ];
    run(&[&["install", "mooring", &chart], &values[..]].concat());
    assert_eq!(get(&["deployments", "-n", NAMESPACE]), ["deployment.apps/mooring"]);
    assert!(!cluster().is_empty() && events() != before);
    run(&["upgrade", "mooring", &chart, "--reuse-values", "--set=replicas=3"]);
    let replicas =
        ["get", "deployment", "mooring", "-n", NAMESPACE, "-o", "jsonpath={.spec.replicas}"];
    assert_eq!(kubectl(&program, kubeconfig, &replicas), ["3"]);
    run(&["uninstall", "mooring", "--wait"]);
    let left = get(&[KINDS, "-n", NAMESPACE]);
    let of_kubernetes = ["configmap/kube-root-ca.crt", "serviceaccount/default"];
    let left: Vec<&String> =
        left.iter().filter(|name| !of_kubernetes.contains(&name.as_str())).collect();
    assert!(left.is_empty() && cluster().is_empty(), "{left:?} {:?}", cluster());
    assert_eq!(events(), before);
}

#[test]
fn chart_comes_and_goes_on_the_model() {
    if helm(&["version"]).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let sim = crate::common::Sim::start(&folder.path().join("sim"), &["--kube-port", "0"]);
    assert_nothing_is_left(Path::new(&sim.variable("KUBECONFIG")));
}

#[tokio::test(flavor = "multi_thread")]
async fn chart_comes_and_goes_on_a_real_server() {
    if helm(&["version"]).is_none() {
        return;
    }
    let Some(real) = require(RealCluster::start().await.unwrap(), "kube-apiserver") else { return };
    // Chart.yaml asks for 1.25.
    if real.minor() < 25 {
        println!("SKIPPED: the chart needs Kubernetes 1.25, and this is {}", real.version());
        return;
    }
    let file = real.folder().join("admin.kubeconfig");
    std::fs::write(&file, real.kubeconfig(Users::ADMIN)).unwrap();
    tokio::task::block_in_place(|| assert_nothing_is_left(&file));
}
