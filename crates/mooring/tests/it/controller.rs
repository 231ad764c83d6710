//! `mooring controller`, `why` and `fleet` as a person starts them, against `mooring sim` with its env.sh sourced.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Sim, text};
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams,
};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(90);

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn simulate(state: &Path) -> Sim {
    Sim::start(state, &["--scenario", "oras-missing", "--kube-port", "0"])
}

/// A command with env.sh sourced and nothing else.
fn sourced(sim: &Sim) -> Command {
    let mut command = crate::common::mooring();
    command.env_clear().envs(sim.environment());
    command
}

fn run(sim: &Sim, words: &[&str]) -> Output {
    sourced(sim).args(words).output().unwrap()
}

fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "there was no {what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Removes a NodeClaim from the cluster, finalizers and all.
fn delete_nodeclaim(sim: &Sim, name: &str) {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let kubeconfig = sim.variable("KUBECONFIG");
        let client =
            mooring_kube::kubeconfig::client_by_file(Path::new(&kubeconfig)).await.unwrap();
        let claims: Api<DynamicObject> = Api::all_with(client, &kind);
        let patch = Patch::Merge(serde_json::json!({"metadata": {"finalizers": null}}));
        claims.patch(name, &PatchParams::default(), &patch).await.unwrap();
        claims.delete(name, &DeleteParams::default()).await.unwrap();
        assert!(claims.get_opt(name).await.unwrap().is_none());
    });
}

fn page(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_bundle_of_a_node_that_nobody_can_log_in_to_holds_what_azure_shows() {
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(state.path());
    let out = state.path().join("node.tar.gz");
    let done = run(&sim, &["bundle", "aks-default-bad1", "--out", out.to_str().unwrap()]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let traced = run(&sim, &["trace", out.to_str().unwrap(), "-o", "json"]);
    let told: Value = serde_json::from_slice(&traced.stdout)
        .unwrap_or_else(|_| panic!("{}", text(&traced.stderr)));
    assert_eq!(told["nodes"][0]["node"], "aks-default-bad1");
    assert_eq!(told["nodes"][0]["diagnosis"]["reason"], "OrasBinaryMissing");
}

#[test]
fn why_answers_for_claims_nodes_pools_and_instances() {
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(state.path());
    for what in ["default-bad1", "aks-default-bad1"] {
        let answer = run(&sim, &["why", what]);
        let told = text(&answer.stdout);
        assert_eq!(answer.status.code(), Some(1), "{what}: {told} {}", text(&answer.stderr));
        assert!(
            told.contains(
                "CSE exited with code 211 (ERR_ORAS_PULL_NETWORK_TIMEOUT): oras is missing"
            ),
            "{told}"
        );
        // Only a NodeClaim names its image.
        let is_claim = what == "default-bad1";
        assert_eq!(told.contains("mooring explain 232 --image"), is_claim, "{what}: {told}");
    }
    for what in ["default-good1", "aks-default-good1", "system", "system/0"] {
        let answer = run(&sim, &["why", what, "-o", "json"]);
        let told: Value = serde_json::from_slice(&answer.stdout)
            .unwrap_or_else(|_| panic!("{what}: {}", text(&answer.stderr)));
        assert_eq!(answer.status.code(), Some(0), "{what}: {told}");
        assert_eq!(
            (&told["schema"], &told["nodes"][0]["joined"]),
            (&"mooring.why/v1".into(), &true.into()),
            "{told}"
        );
    }
    let pool = run(&sim, &["why", "default", "-o", "markdown"]);
    assert_eq!((pool.status.code(), text(&pool.stdout).matches("- **aks-").count()), (Some(1), 10));
    let nothing = run(&sim, &["why", "no-such-thing"]);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(text(&nothing.stderr).contains("hint:"), "{}", text(&nothing.stderr));
    let empty = run(&sim, &["fleet"]);
    assert!(text(&empty.stdout).starts_with("No failures are on record."));
}

#[test]
fn the_controller_needs_nothing_but_env_sh_and_ends_when_told_to() {
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(state.path());
    let mut controller = Process(
        sourced(&sim)
            .args([
                "controller",
                "--metrics-address",
                "127.0.0.1:0",
                "--health-address",
                "127.0.0.1:0",
            ])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut log = BufReader::new(controller.0.stderr.take().unwrap());
    let mut line = String::new();
    let started: Value = loop {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "it ended");
        let line: Value = serde_json::from_str(&line).unwrap();
        if line["message"] == "starts" {
            break line;
        }
    };
    // Somebody must read on, or the controller would wait for room in the pipe.
    let reader = std::thread::spawn(move || {
        let mut rest = String::new();
        let _ = log.read_to_string(&mut rest);
        rest
    });
    let (metrics, health) =
        (started["metrics"].as_str().unwrap(), started["health"].as_str().unwrap());
    eventually("ready page", || page(health, "/readyz").starts_with("HTTP/1.1 200").then_some(()));
    assert!(page(health, "/healthz").ends_with("ok\n"));
    let table = eventually("table with five failures", || {
        let fleet = run(&sim, &["fleet", "-o", "json"]);
        let table: Value = serde_json::from_slice(&fleet.stdout).ok()?;
        (table["rows"][0]["failed"] == 5).then_some(table)
    });
    assert_eq!(
        (&table["rows"][0]["image"], &table["rows"][0]["cause"]),
        (&"AKSAzureLinux/V3gen2/202601.27.0".into(), &"OrasBinaryMissing".into())
    );
    assert_eq!(table["rows"][0]["nodes"], 5, "{table}");
    assert!(
        table["findings"][0]["sentence"]
            .as_str()
            .unwrap()
            .contains("fails with OrasBinaryMissing on 5 of 5 nodes")
    );
    let failures = "mooring_cse_failures_total{code=\"211\",reason=\"OrasBinaryMissing\",nodepool=\"default\",image=\"AKSAzureLinux/V3gen2/202601.27.0\"} 5";
    eventually("five failures in the leader's metrics", || {
        let shown = page(metrics, "/metrics");
        (shown.contains(failures) && shown.contains("mooring_leader 1")).then_some(())
    });
    delete_nodeclaim(&sim, "default-bad2");
    let gone = run(&sim, &["why", "default-bad2"]);
    let told = text(&gone.stdout);
    assert_eq!(gone.status.code(), Some(1), "{told} {}", text(&gone.stderr));
    assert!(told.contains("OrasBinaryMissing") || told.contains("oras is missing"), "{told}");
    let ended = Command::new("kill").arg(controller.0.id().to_string()).status().unwrap();
    assert!(ended.success());
    let status = eventually("end", || controller.0.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
    let rest = reader.join().unwrap();
    assert!(rest.contains("gave the lease back"), "{rest}");
    assert!(rest.contains("\"NodeClaim\":\"default-bad1\""), "{rest}");
}
