//! One-time queries for `mooring why`: why a node did not join.
//!
//! They use the observations and verdicts of the controller, for the name of a NodeClaim, node, VM, pool or
//! pool instance. Deleted nodes are reported from the failure record.

mod command;
mod pools;
mod why;

pub use command::NodeShell;
pub use why::{NodeQuery, QueryError};
