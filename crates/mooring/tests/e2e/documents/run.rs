//! What is run: the `sh` blocks of a document, one after the other in one shell, in an empty folder.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::documents::page::{Page, pages, root};

/// No document takes longer than this, whatever happens.
const SECONDS: &str = "600";

/// Commands of the documents that do not exit with 0, since they have something to report.
const FINDINGS: [(&str, &str); 3] = [
    ("README.md", "1: mooring why default-bad1"),
    ("docs/RUNBOOK.md", "1: mooring why default-bad1"),
    ("docs/RUNBOOK.md", "1: mooring repair detect"),
];

/// `cargo run` is the binary that is there already; other chores of cargo only have to exist.
const CARGO: &str = r#"#!/bin/bash
verb=$1; shift
case $verb in
run)
    program=mooring
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        [ "$1" = mooring-agent ] && program=aks-node-controller
        shift
    done
    shift
    exec "$program" "$@" ;;
xtask) grep -qE "^  $1( |$)" "$CHORES" ;;
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

fn program(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Names of packages, their targets and chores, as cargo would know them.
fn known(folder: &Path) {
    let (mut packages, mut targets) = (String::new(), String::new());
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let package = entry.unwrap().path();
        packages += &std::fs::read_to_string(package.join("Cargo.toml")).unwrap();
        for (flag, folder) in
            [("--test", "tests"), ("--example", "examples"), ("--bench", "benches")]
        {
            for target in std::fs::read_dir(package.join(folder)).into_iter().flatten() {
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
    std::fs::write(folder.join("targets"), targets).unwrap();
    std::fs::write(folder.join("packages"), packages).unwrap();
    std::fs::copy(root().join("crates/xtask/src/main.rs"), folder.join("chores")).unwrap();
}

fn run(page: &Page) {
    let blocks = page.blocks.iter().filter(|block| block.language == "sh");
    let script: Vec<String> = blocks.flat_map(|block| block.lines.clone()).collect();
    if script.is_empty() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (bin, work) = (folder.path().join("bin"), folder.path().join("work"));
    std::fs::create_dir(&bin).unwrap();
    std::fs::create_dir(&work).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mooring"), bin.join("mooring")).unwrap();
    program(&bin, "aks-node-controller", "#!/bin/bash\nexec mooring agent \"$@\"\n");
    program(&bin, "cargo", CARGO);
    known(folder.path());
    let trap = r#"trap 'echo "$?: $BASH_COMMAND" >> "$FAILED"' ERR"#;
    let text = format!(
        "set -u -o pipefail -o errtrace\n{trap}\n{}\ntrap - ERR\nkill $(jobs -p) 2>/dev/null\nwait\ntrue\n",
        script.join("\n")
    );
    let output = Command::new("timeout")
        .args(["--kill-after=5", SECONDS, "bash", "-c", &text])
        .current_dir(&work)
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
        .env("HOME", folder.path())
        .env("FAILED", folder.path().join("failed"))
        .env("PACKAGES", folder.path().join("packages"))
        .env("CHORES", folder.path().join("chores"))
        .env("TARGETS", folder.path().join("targets"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let failed = std::fs::read_to_string(folder.path().join("failed")).unwrap_or_default();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {}\n{said}", page.name, output.status);
    let failed: Vec<&str> = failed.lines().collect();
    let findings: Vec<&str> =
        FINDINGS.iter().filter(|(name, _)| *name == page.name).map(|(_, line)| *line).collect();
    assert_eq!(failed, findings, "{}\n{said}", page.name);
}

#[test]
fn commands_that_need_nothing_of_the_readers_are_run() {
    let pages = pages();
    assert!(pages.iter().flat_map(|page| &page.blocks).any(|block| block.language == "sh"));
    std::thread::scope(|scope| {
        let all: Vec<_> = pages.iter().map(|page| scope.spawn(|| run(page))).collect();
        for one in all {
            one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

#[test]
fn a_command_stands_nowhere_but_where_it_is_run_or_marked() {
    for page in pages() {
        for block in &page.blocks {
            if ["sh", "console"].contains(&block.language.as_str()) {
                continue;
            }
            for (index, line) in block.lines.iter().enumerate() {
                // Indented, it is what a program printed about a command.
                let line = line.trim_start_matches("$ ");
                let is_command = ["mooring ", "cargo ", "kubectl ", "aks-node-controller "]
                    .iter()
                    .any(|program| line.starts_with(program));
                assert!(
                    !is_command,
                    "{}:{}: `{line}` is neither run (```sh) nor marked as the reader's (```console)",
                    page.name,
                    block.line + index
                );
            }
        }
    }
}
