//! The removal as a workflow: its steps, its changes as data, and the backups in its journal.

pub mod backup;
pub mod effect;
pub mod step;
pub mod workflow;
