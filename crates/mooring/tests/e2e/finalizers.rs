//! Tests of `mooring finalizers` with the built binary against the simulated Kubernetes API.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::controller::delete;
use crate::common::{Lab, Terminal, end, result};

/// A simulator and `mooring finalizers` against its cluster.
struct Sim(Lab);

impl Sim {
    fn start(scenario: &str) -> Self {
        Self(Lab::start(scenario, &[]))
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.0.command(&[&["finalizers"], words].concat());
        // Kills commands that hang.
        command.env("PKO_CLEANUP_TIMEOUT", "1m");
        command
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        end(&mut self.command(words))
    }

    fn kubeconfig(&self) -> Value {
        let text = std::fs::read_to_string(self.0.sim.variable("KUBECONFIG")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Writes a line to the stdin of a command, which is a pipe.
    fn pipe_to(&self, words: &[&str], line: &str) -> (i32, String, String) {
        let mut command = self.command(words);
        command.stdin(Stdio::piped());
        let mut asked = command.spawn().unwrap();
        // The command may end without reading it.
        let _ = asked.stdin.take().unwrap().write_all(line.as_bytes());
        result(&asked.wait_with_output().unwrap())
    }

    /// Types a line at the prompt of a command on a terminal.
    fn type_to(&self, words: &[&str], line: &str) -> (i32, String) {
        let mut terminal = Terminal::start(&mut self.command(words), 80);
        terminal.wait_for("to continue: ");
        terminal.type_keys(line);
        terminal.end()
    }

    fn json(&self, words: &[&str]) -> (i32, Value) {
        let (code, out, err) = self.run(words);
        (code, serde_json::from_str(&out).unwrap_or_else(|_| panic!("{words:?}: {out}{err}")))
    }
}

#[test]
fn uninstalled_operator_is_planned_approved_and_removed() {
    let sim = Sim::start("retired-operator");
    let (code, out, err) = sim.run(&["plan", "-o", "wide"]);
    assert_eq!(code, 0, "{out}{err}");
    for word in [
        "remove-finalizers",
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
    let notes = plan["notes"].to_string();
    assert!(notes.contains("made outside the cluster for 5 objects stays behind"), "{notes}");
    let hash = plan["hash"].as_str().unwrap().to_owned();

    let (code, _, err) = sim.run(&["apply", "--yes", "--plan-hash", "0000"]);
    assert_eq!(code, 2, "{err}");
    let (time, digits) = hash.split_once('.').unwrap();
    let other = format!("{time}.{}", digits.chars().rev().collect::<String>());
    let (code, _, err) = sim.run(&["apply", "--yes", "--plan-hash", &other]);
    assert_eq!(code, 4, "{err}");
    assert!(err.contains("plan changed: approved"), "{err}");
    let expired = format!("20200101T000000Z.{digits}");
    let (code, _, err) = sim.run(&["apply", "--yes", "--plan-hash", &expired]);
    assert!(code == 4 && err.contains("expired at 2020-01-01T00:00:00Z"), "{err}");

    let (code, report) = sim.json(&["apply", "--yes", "--plan-hash", &hash, "-o", "json"]);
    assert_eq!((code, &report["result"]), (0, &Value::from("acted")), "{report:#}");
    assert_eq!(report["runs"][0]["remaining"], Value::Array(Vec::new()));
    assert_eq!(report["planHash"], hash, "as `plan` printed it");
    let (code, report) = sim.json(&["apply", "--yes", "--plan-hash", &hash, "-o", "json"]);
    assert_eq!((code, &report["result"]), (0, &Value::from("clean")), "{report:#}");
    let (code, status) = sim.json(&["status", "-o", "json"]);
    assert_eq!((code, &status["result"]), (0, &Value::from("acted")));
    assert!(
        status["runs"][0]["journal"]
            .as_str()
            .unwrap()
            .contains("mooring-system/finalizers-package-operator")
    );
    let (code, _, err) = sim.run(&["resume", "--yes"]);
    assert!(code == 2 && err.contains("--plan-hash"), "{err}");
    let (code, _, err) = sim.run(&["resume"]);
    assert!(code == 0 && err.contains("no unfinished run"), "{err}");
    // The CRD with a similar name belongs to another operator.
    let (_, plan) = sim.json(&["plan", "--group", "xpackage-operator.run", "-o", "json"]);
    assert_eq!(plan["objects"].as_array().unwrap().len(), 1);
}

#[test]
fn pipeline_has_no_prompt_and_fails_only_without_a_cluster() {
    let sim = Sim::start("retired-operator");
    let (code, out, err) = sim.run(&["apply", "--best-effort", "-o", "json"]);
    assert_eq!(code, 0, "{out}{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["result"], "acted");
    let (code, out, _) = sim.run(&["apply", "--best-effort"]);
    assert_eq!(code, 0);
    assert!(out.contains("Nothing to do"), "{out}");
    let missing = |words: &[&str]| end(sim.command(words).env("KUBECONFIG", "/nonexistent")).0;
    assert_eq!(missing(&["apply", "--best-effort"]), 1);
    assert_eq!(missing(&["plan"]), 3);
}

#[test]
fn destructive_commands_prompt_for_cluster_and_profile() {
    let sim = Sim::start("retired-operator");
    let kubeconfig = sim.kubeconfig();
    let cluster = kubeconfig["clusters"][0]["name"].as_str().unwrap();
    let server = kubeconfig["clusters"][0]["cluster"]["server"].as_str().unwrap();
    let typed = format!("{cluster}/package-operator\n");
    // The name of the profile is the same for every cluster. Ctrl-D is the end of input.
    for wrong in ["package-oprator\n", "package-operator\n", "other/package-operator\n", "\u{4}"] {
        let (code, out) = sim.type_to(&["apply"], wrong);
        assert_eq!(code, 4, "{wrong} {out}");
        assert!(out.contains("nothing was changed"), "{out}");
    }
    let (code, out, err) = sim.pipe_to(&["apply"], &typed);
    assert!(code == 4 && err.contains("only a terminal can confirm"), "{out}{err}");
    let (_, status) = sim.json(&["status", "-o", "json"]);
    assert_eq!(status["runs"], Value::Array(Vec::new()), "no run was begun");
    let (code, out) = sim.type_to(&["apply"], &typed);
    assert_eq!(code, 0, "{out}");
    for word in [cluster, server.trim_end_matches('/'), "the resources of package-operator"] {
        assert!(out.contains(word), "{word}: {out}");
    }
}

#[test]
fn dry_run_prints_a_notice_and_writes_nothing() {
    let sim = Sim::start("retired-operator");
    for words in [&["apply", "--dry-run"][..], &["apply", "--dry-run", "--best-effort"]] {
        let (code, out, err) = sim.run(words);
        assert_eq!(code, 0, "{out}{err}");
        assert!(err.starts_with("Dry run: nothing will be changed\n"), "{err}");
        assert!(out.contains("remove-finalizers") && out.contains("Plan        "), "{out}");
    }
    let (code, plan) = sim.json(&["apply", "--dry-run", "-o", "json"]);
    assert_eq!((code, plan["objects"].as_array().unwrap().len()), (0, 6));
    // Approvals of other plans are rejected in a dry run as well.
    let approved = plan["hash"].as_str().unwrap();
    let (time, digits) = approved.split_once('.').unwrap();
    let other = format!("{time}.{}", digits.chars().rev().collect::<String>());
    for (hash, expected) in [(approved, 0), (&*other, 4)] {
        let (code, _, err) = sim.run(&["apply", "--dry-run", "--yes", "--plan-hash", hash]);
        assert_eq!(code, expected, "{err}");
    }
    let (_, status) = sim.json(&["status", "-o", "json"]);
    assert_eq!(status["runs"], Value::Array(Vec::new()), "no journal was written");
    let (code, _, err) = sim.run(&["resume", "--dry-run"]);
    assert!(code == 0 && err.contains("no unfinished run"), "{err}");
}

/// With node auto-provisioning, Karpenter runs outside the cluster: it has no Deployment and no Lease there.
#[test]
fn managed_karpenter_is_not_treated_as_uninstalled() {
    let sim = Sim::start("oras-missing");
    let (code, plan) = sim.json(&["plan", "--group", "karpenter.sh", "-o", "json"]);
    assert_eq!(code, 4, "{plan:#}");
    let objects = plan["objects"].as_array().unwrap().len();
    assert!(objects > 1, "{plan:#}");
    let gone = plan["checks"].as_array().unwrap().iter().find(|one| one["name"] == "operator-gone");
    let evidence = gone.unwrap()["evidence"].to_string();
    assert!(evidence.contains("field manager karpenter wrote"), "{evidence}");
    assert!(evidence.contains("node auto-provisioning"), "{evidence}");
    let approval = plan["hash"].as_str().unwrap();
    for words in [&["--yes", "--plan-hash", approval][..], &["--best-effort"]] {
        let words = [&["apply", "--group", "karpenter.sh"][..], words].concat();
        let (code, out, err) = sim.run(&words);
        if words.contains(&"--best-effort") {
            assert_eq!(code, 0, "{out}{err}");
            assert!(err.contains("blocked by operator-gone"), "{err}");
        } else {
            assert_eq!(code, 4, "{out}{err}");
        }
    }
    let (_, again) = sim.json(&["plan", "--group", "karpenter.sh", "-o", "json"]);
    assert_eq!(again["objects"].as_array().unwrap().len(), objects, "nothing was deleted");
    assert!(!again["objects"].to_string().contains("\"isDeleting\":true"));
    // An override is approved with its reason; pipelines have none.
    let reason = "operator-gone=Karpenter was switched off";
    let words = ["plan", "--group", "karpenter.sh", "--override", reason, "-o", "json"];
    let (code, overridden) = sim.json(&words);
    assert_eq!(code, 0, "{overridden:#}");
    assert_ne!(overridden["hash"], plan["hash"]);
    let words = ["apply", "--group", "karpenter.sh", "--override", reason, "--best-effort"];
    assert_eq!(sim.run(&words).0, 2);
}

#[test]
fn rejected_credentials_are_a_sign_in_error() {
    let sim = Sim::start("retired-operator");
    let mut config = sim.kubeconfig();
    config["users"][0]["user"]["token"] = "not-a-token".into();
    let file = sim.0.home.path().join("signed-out");
    std::fs::write(&file, config.to_string()).unwrap();
    let file = file.to_str().unwrap();
    for (words, wanted) in [
        (&["plan"][..], 3),
        (&["plan", "-o", "json"], 3),
        (&["apply"], 3),
        (&["status"], 3),
        (&["apply", "--best-effort"], 1),
    ] {
        let (code, out, err) = sim.run(&[words, &["--kubeconfig", file][..]].concat());
        assert_eq!(code, wanted, "{words:?}: {out}{err}");
        assert!(err.contains("401") && err.contains("az login"), "{words:?}: {err}");
        assert!(!err.contains("verb") && !out.contains("Plan") && !out.contains('{'), "{out}{err}");
    }
}

/// An unfinished run can only be continued: `apply` refuses, and all other commands name `resume`.
#[test]
fn unfinished_run_is_named_by_plan_and_status_and_refused_by_apply() {
    let sim = Sim::start("retired-operator");
    let hash = sim.0.hash(&["finalizers", "plan"]);
    let approved = ["apply", "--yes", "--plan-hash", &hash];
    let (code, _, err) = sim.run(&[&approved[..], &["--timeout", "0s"]].concat());
    assert!(code == 5 && err.contains("`mooring finalizers resume` continues"), "{code}: {err}");
    let (code, out, err) = sim.run(&["plan"]);
    assert!(code == 0 && out.contains("mooring finalizers resume"), "{code}: {out}{err}");
    assert!(!out.contains("mooring finalizers apply"), "{out}");
    let (code, out, err) = sim.run(&["status"]);
    assert!(code == 1 && out.contains("mooring finalizers resume"), "{code}: {out}{err}");
    let (code, out, err) = sim.run(&approved);
    assert!(code == 4 && err.contains("is unfinished; `resume` continues it"), "{out}{err}");
    let (_, plan) = sim.json(&["plan", "-o", "json"]);
    assert_eq!(plan["objects"].as_array().unwrap().len(), 6, "nothing was deleted");
    let hash = plan["hash"].as_str().unwrap();
    let (code, out, err) = sim.run(&["resume", "--yes", "--plan-hash", hash]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, _) = sim.run(&["apply"]);
    assert!(code == 0 && out.contains("Nothing to do"), "{out}");
}

/// Whoever has a namespace that does not end may not know whose objects block it.
#[test]
fn groups_with_stuck_objects_are_named_without_a_profile() {
    let sim = Sim::start("retired-operator");
    let (code, out, err) = sim.run(&["apply", "--best-effort"]);
    assert_eq!(code, 0, "{out}{err}");
    let stuck = ("xpackage-operator.run", "v1alpha1", "ClusterPackage");
    let (code, out, _) = sim.run(&["plan"]);
    assert!(code == 0 && !out.contains("--group"), "nothing is being deleted: {out}");
    delete(&sim.0.sim, stuck, "not-ours");
    let (code, out, err) = sim.run(&["plan"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("mooring finalizers plan --group xpackage-operator.run"), "{out}");
    assert!(out.contains("1 object with finalizers, being deleted"), "{out}");
    let words = ["plan", "--group", "xpackage-operator.run", "-o", "name"];
    let (_, out, err) = sim.run(&words);
    assert_eq!(out, "clusterpackages.xpackage-operator.run/not-ours\n", "{err}");
    // Who named a profile asked for no other one.
    let (_, out, _) = sim.run(&["plan", "--group", "nothing.example.com"]);
    assert!(!out.contains("xpackage-operator"), "{out}");
}
