//! `-o wide`, `-o markdown` and `-o name` of commands about nodes, pools and finalizers.

use std::path::Path;
use std::process::Command;

use crate::common::controller::sourced;
use crate::common::{Sim, mooring, result};

fn start(state: &Path, scenario: &str) -> Sim {
    Sim::start(state, &["--scenario", scenario, "--kube-port", "0"])
}

/// Returns what a command prints in a format.
fn shown(mut command: Command, words: &[&str], format: &str) -> String {
    let output = command.args(words).args(["-o", format]).output().unwrap();
    let (code, out, err) = result(&output);
    assert!(matches!(code, 0 | 1), "{words:?} -o {format}: {code} {out}{err}");
    out
}

/// Fails unless the text is one code block.
fn assert_code_block(text: &str) {
    assert!(text.starts_with("```text\n") && text.ends_with("\n```\n"), "{text}");
}

#[test]
fn version_has_all_formats() {
    let version = |format: &str| shown(mooring(), &["version"], format);
    let number = env!("CARGO_PKG_VERSION");
    assert_eq!(version("name"), format!("{number}\n"));
    assert!(version("wide").starts_with(&format!("mooring {number}\ncommit:  ")));
    assert_code_block(&version("markdown"));
}

#[test]
fn objects_with_finalizers_are_names_for_kubectl() {
    let state = tempfile::tempdir().unwrap();
    let sim = start(state.path(), "retired-operator");
    let names = shown(sourced(&sim), &["finalizers", "plan"], "name");
    assert!(names.lines().count() > 1, "{names}");
    for name in names.lines() {
        let (resource, name) = name.split_once('/').unwrap();
        assert!(resource.ends_with(".package-operator.run"), "{names}");
        assert!(!name.is_empty() && !name.contains(' '), "{names}");
    }
    assert_eq!(shown(sourced(&sim), &["finalizers", "status"], "name"), "", "no runs");
    for command in ["plan", "status"] {
        assert_code_block(&shown(sourced(&sim), &["finalizers", command], "markdown"));
    }
}

mod slow {
    use super::*;

    #[test]
    fn names_of_nodes_are_accepted_as_names() {
        let state = tempfile::tempdir().unwrap();
        let sim = start(&state.path().join("sim"), "oras-missing");
        let run = |words: &[&str], format: &str| shown(sourced(&sim), words, format);
        for (what, expected) in [
            ("default-bad1", "nodeclaim.karpenter.sh/default-bad1\n"),
            ("aks-default-bad1", "nodeclaim.karpenter.sh/default-bad1\n"),
        ] {
            for command in ["why", "trace"] {
                assert_eq!(run(&[command, what], "name"), expected);
                assert_eq!(run(&[command, expected.trim()], "name"), expected);
                assert_eq!(run(&[command, "node/aks-default-bad1"], "name"), expected);
            }
        }
        let table = run(&["why", "nodepool.karpenter.sh/default"], "table");
        assert!(table.contains("Pool default of demo"), "{table}");
        assert_code_block(&run(&["trace", "default-bad1"], "markdown"));
        assert!(run(&["trace", "default-bad1"], "wide").contains("orasLogin"));

        let out = state.path().join("node.tar.gz");
        let bundle = ["bundle", "nodeclaim.karpenter.sh/default-bad1", "--out"];
        let bundle = [&bundle[..], &[out.to_str().unwrap()]].concat();
        let wide = run(&bundle, "wide");
        assert!(wide.contains("\naks-default-bad1/nodeclaim.yaml "), "{wide}");
        assert_code_block(&run(&bundle, "markdown"));
        // What the archive lacks is shown with its timeline.
        let screen = run(&["trace", out.to_str().unwrap()], "table");
        assert!(screen.contains("\nLeft out    "), "{screen}");
        assert!(screen.contains("`--run-command` was not given"), "{screen}");
    }

    #[test]
    fn wedged_pools_are_names() {
        let state = tempfile::tempdir().unwrap();
        let sim = start(state.path(), "wedged-system-pool");
        for (command, expected) in [("detect", "system\n"), ("plan", "system\n"), ("status", "")] {
            assert_eq!(shown(sourced(&sim), &["repair", command], "name"), expected, "{command}");
        }
        let markdown = shown(sourced(&sim), &["repair", "detect"], "markdown");
        assert_code_block(&markdown);
        assert!(markdown.contains("Pool system of demo is wedged"), "{markdown}");
    }
}
