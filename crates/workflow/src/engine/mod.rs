//! The loop between decisions and the world.

pub mod decision;
pub mod retry;
mod run_loop;
pub mod workflow;
pub mod world;

pub use run_loop::{RunError, RunOutcome, run};
