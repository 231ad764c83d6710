//! Node configs, custom data and reports.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod contract_table;
mod cse_status;
mod custom_data;
mod node_config;
