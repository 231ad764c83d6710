//! Tests of the repair on recorded responses, on a model in virtual time, and on the whole simulator.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test may fail loudly"
)]

mod bodies;
mod common;
mod crashes;
mod fake;
mod fixtures;
mod forgery;
mod journal;
mod operations;
mod pool_kinds;
mod screens;
mod simulator;
mod steps;
mod storms;
mod verdict_checks;
