//! The models, verified by independent clients over TLS on loopback.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and sees the real disk"
)]

mod clients;
mod oracles;
