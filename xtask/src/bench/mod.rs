//! `bench`: figures of the node agent, the controller and the simulated Kubernetes API.

mod agent;
mod node;

pub(crate) use agent::{agent, agent_on_node};
pub(crate) use node::components;

use crate::step::{Failed, run};

/// Measures the resource usage of the controller, in virtual time.
pub(crate) fn controller() -> Result<(), Failed> {
    run("cargo", &["bench", "--locked", "-p", "mooring-controller", "--bench", "controller"])
}

/// Measures the throughput of the simulated Kubernetes API; it prints its figures itself.
pub(crate) fn kubernetes() -> Result<(), Failed> {
    let example = ["--package", "mooring-simulator", "--example", "kubernetes_scale"];
    run("cargo", &[&["run", "--locked", "--release", "--quiet"][..], &example].concat())
}
