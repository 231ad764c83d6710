//! Behavior of the models, mostly under virtual time.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and sees the real disk"
)]

mod azure;
mod live_patching;
mod world;
