//! The agent: its environment, its command line, and nodes in directories.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and sees the real clock and disk"
)]

mod fault_injection;
mod support;

mod cli;
mod command;
mod compare;
mod golden;
mod invariants;
mod nbc;
mod node;
