//! I/O: Kubernetes API, disk and clock.

mod api;
mod contents;
mod dependents;
pub(crate) mod start_checks;

pub(crate) use api::OperatorCluster;
