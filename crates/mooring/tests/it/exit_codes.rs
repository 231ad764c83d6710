//! Exit codes of every command and outcome, as the help lists them.

use std::process::{Command, Stdio};
use std::time::Duration;

use mooring_simulator::scenario::Scenario;
use serde_json::Value;

use crate::common::controller::{start_controller, wait_for};
use crate::common::{Sim, Terminal, mooring, result, wait, without_progress};

const TIMEOUT: Duration = Duration::from_mins(2);
/// The form of a plan hash; no plan has it.
const OTHER_HASH: &str =
    "20991115T113000Z.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

const EXPIRED_HASH: &str =
    "20201115T113000Z.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

struct Fixture {
    sim: Option<Sim>,
    folder: tempfile::TempDir,
}

impl Fixture {
    fn start(scenario: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let words = ["--kube-port", "0", "--scenario", scenario];
        let sim = Sim::start(&folder.path().join("sim"), &words);
        Self { sim: Some(sim), folder }
    }

    fn command(&self, variables: &[(&str, &str)], words: &[&str]) -> Command {
        let mut command = mooring();
        command.env_clear().env("HOME", self.folder.path()).args(words);
        command.envs(self.sim.iter().flat_map(Sim::environment)).envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, variables: &[(&str, &str)], words: &[&str]) -> (i32, String, String) {
        result(&wait(self.command(variables, words).spawn().unwrap(), TIMEOUT))
    }

    fn check_answer(&self, expected: i32, words: &[&str]) {
        let (code, out, err) = self.run(&[], words);
        assert_eq!(code, expected, "{words:?}\n{out}{err}");
    }

    fn check(&self, expected: i32, commands: &[&[&str]]) {
        self.check_with(expected, &[], commands);
    }

    fn check_with(&self, expected: i32, variables: &[(&str, &str)], commands: &[&[&str]]) {
        for words in commands {
            let (code, out, err) = self.run(variables, words);
            assert_eq!(code, expected, "{words:?} {variables:?}\n{out}{err}");
            // An answer has no error; everything else has one.
            let is_answer = matches!(code, 0 | 1);
            assert_eq!(!err.contains("error: "), is_answer, "{words:?}: {err}");
        }
    }

    fn hash(&self, words: &[&str]) -> String {
        let (_, out, err) = self.run(&[], &[words, &["-o", "json"]].concat());
        let plan: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        plan["hash"].as_str().unwrap().to_owned()
    }
}

#[test]
fn commands_without_a_cluster() {
    let fixture = Fixture { sim: None, folder: tempfile::tempdir().unwrap() };
    fixture.check(
        0,
        &[
            &["explain", "211"],
            &["explain", "OrasBinaryMissing"],
            &["codes", "list"],
            &["codes", "show", "211"],
            &["codes", "search", "oras"],
            &["schema"],
            &["schema", "mooring.status/v1"],
            &["version"],
            &["man"],
            &["completions", "bash"],
        ],
    );
    fixture.check(
        2,
        &[
            &["nosuch"],
            &["status", "--nosuch"],
            &["explain", "nosuchname"],
            &["codes", "show", "nosuch"],
            &["codes", "search", "zzzzzzzz"],
            &["schema", "nosuch"],
            &["man", "nosuch"],
            &["repair", "apply", "--yes"],
            &["status", "--timeout", "soon"],
            &["repair", "apply", "--plan-hash", "nosuch"],
        ],
    );
    let (_, _, err) = fixture.run(&[], &["status", "--nosuch"]);
    assert!(err.contains("Usage: mooring status"), "{err}");
    // No kubeconfig, or one that cannot be read.
    fixture.check(
        3,
        &[
            &["trace", "/nonexistent"],
            &["bundle", "/nonexistent"],
            &["status"],
            &["status", "-w"],
            &["fleet"],
            &["why"],
            &["why", "default"],
            &["finalizers", "plan"],
            &["finalizers", "status"],
            &["finalizers", "apply"],
            &["fleet", "--kubeconfig", "/nonexistent"],
        ],
    );
    fixture.check(1, &[&["doctor"]]);
}

/// Starts the simulator with failed nodes, and a fault of Azure or of the API server.
fn with_fault(when: &str, then: &str) -> Fixture {
    let scenario = Scenario::text_of("oras-missing").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fault.yaml");
    let fault = format!("faults:\n  - when: {when}\n    then: {{status: {then}}}\n");
    std::fs::write(&file, format!("{scenario}{fault}")).unwrap();
    Fixture::start(file.to_str().unwrap())
}

