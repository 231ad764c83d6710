//! Tests of the client against scripted servers, schedules of faults and real sockets.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::similar_names,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod common;
mod environment;
mod errors;
mod exchanges;
mod operations;
mod polls;
mod reads;
mod real;
mod roles;
mod schedules;
mod sequences;
