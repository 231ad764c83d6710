//! The shell: everything that touches the cluster, a disk or a clock.

mod api;
mod around;
mod begin;
mod remover;

pub use begin::BeginError;
pub use remover::{CommandResult, JournalStatus, Remover, SignedOut, Watcher};
