//! Runs the `sh` blocks of each document in one shell, in an empty directory.

use std::path::Path;
use std::process::{Command, Stdio};

use mooring_testbed::command::write_executable;
use mooring_testbed::documents::{Page, pages, parse_args, root};

const TIMEOUT_SECONDS: &str = "600";

/// Commands of the documents that exit with 1 because they report a problem.
const FINDINGS: [(&str, &str); 6] = [
    ("README.md", "1: mooring why default-bad1"),
    ("README.md", "1: mooring trace default-bad1"),
    ("README.md", "1: mooring trace bad1.tar.gz"),
    ("docs/RUNBOOK.md", "1: mooring why default-bad1"),
    ("docs/RUNBOOK.md", "1: mooring fleet"),
    ("docs/RUNBOOK.md", "1: mooring repair detect"),
];

/// Stub of cargo: `cargo run` runs the built binary; other commands only check that packages, targets, tasks and
/// their flags exist.
const CARGO: &str = r#"#!/bin/bash
verb=$1; shift
case $verb in
run)
    program=mooring
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        [ "$1" = mooring-agent ] && program=aks-node-controller
        [ "$1" = mooring-lab ] && program=mooring-lab
        shift
    done
    shift
    exec "$program" "$@" ;;
xtask)
    grep -qE "^  $1( |$)" "$TASKS" || exit 9
    for word; do
        case $word in --*) grep -qF -- "$word" "$TASKS" || exit 9 ;; esac
    done ;;
build | test | bench | clippy | fmt)
    while [ $# -gt 0 ]; do
        case $1 in
        -p) grep -q "^name = \"$2\"$" "$PACKAGES" || exit 9 ;;
        --test | --example | --bench) grep -q "^$1 $2$" "$TARGETS" || exit 9 ;;
        esac
        shift
    done ;;
*) exit 9 ;;
esac
"#;

/// Writes the names of packages, targets and tasks for the stub.
fn write_names(directory: &Path) {
    let (mut packages, mut targets) = (String::new(), String::new());
    let list = |directory: &str| std::fs::read_dir(root().join(directory)).unwrap();
    for entry in list("crates").chain(list("lab")) {
        let package = entry.unwrap().path();
        packages += &std::fs::read_to_string(package.join("Cargo.toml")).unwrap();
        for (flag, subdirectory) in
            [("--test", "tests"), ("--example", "examples"), ("--bench", "benches")]
        {
            for target in std::fs::read_dir(package.join(subdirectory)).into_iter().flatten() {
                let target = target.unwrap().path();
                if target.extension().is_some_and(|end| end == "rs")
                    || target.join("main.rs").exists()
                {
                    let name = target.file_stem().unwrap().to_str().unwrap();
                    targets.extend([flag, " ", name, "\n"]);
                }
            }
        }
    }
    std::fs::write(directory.join("targets"), targets).unwrap();
    std::fs::write(directory.join("packages"), packages).unwrap();
    std::fs::copy(root().join("xtask/src/main.rs"), directory.join("tasks")).unwrap();
}

fn run(page: &Page) {
    let blocks = page.blocks.iter().filter(|block| block.language == "sh");
    let script: Vec<String> = blocks.flat_map(|block| block.lines.clone()).collect();
    if script.is_empty() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (bin, work) = (directory.path().join("bin"), directory.path().join("work"));
    std::fs::create_dir(&bin).unwrap();
    std::fs::create_dir(&work).unwrap();
    crate::link_programs(&bin);
    write_executable(&bin, "cargo", CARGO);
    write_names(directory.path());
    let trap = r#"trap 'echo "$?: $BASH_COMMAND" >> "$FAILED"' ERR"#;
    let text = format!(
        "set -u -o pipefail -o errtrace\n{trap}\n{}\ntrap - ERR\nkill $(jobs -p) 2>/dev/null\nwait\ntrue\n",
        script.join("\n")
    );
    let output = Command::new("timeout")
        .args(["--kill-after=5", TIMEOUT_SECONDS, "bash", "-c", &text])
        .current_dir(&work)
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("HOME", directory.path())
        .env("FAILED", directory.path().join("failed"))
        .env("PACKAGES", directory.path().join("packages"))
        .env("TASKS", directory.path().join("tasks"))
        .env("TARGETS", directory.path().join("targets"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let failed = std::fs::read_to_string(directory.path().join("failed")).unwrap_or_default();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {}\n{stderr}", page.name, output.status);
    let failed: Vec<&str> = failed.lines().collect();
    let findings: Vec<&str> =
        FINDINGS.iter().filter(|(name, _)| *name == page.name).map(|(_, line)| *line).collect();
    assert_eq!(failed, findings, "{}\n{stderr}", page.name);
}

#[test]
fn commands_in_sh_blocks_run() {
    let pages = pages();
    assert!(pages.iter().flat_map(|page| &page.blocks).any(|block| block.language == "sh"));
    std::thread::scope(|scope| {
        let all: Vec<_> = pages.iter().map(|page| scope.spawn(|| run(page))).collect();
        for thread in all {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

#[test]
fn commands_are_only_in_sh_and_console_blocks() {
    for page in pages() {
        for block in &page.blocks {
            if ["sh", "console"].contains(&block.language.as_str()) {
                continue;
            }
            for (index, line) in block.lines.iter().enumerate() {
                // Indented lines are output of a command.
                let line = line.trim_start_matches("$ ");
                let is_command = ["mooring ", "cargo ", "kubectl ", "aks-node-controller "]
                    .iter()
                    .any(|name| line.starts_with(name));
                assert!(
                    !is_command,
                    "{}:{}: `{line}` is neither in a ```sh block (run) nor in a ```console block (parsed)",
                    page.name,
                    block.line + index
                );
            }
        }
    }
}

#[test]
fn commands_of_the_lab_in_text_are_valid() {
    let mut count = 0;
    for page in pages() {
        for line in page.shown_commands("mooring-lab") {
            let Some(words) = parse_args(&line) else { continue };
            let output = crate::lab().args(&words[1..]).arg("--help").output().unwrap();
            assert!(output.status.success(), "{}: {line}", page.name);
            count += 1;
        }
    }
    assert!(count > 5, "only {count} commands were found");
}
