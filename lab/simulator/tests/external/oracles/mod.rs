//! Microsoft's own Python clients against the simulator, over TLS.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use mooring_simulator::scenario::Scenario;
use mooring_simulator::sim::{self, SimulationSettings};
use mooring_testbed::require;

/// An operation of three minutes takes less than a second.
const SPEED: f64 = 240.0;
/// Timeout of a script on a busy host.
const SCRIPT_TIMEOUT: Duration = Duration::from_mins(3);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/external/oracles")
}

/// Returns the Python with the clients, which `cargo xtask test` installs.
fn python() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?;
    let made = target.join("oracles/azure/bin/python");
    made.exists().then_some(made)
}

async fn judge(script: &str) {
    let Some(python) = require(python(), "Microsoft's Python clients") else { return };
    let state = tempfile::tempdir().unwrap();
    let settings = SimulationSettings {
        scenario: Scenario::named("healthy").unwrap(),
        address: "127.0.0.1:0".parse().unwrap(),
        state: state.path().to_owned(),
        speed: SPEED,
        seed: 1,
        kube_port: None,
        karpenter: None,
    };
    let simulation = sim::start(settings).await.unwrap();
    let line =
        format!(". {}/env.sh && exec {} -B {script}", state.path().display(), python.display());
    let child = Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let process = child.id();
    let waited = tokio::time::timeout(
        SCRIPT_TIMEOUT,
        tokio::task::spawn_blocking(move || child.wait_with_output()),
    )
    .await;
    let Ok(output) = waited else {
        let _ = Command::new("kill").arg(process.to_string()).status();
        panic!("{script} did not end\n{}", simulation.shell().azure().trace().text());
    };
    let output = output.unwrap().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success() && text(&output.stdout).trim_end().ends_with("ok"),
        "{script}\n{}{}\n{}",
        text(&output.stdout),
        text(&output.stderr),
        simulation.shell().azure().trace().text()
    );
    simulation.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn container_service_client_accepts_the_simulator() {
    judge("oracle_aks.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compute_client_accepts_the_simulator() {
    judge("oracle_compute.py").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn monitor_client_accepts_the_simulator() {
    judge("oracle_monitor.py").await;
}