#[test]
fn vms_that_cannot_be_read() {
    let denied = "{status: 403}";
    let fixture = with_fault("{service: arm, path: '*/virtualMachines/*'}", denied);
    for words in [&["fleet"][..], &["status"], &["why", "default"]] {
        let (code, out, err) = fixture.run(&[], words);
        assert_eq!(code, 1, "{words:?} {out}{err}");
        assert!(err.contains("warning: Azure was not read: "), "{err}");
        assert!(
            !out.contains("0 failed") && !out.contains("default      5        5       0"),
            "{out}"
        );
    }
    let fixture = with_fault("{service: arm, path: '*/virtualMachines/*bad1'}", denied);
    let (code, out, err) = fixture.run(&[], &["fleet"]);
    assert_eq!(code, 1, "{out}");
    assert!(err.starts_with("warning: Azure was not read completely: a VM "), "{err}");
    assert!(out.contains(" 1 joining, 4+ failed (4+ still exist)\n"), "{out}");
}

#[test]
fn cluster_that_cannot_be_read() {
    let denied = |path: &str| {
        with_fault(&format!("{{service: kubernetes, path: '{path}'}}"), "{status: 403}")
    };
    let record = "The failure record was not read, so failures of deleted nodes are not known.";
    let claims = "NodeClaims were not read, so joining and failed nodes are not known.";
    for (path, sentence, at) in [("*/configmaps/*", record, 1), ("*/nodeclaims*", claims, 0)] {
        let fixture = denied(path);
        for words in [&["status"][..], &["fleet"], &["why"], &["why", "default"]] {
            let (code, out, err) = fixture.run(&[], &[words, &["--azure", "never"]].concat());
            assert_eq!(code, 1, "{words:?} {out}{err}");
            assert!(!out.contains("0 failed") && !out.contains("no failures"), "{words:?} {out}");
            assert!(out.contains(sentence) && out.contains("! "), "{words:?} {out}");
            assert!(!out.contains("No problem"), "{out}");
            assert_eq!(out.contains("has no failure record"), at == 0 && words != ["status"]);
            assert!(err.contains(" not read: "), "{err}");
        }
        let (_, out, _) = fixture.run(&[], &["status", "--azure", "never", "-o", "json"]);
        let status: Value = serde_json::from_str(&out).unwrap();
        let source = &status["sources"][at];
        assert_eq!(source["state"], "failed", "{out}");
        assert!(source["error"].as_str().unwrap().contains("forbidden"), "{out}");
        let pool = status["pools"].as_array().unwrap().iter().find(|one| one["name"] == "default");
        let pool = pool.unwrap();
        let is_known = at == 1;
        let state = if is_known { "late" } else { "unknown" };
        assert_eq!((&pool["state"], &pool["failed"]), (&state.into(), &Value::Null), "{out}");
        assert_eq!(pool["joining"].is_null(), !is_known, "{out}");
    }
    // Nodes that were not read are not missing.
    let (code, out, _) = denied("/api/v1/nodes*").run(&[], &["status"]);
    assert_eq!(code, 1, "{out}");
    assert!(!out.contains("has 0 of") && !out.contains("repair detect"), "{out}");
    assert!(out.contains("?/3") && out.contains("! unknown\n"), "{out}");
    let (code, _, err) = denied("*/configmaps/*").run(&[], &["why", "default-gone"]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("nothing that was read in demo is called `default-gone`; "), "{err}");
    assert!(err.contains("; the failure record was not read: "), "{err}");
}

