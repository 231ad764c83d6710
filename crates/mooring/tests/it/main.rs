//! Tests of commands with the built binary, without other tools.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

#[path = "../common/mod.rs"]
mod common;

mod advice;
mod bundle;
mod bundle_node;
mod codes;
mod context;
mod controller;
mod doctor;
mod documents;
mod exit_codes;
mod explain;
mod explain_cluster;
mod formats;
mod help;
mod hostile;
mod repair;
mod screens;
mod shipped;
mod trace;
mod ui;
mod unresponsive;
mod watch;
