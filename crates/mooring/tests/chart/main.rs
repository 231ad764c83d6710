//! What charts/mooring promises, as the real Helm renders it. `cargo xtask test` installs that Helm; without it the tests
//! that need it say SKIPPED.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, says what it skips, and sees the real disk"
)]

mod accepted;
mod helm;
mod measured;
mod rendered;
