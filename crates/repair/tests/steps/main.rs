//! Decisions of the repair in a model of Azure and Kubernetes, in virtual time.
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

mod drains;
mod external_changes;
mod former_names;
mod guarantees;
mod history;
mod plan_checks;
mod resumptions;
mod revalidation;
mod start;
