//! `-o wide`, `-o markdown` and `-o name` of commands about nodes, pools and finalizers, and `--verbose`.

use crate::common::{Lab, alone, end};

/// Returns what a command prints in a format.
fn shown(lab: &Lab, words: &[&str], format: &str) -> String {
    let (code, out, err) = lab.run(&[words, &["-o", format]].concat());
    assert!(matches!(code, 0 | 1), "{words:?} -o {format}: {code} {out}{err}");
    out
}

/// Fails unless the text is one code block.
fn assert_code_block(text: &str) {
    assert!(text.starts_with("```text\n") && text.ends_with("\n```\n"), "{text}");
}

#[test]
fn version_has_all_formats() {
    let home = tempfile::tempdir().unwrap();
    let version = |format| end(&mut alone(home.path(), &["version", "-o", format])).1;
    let number = env!("CARGO_PKG_VERSION");
    assert_eq!(version("name"), format!("{number}\n"));
    assert!(version("wide").starts_with(&format!("mooring {number}\ncommit:  ")));
    assert_code_block(&version("markdown"));
}

#[test]
fn objects_with_finalizers_are_names_for_kubectl() {
    let lab = Lab::start("retired-operator", &[]);
    let names = shown(&lab, &["finalizers", "plan"], "name");
    assert!(names.lines().count() > 1, "{names}");
    for name in names.lines() {
        let (resource, name) = name.split_once('/').unwrap();
        assert!(resource.ends_with(".package-operator.run"), "{names}");
        assert!(!name.is_empty() && !name.contains(' '), "{names}");
    }
    assert_eq!(shown(&lab, &["finalizers", "status"], "name"), "", "no runs");
    for command in ["plan", "status"] {
        assert_code_block(&shown(&lab, &["finalizers", command], "markdown"));
    }
}

mod slow {
    use super::*;

    #[test]
    fn names_of_nodes_are_accepted_as_names() {
        let lab = Lab::start("oras-missing", &[]);
        let run = |words: &[&str], format: &str| shown(&lab, words, format);
        let name = "nodeclaim.karpenter.sh/default-bad1";
        for what in ["default-bad1", "aks-default-bad1", name, "node/aks-default-bad1"] {
            for command in ["why", "trace"] {
                assert_eq!(run(&[command, what], "name"), format!("{name}\n"));
            }
        }
        let table = run(&["why", "nodepool.karpenter.sh/default"], "table");
        assert!(table.contains("Pool default of demo"), "{table}");
        assert_code_block(&run(&["trace", "default-bad1"], "markdown"));
        assert!(run(&["trace", "default-bad1"], "wide").contains("orasLogin"));

        let out = lab.path("node.tar.gz");
        let wide = run(&["bundle", name, "--out", &out], "wide");
        assert!(wide.contains("\naks-default-bad1/nodeclaim.yaml "), "{wide}");
        assert_code_block(&run(&["bundle", name, "--out", &out], "markdown"));
        // What the archive lacks is shown with its timeline.
        let screen = run(&["trace", &out], "table");
        assert!(screen.contains("\nLeft out    "), "{screen}");
        assert!(screen.contains("`--run-command` was not given"), "{screen}");

        let (_, quiet, messages) = lab.run(&["why", "default-bad1"]);
        assert!(!messages.contains("request sent"), "{messages}");
        let (_, verbose, messages) = lab.run(&["why", "default-bad1", "-v"]);
        assert_eq!(verbose.lines().next(), quiet.lines().next());
        for expected in [
            "request sent to Kubernetes method=GET path=\"/api/v1/nodes?",
            "request sent to Azure ",
        ] {
            let line = messages.lines().find(|line| line.starts_with(expected));
            assert!(line.is_some_and(|line| line.contains("milliseconds=")), "{messages}");
        }
        for (name, value) in lab.sim.environment() {
            let is_secret = name.contains("SECRET") || name.contains("TOKEN");
            assert!(!is_secret || !messages.contains(&value), "{name}");
        }
    }

    #[test]
    fn wedged_pools_are_names() {
        let lab = Lab::start("wedged-system-pool", &[]);
        for (command, expected) in [("detect", "system\n"), ("plan", "system\n"), ("status", "")] {
            assert_eq!(shown(&lab, &["repair", command], "name"), expected, "{command}");
        }
        let markdown = shown(&lab, &["repair", "detect"], "markdown");
        assert_code_block(&markdown);
        assert!(markdown.contains("Pool system of demo is wedged"), "{markdown}");
    }
}
