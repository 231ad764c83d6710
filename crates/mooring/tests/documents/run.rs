//! What is run: the `sh` blocks of a document, one after the other in one shell, in an empty folder.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::page::{Page, pages, root};

/// No document takes longer than this, whatever happens.
const SECONDS: &str = "600";

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
xtask) grep -q "^  $1" "$CHORES" ;;
build | test | bench | clippy | fmt)
    while [ $# -gt 0 ]; do
        if [ "$1" = -p ]; then grep -q "^name = \"$2\"$" "$PACKAGES" || exit 9; fi
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

/// Names of packages and chores, as cargo would know them.
fn known(folder: &Path) {
    let mut packages = String::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        packages += &std::fs::read_to_string(entry.unwrap().path().join("Cargo.toml")).unwrap();
    }
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
    // Every command that fails is told, but for findings of ours (1), which are no failures.
    let trap = r#"trap 'code=$?; case "$code $BASH_COMMAND" in "1 mooring "*) ;; *) echo "$code: $BASH_COMMAND" >> "$FAILED" ;; esac' ERR"#;
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
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let failed = std::fs::read_to_string(folder.path().join("failed")).unwrap_or_default();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && failed.is_empty(),
        "{}: {} {failed}\n{said}",
        page.name,
        output.status
    );
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
