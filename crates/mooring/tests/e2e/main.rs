//! End-to-end tests: Helm, browser, demo, and workflows against servers.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

#[path = "../common/mod.rs"]
mod common;

mod chart;
mod documents;
mod finalizers;
mod live_page;
mod pages;
mod pipeline;
mod repair;
mod scale;
mod terminal;
mod unread;
