//! One-time queries for `mooring why` and `mooring fleet`: why a node did not join, and which image fails.
//!
//! They use the observations and verdicts of the controller, for the name of a NodeClaim, node, VM, pool or
//! pool instance. Deleted nodes are reported from the failure record.

mod cluster;
mod command;
mod earlier_attempts;
mod fleet;
mod pools;
mod why;

pub use command::NodeShell;
pub use fleet::{FleetTable, ImageRow};
pub use why::{NodeQuery, QueryError};
