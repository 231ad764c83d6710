//! The agent on a node in a directory.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and sees the real clock and disk"
)]

mod fault_injection;
mod support;

mod bootstrap;
mod canary;
mod faults;
mod hotfix;
mod launcher;
mod preflight;
mod processes;
mod reboots;
mod registry;
mod render;
mod stops;
mod verdicts;
