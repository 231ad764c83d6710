//! Azure and its cluster together, under virtual time.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod endpoints;
mod karpenter;
mod patience;
mod recorded;
mod scenarios;
mod shell;
mod support;
