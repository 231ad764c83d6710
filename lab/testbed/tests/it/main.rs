//! Browsers and real API servers.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test fails by panicking")]

mod browser;
mod real_cluster;
