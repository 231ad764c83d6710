//! Tests of `mooring finalizers` with the built binary against the simulated Kubernetes API.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::controller::delete;
use crate::common::schema::assert_valid;
use crate::common::{Lab, Terminal, end, result};

fn start() -> Lab {
    Lab::start("retired-operator", &[])
}

fn command(lab: &Lab, words: &[&str]) -> Command {
    let mut command = lab.command(&[&["finalizers"], words].concat());
    // Kills commands that hang.
    command.env("PKO_CLEANUP_TIMEOUT", "1m");
    command
}

fn run(lab: &Lab, words: &[&str]) -> (i32, String, String) {
    end(&mut command(lab, words))
}

/// Returns the exit code and a document, which fits its schema.
fn json(lab: &Lab, words: &[&str]) -> (i32, Value) {
    let (code, out, err) = run(lab, &[words, &["-o", "json"]].concat());
    let document = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{words:?}: {out}{err}"));
    assert_valid(&document);
    (code, document)
}

#[test]
fn uninstalled_operator_is_planned_approved_and_removed() {
    let lab = start();
    let (code, plan) = json(&lab, &["plan"]);
    assert_eq!((code, plan["objects"].as_array().unwrap().len()), (0, 6), "{plan:#}");
    let hash = plan["hash"].as_str().unwrap();
    let apply = ["apply", "--yes", "--plan-hash", hash];
    let (code, report) = json(&lab, &apply);
    assert_eq!((code, &report["result"]), (0, &Value::from("acted")), "{report:#}");
    assert_eq!(report["runs"][0]["state"], "removed");
    assert_eq!(report["runs"][0]["remaining"], Value::Array(Vec::new()));
    assert_eq!(report["planHash"], hash, "as `plan` printed it");
    let (code, status) = json(&lab, &["status"]);
    assert_eq!((code, &status["result"]), (0, &Value::from("acted")));
    let journal = status["runs"][0]["journal"].as_str().unwrap();
    assert!(journal.contains("mooring-system/finalizers-package-operator"), "{journal}");
    let (code, report) = json(&lab, &apply);
    assert_eq!((code, &report["result"]), (0, &Value::from("clean")), "{report:#}");
    let (code, _, err) = run(&lab, &["resume", "--yes"]);
    assert!(code == 2 && err.contains("--plan-hash"), "{err}");
    let (code, _, err) = run(&lab, &["resume"]);
    assert!(code == 0 && err.contains("no unfinished run"), "{err}");
    // The CRD with a similar name belongs to another operator.
    let (_, plan) = lab.json(&["finalizers", "plan", "--group", "xpackage-operator.run"]);
    assert_eq!(plan["objects"].as_array().unwrap().len(), 1);
}

#[test]
fn pipeline_has_no_prompt_and_fails_only_without_a_cluster() {
    let lab = start();
    let (code, report) = json(&lab, &["apply", "--best-effort"]);
    assert_eq!((code, &report["result"]), (0, &Value::from("acted")));
    let (code, out, _) = run(&lab, &["apply", "--best-effort"]);
    assert!(code == 0 && out.contains("Nothing to do"), "{out}");
    let missing = |words| end(command(&lab, words).env("KUBECONFIG", "/nonexistent")).0;
    assert_eq!((missing(&["apply", "--best-effort"]), missing(&["plan"])), (1, 3));
    let mut config = lab.kubeconfig();
    config["users"][0]["user"]["token"] = "not-a-token".into();
    let file = lab.write_kubeconfig(&config);
    let (code, _, err) = run(&lab, &["apply", "--best-effort", "--kubeconfig", &file]);
    assert!(code == 1 && err.contains("401") && err.contains("az login"), "{err}");
}

