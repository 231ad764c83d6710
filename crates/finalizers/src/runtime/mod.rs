//! I/O: Kubernetes API, disk and clock.

mod api;
mod commands;
mod contents;
mod dependents;
mod start_checks;

pub(crate) use api::OperatorCluster;
pub use commands::{CommandResult, JournalStatus, Remover, SignedOut, Watcher};
pub use start_checks::StartError;
