//! Sets the commit, target and profile that `mooring --version` prints.
//!
//! Reproducible: no time, host name or path. `MOORING_COMMIT` sets the commit if the sources are not a checkout; without it
//! and without git the commit is `unknown`.

use std::path::Path;
use std::process::Command;

/// Inputs of a build; changes of other files do not count.
const SOURCES: [&str; 3] = ["crates", "Cargo.toml", "Cargo.lock"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    print_directive("rerun-if-env-changed", "MOORING_COMMIT");
    let named = std::env::var("MOORING_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = named.or_else(|| read_commit(&root)).unwrap_or_else(|| "unknown".to_owned());
    let variable = |name| std::env::var(name).unwrap_or_else(|_| "unknown".to_owned());
    print_directive("rustc-env", &format!("MOORING_COMMIT={commit}"));
    print_directive("rustc-env", &format!("MOORING_TARGET={}", variable("TARGET")));
    print_directive("rustc-env", &format!("MOORING_PROFILE={}", variable("PROFILE")));
}

/// Returns the current commit, with a note if the sources differ from it.
fn read_commit(root: &Path) -> Option<String> {
    // The sources may be unpacked inside another repository's checkout.
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    if Path::new(top.trim()).canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    // A commit appends to the log of HEAD; a change of the sources changes one of their directories.
    for path in ["HEAD", "logs/HEAD"] {
        let path = git(root, &["rev-parse", "--git-path", path])?;
        print_directive("rerun-if-changed", &root.join(path.trim()).display().to_string());
    }
    for entry in std::fs::read_dir(root.join("crates")).ok()?.flatten() {
        print_directive("rerun-if-changed", &entry.path().join("src").display().to_string());
    }
    print_directive("rerun-if-changed", &root.join("Cargo.lock").display().to_string());
    let commit = git(root, &["rev-parse", "--short=12", "HEAD"])?;
    let status = ["status", "--porcelain", "--untracked-files=no", "--"];
    let differs = !git(root, &[&status[..], &SOURCES].concat())?.trim().is_empty();
    Some(format!("{}{}", commit.trim(), if differs { " with changes" } else { "" }))
}

fn git(root: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn print_directive(key: &str, value: &str) {
    println!("cargo::{key}={value}");
}
