//! Stamps the binary with what it was built from: `mooring --version` tells it.
//!
//! The same sources, target and profile give the same stamp: no time, no host name, no path. `MOORING_COMMIT` names the
//! commit where the sources are not a checkout; without it and without git the commit is told as unknown.

use std::path::Path;
use std::process::Command;

/// What a build is made of; other files of the checkout do not make it another one.
const SOURCES: [&str; 3] = ["crates", "Cargo.toml", "Cargo.lock"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    tell("rerun-if-env-changed", "MOORING_COMMIT");
    let named = std::env::var("MOORING_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = named.or_else(|| checkout(&root)).unwrap_or_else(|| "unknown".to_owned());
    let variable = |name| std::env::var(name).unwrap_or_else(|_| "unknown".to_owned());
    tell("rustc-env", &format!("MOORING_COMMIT={commit}"));
    tell("rustc-env", &format!("MOORING_TARGET={}", variable("TARGET")));
    tell("rustc-env", &format!("MOORING_PROFILE={}", variable("PROFILE")));
}

/// The commit that is checked out, and whether the sources differ from it.
fn checkout(root: &Path) -> Option<String> {
    // An archive that was unpacked inside of somebody else's checkout is not of that checkout's commit.
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    if Path::new(top.trim()).canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    // A new commit appends to the log of HEAD; a change of what is built changes a folder with sources.
    for path in ["HEAD", "logs/HEAD"] {
        let path = git(root, &["rev-parse", "--git-path", path])?;
        tell("rerun-if-changed", &root.join(path.trim()).display().to_string());
    }
    for entry in std::fs::read_dir(root.join("crates")).ok()?.flatten() {
        tell("rerun-if-changed", &entry.path().join("src").display().to_string());
    }
    tell("rerun-if-changed", &root.join("Cargo.lock").display().to_string());
    let commit = git(root, &["rev-parse", "--short=12", "HEAD"])?;
    let status = ["status", "--porcelain", "--untracked-files=no", "--"];
    let differs = !git(root, &[&status[..], &SOURCES].concat())?.trim().is_empty();
    Some(format!("{}{}", commit.trim(), if differs { " with changes" } else { "" }))
}

fn git(root: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(words).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn tell(key: &str, value: &str) {
    println!("cargo::{key}={value}");
}
