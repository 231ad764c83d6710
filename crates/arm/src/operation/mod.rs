//! Long-running operations: writes that continue in Azure after the response.
//!
//! An [`Operation`] contains all that is needed to follow a write to its end. It can be stored, read by another process
//! on another host, and followed there. It contains paths, never a host: what is read from a record is checked as every
//! other target ([`ArmPath`](crate::ArmPath)), and [`Operation::is_under`] checks that it belongs to the subscription of
//! the record.

mod follow;
mod outcome;
mod running_write;
mod start;
mod state;
#[cfg(test)]
mod tests;

pub use outcome::{OperationOutcome, OperationProgress, Started};
pub use running_write::Operation;
pub(crate) use running_write::{Monitor, WriteKind};
