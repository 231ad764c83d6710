//! Exit codes of every command and outcome, as the help lists them.

use mooring_simulator::scenario::Scenario;
use serde_json::Value;

use crate::common::controller::{start_controller, wait_for};
use crate::common::{Lab, Terminal, alone, end, without_progress};

/// The form of a plan hash; no plan has it.
const OTHER_HASH: &str =
    "20991115T113000Z.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

const EXPIRED_HASH: &str =
    "20201115T113000Z.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// Fails unless a command has this exit code. An answer has no error; everything else has one.
fn check_end(expected: i32, words: &[&str], (code, out, err): &(i32, String, String)) {
    assert_eq!(*code, expected, "{words:?}\n{out}{err}");
    assert_eq!(!err.contains("error: "), matches!(code, 0 | 1), "{words:?}: {err}");
}

fn check(lab: &Lab, expected: i32, commands: &[&[&str]]) {
    check_with(lab, expected, &[], commands);
}

fn check_with(lab: &Lab, expected: i32, variables: &[(&str, &str)], commands: &[&[&str]]) {
    for words in commands {
        check_end(expected, words, &lab.run_with(variables, words));
    }
}

#[test]
fn commands_without_a_cluster() {
    let home = tempfile::tempdir().unwrap();
    let check = |expected: i32, commands: &[&[&str]]| {
        for words in commands {
            check_end(expected, words, &end(&mut alone(home.path(), words)));
        }
    };
    check(
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
    check(
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
    let (_, _, err) = end(&mut alone(home.path(), &["status", "--nosuch"]));
    assert!(err.contains("Usage: mooring status"), "{err}");
    // No kubeconfig, or one that cannot be read.
    check(
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
    check(1, &[&["doctor"]]);
}

/// Starts the simulator with failed nodes, and a fault of Azure or of the API server.
fn with_fault(when: &str, then: &str) -> Lab {
    let scenario = Scenario::text_of("oras-missing").unwrap();
    let file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
    let fault = format!("faults:\n  - when: {when}\n    then: {{status: {then}}}\n");
    std::fs::write(file.path(), format!("{scenario}{fault}")).unwrap();
    Lab::start(file.path().to_str().unwrap(), &[])
}

#[test]
fn vm_that_cannot_be_read_leaves_the_others() {
    let lab = with_fault("{service: arm, path: '*/virtualMachines/*bad1'}", "{status: 403}");
    let (code, out, err) = lab.run(&["fleet"]);
    assert_eq!(code, 1, "{out}");
    assert!(err.starts_with("warning: Azure was not read completely: a VM "), "{err}");
    assert!(out.contains(" 1 joining, 4+ failed (4+ still exist)\n"), "{out}");
}

#[test]
fn name_that_an_unread_source_may_have_is_not_unknown() {
    let lab = with_fault("{service: kubernetes, path: '*/configmaps/*'}", "{status: 403}");
    let (code, _, err) = lab.run(&["why", "default-gone"]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("nothing that was read in demo is called `default-gone`; "), "{err}");
    assert!(err.contains("; the failure record was not read: "), "{err}");
}

#[test]
fn wedged_pool_is_wrong_on_every_screen() {
    let lab = Lab::start("wedged-system-pool", &[]);
    let finding = "AKS pool system has 2 of 3 nodes, and its state in Azure is Failed.";
    for words in [&["status"][..], &["fleet"], &["why"], &["why", "system"]] {
        let (code, out, err) = lab.run(words);
        assert_eq!(code, 1, "{words:?} {out}{err}");
        assert!(out.contains(finding) && !out.contains("no failures"), "{words:?} {out}");
    }
    // What was not asked for is not checked, and is no error.
    let (code, out, err) = lab.run(&["status", "--azure", "never"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("AKS pools are not checked: Azure was not asked."), "{out}");
    assert!(out.contains("– not checked\n") && !out.contains("healthy"), "{out}");
}

#[test]
fn namespace_without_a_controller_names_the_one_that_has_it() {
    let lab = Lab::start("healthy", &[]);
    let _controller = start_controller(&lab.sim, "off");
    wait_for("the Lease", || {
        let (_, out, _) = lab.run(&["status", "-n", "mooring-system"]);
        out.contains(" leads\n").then_some(())
    });
    for words in [&["status"][..], &["fleet"], &["why"]] {
        let (code, out, err) = lab.run(&[words, &["--namespace", "nosuch"]].concat());
        let expected = "error: namespace `nosuch` has no controller and no failure record; namespace `mooring-system` has the controller\nhint: use `--namespace mooring-system`\n";
        assert_eq!((code, out.as_str()), (2, ""), "{words:?}");
        assert_eq!(without_progress(&err), expected, "{words:?}");
    }
}

#[test]
fn throttled_by_azure() {
    let lab = with_fault("{service: arm}", "{status: 429, retryAfter: 3600}");
    check(
        &lab,
        6,
        &[
            &["why", "default-bad1", "--azure", "always"],
            &["why", "--azure", "always"],
            &["status", "--azure", "always"],
            &["fleet", "--azure", "always"],
            &["repair", "plan"],
        ],
    );
    check(&lab, 1, &[&["why", "default-bad1"], &["status"], &["fleet"]]);
    let graph = with_fault(
        "{service: arm, path: '*/Microsoft.ResourceGraph/*'}",
        "{status: 429, retryAfter: 3600}",
    );
    check(&graph, 6, &[&["repair", "plan", "--context", "demo"]]);
}

#[test]
fn uninstalled_operator() {
    let lab = Lab::start("retired-operator", &[]);
    let hash = lab.hash(&["finalizers", "plan"]);
    let apply = ["finalizers", "apply", "--yes", "--plan-hash"];
    check(&lab, 4, &[&["finalizers", "apply"], &[&apply[..], &[OTHER_HASH]].concat()]);
    let (_, _, err) = lab.run(&["finalizers", "apply"]);
    let hint = "hint: in scripts, use `mooring finalizers apply --yes --plan-hash HASH`\n";
    assert!(err.ends_with(hint), "{err}");
    assert!(err.starts_with("! This removes the resources of package-operator ("), "{err}");
    // The run stops at once, and is then unfinished.
    let stopped = [&apply[..], &[&*hash, "--timeout", "0"]].concat();
    let rehearsed = [&apply[..], &[&*hash, "--dry-run"]].concat();
    let (code, out, err) = lab.run(&rehearsed);
    assert_eq!(code, 0, "{out}{err}");
    assert!(err.starts_with("Dry run: nothing will be changed\n"), "{err}");
    assert!(out.contains("remove-finalizers"), "{out}");
    assert_eq!(lab.json(&["finalizers", "status"]).1["runs"], Value::Array(Vec::new()));
    let (time, digits) = hash.split_once('.').unwrap();
    let changed = format!("{time}.{}", digits.chars().rev().collect::<String>());
    check(&lab, 4, &[&[&apply[..], &[&*changed, "--dry-run"]].concat()]);
    check(&lab, 5, &[&stopped]);
    check(&lab, 4, &[&stopped]);
    // A pipeline continues regardless of the result.
    assert_eq!(lab.run(&["finalizers", "apply", "--best-effort", "--timeout", "0"]).0, 0);
    for (hash, is_known) in [(&*changed, true), (EXPIRED_HASH, false)] {
        let words = ["finalizers", "resume", "--yes", "--plan-hash", hash, "-o", "json"];
        let (code, out, err) = lab.run(&words);
        let result: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        assert_eq!((code, &result["result"]), (4, &"refused".into()), "{result}");
        assert_eq!(result["planHash"].is_string(), is_known, "{result}");
        assert!(result["cluster"]["uid"].is_string(), "{result}");
    }
    for (words, code) in [(&[][..], 1), (&["--exit-zero"], 0)] {
        let words = [&["finalizers", "status", "--watch"], words].concat();
        let mut terminal = Terminal::start(&mut lab.command(&words), 120);
        terminal.wait_for("stopped");
        terminal.type_keys("q");
        assert_eq!(terminal.end().0, code, "{words:?}");
    }
    check(&lab, 1, &[&["finalizers", "status"], &["finalizers", "status", "-o", "json"]]);
    check(&lab, 0, &[&["finalizers", "status", "--exit-zero"]]);
    assert_eq!(lab.run(&["finalizers", "status", "--watch", "-o", "yaml"]).0, 2);
    let hash = lab.hash(&["finalizers", "plan"]);
    check(&lab, 0, &[&["finalizers", "resume", "--yes", "--plan-hash", &hash]]);
    check(&lab, 0, &[&["finalizers", "status"]]);
    // Nothing is left, so the approval does not matter.
    check(&lab, 0, &[&[&apply[..], &[&*changed, "--dry-run"]].concat()]);
}

mod slow {
    use super::*;

    #[test]
    fn failed_nodes() {
        let lab = Lab::start("oras-missing", &[]);
        let wrong: &[&[&str]] = &[
            &["status"],
            &["fleet"],
            &["why"],
            &["why", "default-bad1"],
            &["trace", "default-bad1"],
        ];
        check(&lab, 1, wrong);
        for words in wrong {
            check(&lab, 0, &[&[words, &["--exit-zero"][..]].concat()]);
        }
        check(&lab, 0, &[&["why", "default-good1"], &["trace", "default-good1"]]);
        let silent = [("AZURE_CLIENT_SECRET", "wrong")];
        check_with(&lab, 1, &silent, &[&["why", "default-bad1"]]);
        for (variables, state) in [(&[][..], "read"), (&silent, "failed")] {
            let (_, out, err) = lab.run_with(variables, &["why", "default-bad1", "-o", "json"]);
            let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
            let azure = &answer["sources"][2];
            assert_eq!(azure["state"], state, "{azure}");
            assert!(azure["seconds"].is_number(), "{azure}");
            assert_eq!(azure["at"].is_null(), state == "failed", "{azure}");
            assert_eq!(azure["error"].is_null(), state == "read", "{azure}");
        }
        check_with(
            &lab,
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
        let lab = Lab::start("healthy", &[]);
        check(
            &lab,
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
        check(
            &lab,
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
        let (_, out, _) = lab.run(&["finalizers", "apply"]);
        assert!(out.starts_with("✓ No resources of package-operator found in demo."), "{out}");
        let (_, out, _) = lab.run(&["finalizers", "plan"]);
        assert!(!out.contains("Next"), "{out}");
        // Azure refuses the sign-in.
        let refused = [("AZURE_CLIENT_SECRET", "wrong")];
        check_with(&lab, 1, &refused, &[&["doctor", "azure"]]);
        let (_, names, _) =
            lab.run_with(&refused, &["doctor", "azure", "-o", "name", "--exit-zero"]);
        assert_eq!(names, "sign-in\n");
        check_with(&lab, 3, &refused, &[&["repair", "plan"], &["repair", "apply"]]);
    }

    #[test]
    fn wedged_pool() {
        let lab = Lab::start("wedged-system-pool", &[]);
        check(&lab, 1, &[&["repair", "detect"], &["repair", "detect", "--pool", "system"]]);
        check(&lab, 0, &[&["repair", "detect", "--exit-zero"], &["repair", "apply", "--dry-run"]]);
        // Without a terminal; another plan; another cluster.
        let apply = ["repair", "apply", "--yes", "--plan-hash", OTHER_HASH];
        check(&lab, 4, &[&["repair", "apply"], &apply]);
        check_with(
            &lab,
            4,
            &[("CLUSTER_NAME", "other")],
            &[&[&apply[..], &["--context", "demo"]].concat()],
        );
    }
}
