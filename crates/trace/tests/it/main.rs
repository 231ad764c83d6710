//! Tests of timelines and of all formats.
#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod contrast;
mod formats;
mod golden;
mod nodes;
mod reports;
mod support;
