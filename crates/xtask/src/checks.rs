//! Tasks that check the whole project.

use crate::step::{Failed, run};

/// Checks `deny.toml`, except advisories, which need a downloaded database.
pub(crate) fn audit() -> Result<(), Failed> {
    if run("cargo", &["deny", "--version"]).is_err() {
        run("cargo", &["install", "--locked", "cargo-deny"])?;
    }
    run("cargo", &["deny", "check", "licenses", "bans", "sources"])
}

/// Measures the throughput of the simulated Kubernetes API; it prints its figures itself.
pub(crate) fn bench_kubernetes() -> Result<(), Failed> {
    let example = ["--package", "mooring-simulator", "--example", "kubernetes_scale"];
    run("cargo", &[&["run", "--locked", "--release", "--quiet"][..], &example].concat())
}
