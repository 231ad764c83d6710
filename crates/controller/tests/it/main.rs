//! Tests of the controller: as data, and as a whole against simulated and real API servers.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod dropped;
mod forged;
mod replay;
mod run;
mod scale;
mod world;
