//! `bench`: figures of the node agent and the controller.

mod agent;
mod node;

pub(crate) use agent::{agent, agent_on_node};
pub(crate) use node::components;

use crate::step::{Failed, run};

/// Measures the resource usage of the controller, in virtual time.
pub(crate) fn controller() -> Result<(), Failed> {
    run("cargo", &["bench", "--locked", "-p", "mooring-controller", "--bench", "controller"])
}
