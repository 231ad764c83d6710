//! Changes in Azure without a request: operations end, VMs boot, nodes join, wedged writes are retried.

mod advance;
pub(crate) mod extensions;
pub(crate) mod machines;
pub(crate) mod node_shell;
pub(crate) mod nodes;
mod pool_machines;
mod scale_sets;
pub(crate) mod wedge;
