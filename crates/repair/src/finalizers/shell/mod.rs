//! The shell: everything that touches the cluster, a disk or a clock.

mod api;
mod around;
mod begin;
mod remover;

pub use begin::{Approval, BeginError};
pub use remover::{Ending, Remover, SignedOut, Standing, Watcher};