#[test]
fn destructive_commands_prompt_for_cluster_and_profile() {
    let lab = start();
    let kubeconfig = lab.kubeconfig();
    let cluster = kubeconfig["clusters"][0]["name"].as_str().unwrap();
    let server = kubeconfig["clusters"][0]["cluster"]["server"].as_str().unwrap();
    let typed = format!("{cluster}/package-operator\n");
    let type_line = |line: &str| {
        let mut terminal = Terminal::start(&mut command(&lab, &["apply"]), 80);
        terminal.wait_for("to continue: ");
        terminal.type_keys(line);
        terminal.end()
    };
    // The name of the profile is the same for every cluster. Ctrl-D is the end of input.
    for wrong in ["package-oprator\n", "package-operator\n", "other/package-operator\n", "\u{4}"] {
        let (code, out) = type_line(wrong);
        assert_eq!(code, 4, "{wrong} {out}");
        assert!(out.contains("nothing was changed"), "{out}");
    }
    let mut asked = command(&lab, &["apply"]).stdin(Stdio::piped()).spawn().unwrap();
    // The command may end without reading it.
    let _ = asked.stdin.take().unwrap().write_all(typed.as_bytes());
    let (code, out, err) = result(&asked.wait_with_output().unwrap());
    assert!(code == 4 && err.contains("only a terminal can confirm"), "{out}{err}");
    let (_, status) = json(&lab, &["status"]);
    assert_eq!(status["runs"], Value::Array(Vec::new()), "no run was begun");
    let (code, out) = type_line(&typed);
    assert_eq!(code, 0, "{out}");
    for word in [cluster, server.trim_end_matches('/'), "the resources of package-operator"] {
        assert!(out.contains(word), "{word}: {out}");
    }
}

/// An unfinished run can only be continued: `apply` refuses, and all other commands name `resume`.
#[test]
fn unfinished_run_is_named_by_plan_and_status_and_refused_by_apply() {
    let lab = start();
    let hash = lab.hash(&["finalizers", "plan"]);
    let approved = ["apply", "--yes", "--plan-hash", &hash];
    let (code, _, err) = run(&lab, &[&approved[..], &["--timeout", "0s"]].concat());
    assert!(code == 5 && err.contains("`mooring finalizers resume` continues"), "{code}: {err}");
    let (code, out, err) = run(&lab, &["plan"]);
    assert!(code == 0 && out.contains("mooring finalizers resume"), "{code}: {out}{err}");
    assert!(!out.contains("mooring finalizers apply"), "{out}");
    let (code, out, err) = run(&lab, &["status"]);
    assert!(code == 1 && out.contains("mooring finalizers resume"), "{code}: {out}{err}");
    let (code, out, err) = run(&lab, &approved);
    assert!(code == 4 && err.contains("is unfinished; `resume` continues it"), "{out}{err}");
    let (_, plan) = json(&lab, &["plan"]);
    assert_eq!(plan["objects"].as_array().unwrap().len(), 6, "nothing was deleted");
    let hash = plan["hash"].as_str().unwrap();
    let (code, out, err) = run(&lab, &["resume", "--yes", "--plan-hash", hash]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, _) = run(&lab, &["apply"]);
    assert!(code == 0 && out.contains("Nothing to do"), "{out}");
}

/// Whoever has a namespace that does not end may not know whose objects block it.
#[test]
fn groups_with_stuck_objects_are_named_without_a_profile() {
    let lab = start();
    let (code, out, err) = run(&lab, &["apply", "--best-effort"]);
    assert_eq!(code, 0, "{out}{err}");
    let stuck = ("xpackage-operator.run", "v1alpha1", "ClusterPackage");
    let (code, out, _) = run(&lab, &["plan"]);
    assert!(code == 0 && !out.contains("--group"), "nothing is being deleted: {out}");
    delete(&lab.sim, stuck, "not-ours");
    let (code, out, err) = run(&lab, &["plan"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("mooring finalizers plan --group xpackage-operator.run"), "{out}");
    assert!(out.contains("1 object with finalizers, being deleted"), "{out}");
    let words = ["plan", "--group", "xpackage-operator.run", "-o", "name"];
    let (_, out, err) = run(&lab, &words);
    assert_eq!(out, "clusterpackages.xpackage-operator.run/not-ours\n", "{err}");
    // Who named a profile asked for no other one.
    let (_, out, _) = run(&lab, &["plan", "--group", "nothing.example.com"]);
    assert!(!out.contains("xpackage-operator"), "{out}");
}
