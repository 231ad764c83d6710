//! The engine, its journals, stores and locks, with a workflow that each test scripts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test may fail loudly"
)]

mod commands;
mod document;
mod engine;
mod leases;
mod present;
mod responses;
mod sample;
mod stores;
