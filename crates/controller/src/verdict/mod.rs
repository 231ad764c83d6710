//! Verdicts on a NodeClaim, from the result of a read.

mod evaluation;
pub mod event;
pub mod patch;

pub use evaluation::{NO_EXTENSION_AFTER_SECONDS, evaluate, evaluate_event, hints};
