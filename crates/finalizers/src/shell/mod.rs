//! The shell: everything that touches the cluster, a disk or a clock.

mod api;
mod begin;
mod dependents;
mod remover;

pub use begin::BeginError;
pub use remover::{CommandResult, JournalStatus, Remover, SignedOut, Watcher};
