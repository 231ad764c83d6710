//! A small honest model of a cluster with one wedged pool, under a virtual clock.
//!
//! Nothing sleeps and nothing is random unless a seed says so; a killed process is a future that is dropped.

mod answers;
mod cloud;
mod effects;
pub mod ends;
mod model;
pub mod records;
pub mod scenarios;
mod session;

pub use cloud::{CLUSTER, Cloud, SETS, node, pod};
pub use model::Workload;
pub use session::{
    Chaos, End, Ended, Kill, abort, action_of, decided, go_on, recover, resume, run_to_rest, undo,
    until, whole,
};
