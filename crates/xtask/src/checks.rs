//! Chores that judge the whole project.

use crate::step::{Failed, run};

/// What `deny.toml` says. (Advisories need a database that is fetched, so they are left to others.)
pub(crate) fn audit() -> Result<(), Failed> {
    if run("cargo", &["deny", "--version"]).is_err() {
        run("cargo", &["install", "--locked", "cargo-deny"])?;
    }
    run("cargo", &["deny", "check", "licenses", "bans", "sources"])
}

/// How much the model of the Kubernetes API bears; it prints its figures itself.
pub(crate) fn bench_kubernetes() -> Result<(), Failed> {
    let example = ["--package", "mooring-simulator", "--example", "kubernetes_scale"];
    run("cargo", &[&["run", "--locked", "--release", "--quiet"][..], &example].concat())
}
