//! Verdicts on nodes: reasons of conditions, failures, their texts, and nodes that did not register.

pub mod condition;
pub mod failure;
mod finding;
pub mod messages;
pub mod registration;
mod time;

pub use self::time::{after, seconds};
pub use finding::{Finding, Verdict};
