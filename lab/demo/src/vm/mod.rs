//! VMs that boot in directories: the work of cloud-init, and the agent.

mod cloud_init;
mod node;
pub(crate) mod vms;
