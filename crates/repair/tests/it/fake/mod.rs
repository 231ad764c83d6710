//! A small model of a cluster with one wedged pool, under a virtual clock.
//!
//! Nothing sleeps, randomness comes from a seed, and a killed process is a dropped future.

mod cloud;
mod effects;
mod model;
pub(crate) mod outcomes;
mod reads;
pub(crate) mod records;
pub(crate) mod scenarios;
mod session;

pub(crate) use cloud::{CLUSTER, Cloud, SETS, node, pod};
pub(crate) use model::Workload;
pub(crate) use session::{
    Chaos, End, Ended, Kill, abort, action_of, continue_run, detected, recover, resume,
    run_to_rest, undo, until, whole,
};
