//! The model of the Kubernetes API, verified by `kubectl` over TLS on loopback. The same script runs against a real
//! kube-apiserver, so that it cannot require something that no server does.

mod server;

use std::path::{Path, PathBuf};
use std::time::Duration;

use self::server::ModelServer;
use mooring_testbed::{RealCluster, Users, require};

/// Names the Python environment with `kubectl`; `cargo xtask test` sets it.
const ENVIRONMENT: &str = "MOORING_CLIENTS_ENVIRONMENT";

/// A script takes seconds; the first call of a new kubectl on a busy host may take many.
const SCRIPT_TIMEOUT: Duration = Duration::from_mins(5);

/// Runs the script with one server; prints its output if it fails.
async fn run(kubeconfig: &str, cluster: &str) {
    let environment = std::env::var_os(ENVIRONMENT);
    let Some(environment) = require(environment, "kubectl") else { return };
    let bin = PathBuf::from(environment).join("bin");
    let path = std::env::join_paths(
        std::iter::once(bin).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("kubeconfig");
    std::fs::write(&file, kubeconfig).unwrap();
    let child = tokio::process::Command::new("bash")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/external/clients/kubectl.sh"))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/crds"))
        .env("PATH", path.unwrap())
        .env("KUBECONFIG", &file)
        .env("CLUSTER", cluster)
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(SCRIPT_TIMEOUT, child)
        .await
        .expect("the script ends in time")
        .unwrap();
    assert!(
        output.status.success(),
        "against the {cluster}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_finds_the_model_as_it_should_be() {
    let server = ModelServer::start().await;
    run(server.kubeconfig(), "model").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_finds_a_real_server_as_it_should_be() {
    if let Some(real) = require(RealCluster::start().await.unwrap(), "kube-apiserver") {
        run(&real.kubeconfig(Users::ADMIN), "apiserver").await;
    }
}
