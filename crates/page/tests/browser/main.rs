//! The live page in Chromium, with snapshots that the tests publish.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::format_collect,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests fail by panicking, and a real program is waited for"
)]

#[allow(dead_code, reason = "not every snapshot is used here")]
#[path = "../common/fixture.rs"]
mod fixture;
mod hidden;
mod hostile;
mod keyboard;
mod large;
mod server;
mod streams;
mod updates;

use mooring_page::{PageMode, Snapshot};
