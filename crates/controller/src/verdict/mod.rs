//! Verdicts on a NodeClaim, from the result of a read.

pub mod advice;
pub mod condition;
mod evaluation;
pub mod event;
pub mod failure;
mod finding;
pub mod messages;
pub mod patch;
pub mod registration;
mod time;

pub(crate) use self::time::after;
pub use self::time::seconds;
pub use evaluation::{NO_EXTENSION_AFTER_SECONDS, evaluate, evaluate_event, hints};
pub use finding::{Finding, Verdict};
