//! `mooring finalizers` as an operator and a pipeline use it: the built binary against a simulated cluster, over TLS on
//! loopback.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests"
)]

mod common;

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A simulation that ends with the test.
struct Sim {
    _running: common::Sim,
    folder: TempDir,
}

impl Sim {
    fn start(scenario: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["--kube-port", "0", "--scenario", scenario];
        let running = common::Sim::start(folder.path(), &arguments);
        Self { _running: running, folder }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = common::mooring();
        command
            .arg("finalizers")
            .args(words)
            // No command of these tests takes longer, or something waits for ever.
            .env("PKO_CLEANUP_TIMEOUT", "1m")
            .env("KUBECONFIG", self.folder.path().join("kubeconfig"))
            .stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        common::told(&self.command(words).output().unwrap())
    }

    fn json(&self, words: &[&str]) -> (i32, Value) {
        let (code, out, err) = self.run(words);
        (code, serde_json::from_str(&out).unwrap_or_else(|_| panic!("{words:?}: {out}{err}")))
    }
}

#[test]
fn a_retired_operator_is_planned_approved_and_removed() {
    let sim = Sim::start("retired-operator");
    let (code, out, err) = sim.run(&["plan"]);
    assert_eq!(code, 0, "{out}{err}");
    for word in [
        "strip-finalizers",
        "packages.package-operator.run team-b/web",
        "package-operator.run/cached",
        "cluster-admin to package-operator-system/package-operator",
        "revision 2, deployed, package-operator 0.2.0",
    ] {
        assert!(out.contains(word), "{word}: {out}");
    }
    assert!(!out.contains("xpackage-operator.run"), "{out}");
    let (code, plan) = sim.json(&["plan", "-o", "json"]);
    assert_eq!((code, plan["objects"].as_array().unwrap().len()), (0, 6), "{plan:#}");
    let hash = plan["hash"].as_str().unwrap().to_owned();

    let (code, _, err) = sim.run(&["apply", "--yes", "--plan-hash", "0000"]);
    assert_eq!(code, 4, "{err}");
    assert!(err.contains("changed since the plan"), "{err}");
    let mut typed = sim.command(&["apply"]);
    let mut typed =
        typed.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    typed.stdin.take().unwrap().write_all(b"package-oprator\n").unwrap();
    assert_eq!(typed.wait_with_output().unwrap().status.code(), Some(4));

    let (code, report) = sim.json(&["apply", "--yes", "--plan-hash", &hash, "-o", "json"]);
    assert_eq!((code, &report["result"]), (0, &Value::from("acted")), "{report:#}");
    assert_eq!(report["left"], Value::Array(Vec::new()));
    let (code, report) = sim.json(&["apply", "--yes", "--plan-hash", &hash, "-o", "json"]);
    assert_eq!((code, &report["result"]), (0, &Value::from("clean")), "{report:#}");
    let (code, status) = sim.json(&["status", "-o", "json"]);
    assert_eq!((code, &status["run"]["result"]), (0, &Value::from("acted")));
    assert!(
        status["journal"]
            .as_str()
            .unwrap()
            .contains("kube-system/mooring-finalizers-package-operator")
    );
    let (code, _, err) = sim.run(&["resume", "--yes"]);
    assert_eq!(code, 0, "{err}");
    // The look-alike is another operator's, and is found by its own name.
    let (_, plan) = sim.json(&["plan", "--group", "xpackage-operator.run", "-o", "json"]);
    assert_eq!(plan["objects"].as_array().unwrap().len(), 1);
}

#[test]
fn a_pipeline_asks_nothing_and_fails_only_without_a_way_to_the_cluster() {
    let sim = Sim::start("retired-operator");
    let (code, out, err) = sim.run(&["apply", "--best-effort", "-o", "json"]);
    assert_eq!(code, 0, "{out}{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["result"], "acted");
    let (code, out, _) = sim.run(&["apply", "--best-effort"]);
    assert_eq!(code, 0);
    assert!(out.contains("nothing to do"), "{out}");
    let missing = |words: &[&str]| {
        common::told(&sim.command(words).env("KUBECONFIG", "/nonexistent").output().unwrap()).0
    };
    assert_eq!(missing(&["apply", "--best-effort"]), 1);
    assert_eq!(missing(&["plan"]), 3);
}

#[test]
fn no_time_changes_nothing_and_leaves_a_run_to_resume() {
    let sim = Sim::start("retired-operator");
    let (_, plan) = sim.json(&["plan", "-o", "json"]);
    let hash = plan["hash"].as_str().unwrap().to_owned();
    let journal = sim.folder.path().join("journal");
    let journal = journal.to_str().unwrap();
    let words = ["apply", "--journal", journal, "--timeout", "0", "--yes", "--plan-hash", &hash];
    let (code, _, err) = sim.run(&words);
    assert_eq!(code, 5, "{err}");
    assert!(err.contains("mooring finalizers resume"), "{err}");
    let (code, _, err) = sim.run(&words);
    assert_eq!(code, 4, "an unfinished run comes first: {err}");
    let (_, again) = sim.json(&["plan", "-o", "json"]);
    assert_eq!(again["hash"], hash.as_str(), "nothing was changed");
}

#[test]
fn the_help_teaches_and_nonsense_is_refused() {
    let run = |words: &[&str]| {
        common::told(
            &Command::new(env!("CARGO_BIN_EXE_mooring"))
                .arg("finalizers")
                .args(words)
                .output()
                .unwrap(),
        )
    };
    let (code, help, _) = run(&["--help"]);
    assert_eq!(code, 0);
    for word in ["plan", "resume", "--best-effort", "retired-operator", "Exit codes"] {
        assert!(help.contains(word), "{word}: {help}");
    }
    assert_eq!(run(&["apply", "--yes"]).0, 2, "--yes needs a hash");
    assert_eq!(run(&["plan", "--profile", "nosuch"]).0, 2);
    assert_eq!(run(&["plan", "--namespace", "x"]).0, 2, "it belongs to --group");
    assert_eq!(run(&["plan", "--group", "apps.k8s.io"]).0, 2);
    assert_eq!(run(&["apply", "--timeout", "soon"]).0, 2);
}
