//! Behavior of the model of Azure.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod activity;
mod admin;
mod faults;
mod hostile;
mod node_services;
mod operations;
mod pools;
mod rights;
mod scenarios;
mod support;
mod throttling;
mod wedge;