#[test]
fn wedged_pool_is_wrong_on_every_screen() {
    let fixture = Fixture::start("wedged-system-pool");
    let finding = "AKS pool system has 2 of 3 nodes, and its state in Azure is Failed.";
    for words in [&["status"][..], &["fleet"], &["why"], &["why", "system"]] {
        let (code, out, err) = fixture.run(&[], words);
        assert_eq!(code, 1, "{words:?} {out}{err}");
        assert!(out.contains(finding) && !out.contains("no failures"), "{words:?} {out}");
    }
    // What was not asked for is not checked, and is no error.
    let (code, out, err) = fixture.run(&[], &["status", "--azure", "never"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("AKS pools are not checked: Azure was not asked."), "{out}");
    assert!(out.contains("– not checked\n") && !out.contains("healthy"), "{out}");
}

#[test]
fn namespace_without_a_controller_names_the_one_that_has_it() {
    let fixture = Fixture::start("healthy");
    let sim = fixture.sim.as_ref().unwrap();
    let _controller = start_controller(sim, "off");
    wait_for("the Lease", || {
        let (_, out, _) = fixture.run(&[], &["status", "-n", "mooring-system"]);
        out.contains(" leads\n").then_some(())
    });
    for words in [&["status"][..], &["fleet"], &["why"]] {
        let (code, out, err) = fixture.run(&[], &[words, &["--namespace", "nosuch"]].concat());
        let expected = "error: namespace `nosuch` has no controller and no failure record; namespace `mooring-system` has the controller\nhint: use `--namespace mooring-system`\n";
        assert_eq!((code, out.as_str()), (2, ""), "{words:?}");
        assert_eq!(without_progress(&err), expected, "{words:?}");
    }
}

#[test]
fn throttled_by_azure() {
    let fixture = with_fault("{service: arm}", "{status: 429, retryAfter: 3600}");
    fixture.check(
        6,
        &[
            &["why", "default-bad1", "--azure", "always"],
            &["why", "--azure", "always"],
            &["status", "--azure", "always"],
            &["fleet", "--azure", "always"],
            &["repair", "plan"],
        ],
    );
    fixture.check(1, &[&["why", "default-bad1"], &["status"], &["fleet"]]);
    let graph = with_fault(
        "{service: arm, path: '*/Microsoft.ResourceGraph/*'}",
        "{status: 429, retryAfter: 3600}",
    );
    graph.check(6, &[&["repair", "plan", "--context", "demo"]]);
}

#[test]
fn uninstalled_operator() {
    let fixture = Fixture::start("retired-operator");
    let hash = fixture.hash(&["finalizers", "plan"]);
    let apply = ["finalizers", "apply", "--yes", "--plan-hash"];
    fixture.check(4, &[&["finalizers", "apply"], &[&apply[..], &[OTHER_HASH]].concat()]);
    let (_, _, err) = fixture.run(&[], &["finalizers", "apply"]);
    let hint = "hint: in scripts, use `mooring finalizers apply --yes --plan-hash HASH`\n";
    assert!(err.ends_with(hint), "{err}");
    assert!(err.starts_with("! This removes the resources of package-operator ("), "{err}");
    // The run stops at once, and is then unfinished.
    let stopped = [&apply[..], &[&*hash, "--timeout", "0"]].concat();
    let rehearsed = [&apply[..], &[&*hash, "--dry-run"]].concat();
    fixture.check(0, &[&rehearsed]);
    let (time, digits) = hash.split_once('.').unwrap();
    let changed = format!("{time}.{}", digits.chars().rev().collect::<String>());
    fixture.check(4, &[&[&apply[..], &[&*changed, "--dry-run"]].concat()]);
    fixture.check(5, &[&stopped]);
    fixture.check(4, &[&stopped]);
    // A pipeline continues regardless of the result.
    fixture.check_answer(0, &["finalizers", "apply", "--best-effort", "--timeout", "0"]);
    for (hash, is_known) in [(&*changed, true), (EXPIRED_HASH, false)] {
        let words = ["finalizers", "resume", "--yes", "--plan-hash", hash, "-o", "json"];
        let (code, out, err) = fixture.run(&[], &words);
        let result: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        assert_eq!((code, &result["result"]), (4, &"refused".into()), "{result}");
        assert_eq!(result["planHash"].is_string(), is_known, "{result}");
        assert!(result["cluster"]["uid"].is_string(), "{result}");
    }
    for (words, code) in [(&[][..], 1), (&["--exit-zero"], 0)] {
        let words = [&["finalizers", "status", "--watch"], words].concat();
        let mut terminal = Terminal::start(&mut fixture.command(&[], &words), 120);
        terminal.wait_for("stopped");
        terminal.type_keys("q");
        assert_eq!(terminal.end().0, code, "{words:?}");
    }
    fixture.check(1, &[&["finalizers", "status"], &["finalizers", "status", "-o", "json"]]);
    fixture.check(0, &[&["finalizers", "status", "--exit-zero"]]);
    fixture.check_answer(2, &["finalizers", "status", "--watch", "-o", "yaml"]);
    let hash = fixture.hash(&["finalizers", "plan"]);
    fixture.check(0, &[&["finalizers", "resume", "--yes", "--plan-hash", &hash]]);
    fixture.check(0, &[&["finalizers", "status"]]);
    // Nothing is left, so the approval does not matter.
    fixture.check(0, &[&[&apply[..], &[&*changed, "--dry-run"]].concat()]);
}

mod slow {
    use super::*;

    #[test]
    fn failed_nodes() {
        let fixture = Fixture::start("oras-missing");
        let wrong: &[&[&str]] = &[
            &["status"],
            &["fleet"],
            &["why"],
            &["why", "default-bad1"],
            &["trace", "default-bad1"],
        ];
        fixture.check(1, wrong);
        for words in wrong {
            fixture.check(0, &[&[words, &["--exit-zero"][..]].concat()]);
        }
        fixture.check(0, &[&["why", "default-good1"], &["trace", "default-good1"]]);
        let silent = [("AZURE_CLIENT_SECRET", "wrong")];
        fixture.check_with(1, &silent, &[&["why", "default-bad1"]]);
        for (variables, state) in [(&[][..], "read"), (&silent, "failed")] {
            let (_, out, err) = fixture.run(variables, &["why", "default-bad1", "-o", "json"]);
            let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
            let azure = &answer["sources"][2];
            assert_eq!(azure["state"], state, "{azure}");
            assert!(azure["seconds"].is_number(), "{azure}");
            assert_eq!(azure["at"].is_null(), state == "failed", "{azure}");
            assert_eq!(azure["error"].is_null(), state == "read", "{azure}");
        }
        fixture.check_with(
            3,
            &silent,
            &[
                &["why", "default-bad1", "--azure", "always"],
                &["trace", "default-bad1", "--azure", "always"],
            ],
        );
    }

    #[test]
    fn healthy_cluster() {
        let fixture = Fixture::start("healthy");
        fixture.check(
            0,
            &[
                &["status"],
                &["fleet"],
                &["why"],
                &["why", "system"],
                &["why", "--pool", "system"],
                &["fleet", "--cause", "OrasBinaryMissing"],
                &["doctor"],
                &["repair", "detect"],
                &["repair", "status"],
                &["repair", "plan"],
                // Nothing to do.
                &["repair", "apply"],
                &["repair", "resume"],
                &["repair", "abort"],
                &["finalizers", "plan"],
                &["finalizers", "apply"],
                &["finalizers", "resume"],
                &["finalizers", "status"],
            ],
        );
        fixture.check(
            2,
            &[
                &["why", "nosuch"],
                &["trace", "nosuch"],
                &["bundle", "nosuch"],
                &["status", "--context", "nosuch"],
                &["status", "--pool", "nosuch"],
                &["status", "--namespace", "Bad Name!"],
                &["fleet", "--image", "nosuch"],
                &["fleet", "--cause", "nosuch"],
                &["why", "--pool", "sytem"],
                &["why", "system", "--pool", "system"],
                &["status", "-w", "--context", "nosuch"],
                &["doctor", "nosuch"],
                &["repair", "detect", "--pool", "nosuch"],
                &["repair", "plan", "--pool", "nosuch"],
                &["repair", "apply", "--pool", "nosuch"],
                &["repair", "plan", "--context", "nosuch"],
                &["finalizers", "plan", "--context", "nosuch"],
            ],
        );
        let (_, out, _) = fixture.run(&[], &["finalizers", "apply"]);
        assert!(out.starts_with("✓ No resources of package-operator found in demo."), "{out}");
        let (_, out, _) = fixture.run(&[], &["finalizers", "plan"]);
        assert!(!out.contains("Next"), "{out}");
        let (_, _, err) = fixture.run(&[], &["repair", "detect", "--pool", "sytem"]);
        assert_eq!(
            err,
            "error: cluster demo has no pool `sytem`\nhint: did you mean `system`?   mooring repair detect --pool system\n"
        );
        for value in ["ture", "$(x)"] {
            fixture.check_with(
                2,
                &[("DRY_RUN", value)],
                &[
                    &["repair", "apply", "--yes", "--plan-hash", OTHER_HASH],
                    &["finalizers", "apply", "--yes", "--plan-hash", OTHER_HASH],
                    &["repair", "--pipeline"],
                ],
            );
        }
        // Azure refuses the sign-in.
        let refused = [("AZURE_CLIENT_SECRET", "wrong")];
        fixture.check_with(1, &refused, &[&["doctor", "azure"]]);
        let (_, names, _) =
            fixture.run(&refused, &["doctor", "azure", "-o", "name", "--exit-zero"]);
        assert_eq!(names, "sign-in\n");
        fixture.check_with(3, &refused, &[&["repair", "plan"], &["repair", "apply"]]);
    }

    #[test]
    fn wedged_pool() {
        let fixture = Fixture::start("wedged-system-pool");
        fixture.check(1, &[&["repair", "detect"], &["repair", "detect", "--pool", "system"]]);
        fixture
            .check(0, &[&["repair", "detect", "--exit-zero"], &["repair", "apply", "--dry-run"]]);
        // Without a terminal; another plan; another cluster.
        let apply = ["repair", "apply", "--yes", "--plan-hash", OTHER_HASH];
        fixture.check(4, &[&["repair", "apply"], &apply]);
        fixture.check_with(
            4,
            &[("CLUSTER_NAME", "other")],
            &[&[&apply[..], &["--context", "demo"]].concat()],
        );
    }
}
