//! Metrics, with the prefix `mooring_`.
//!
//! Labels from outside (pools, images) have a limit each. Values above it are counted under `other`, and so
//! is their number; names of VMs and NodeClaims are never labels.

pub mod log;
mod registry;
#[cfg(test)]
mod tests;

pub use registry::{ArmSnapshot, FailedNode, Metrics, WriteLabel};
