//! The repair's decisions in a model of Azure and Kubernetes, in virtual time.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test may fail loudly"
)]

#[allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "the model is shared with another test"
)]
#[path = "../fake/mod.rs"]
mod fake;

mod beginnings;
mod drains;
mod former_names;
mod history;
mod promises;
mod rechecks;
mod recoveries;
mod resumptions;
