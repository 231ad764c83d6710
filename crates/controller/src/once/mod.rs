//! One reading, for a person: why a node did not join, and which image fails.
//!
//! The same observations and the same verdicts as the controller's, for whatever a person may name: a claim, a node,
//! a VM, a pool, an instance of a pool. What is gone is told from the record.

mod command;
mod earlier;
mod fleet;
mod pools;
mod surroundings;
mod told;
mod why;

pub use fleet::{Row, Table};
pub use told::{From, NodeTold};
pub use why::{Failed, Looker};
