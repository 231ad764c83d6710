//! Messages of conditions and events.

mod failure_texts;
mod failures;
mod fixed_texts;
#[cfg(test)]
mod tests;

pub use failure_texts::{MAX_MESSAGE_BYTES, MAX_NOTE_BYTES, condition, note};
pub use failures::{failure, out_of_time, silent_failure};
pub use fixed_texts::{
    IDLE, NO_EXTENSION, NO_REPORT_ON_NODE, NOT_CREATED, REGISTERED, RUNNING, SUCCEEDED, VM_GONE,
    access_denied,
};
