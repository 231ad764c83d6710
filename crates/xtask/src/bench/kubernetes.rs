//! Figures of the simulated Kubernetes API.

use crate::step::{Failed, run};

/// Measures the throughput of the simulated Kubernetes API; it prints its figures itself.
pub(crate) fn kubernetes() -> Result<(), Failed> {
    let example = ["--package", "mooring-simulator", "--example", "kubernetes_scale"];
    run("cargo", &[&["run", "--locked", "--release", "--quiet"][..], &example].concat())
}
