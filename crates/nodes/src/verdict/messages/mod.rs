//! Messages of conditions and events.

#[cfg(test)]
mod tests;
mod texts;

pub use texts::{
    IDLE, NO_EXTENSION, NO_REPORT_ON_NODE, NOT_CREATED, REGISTERED, RUNNING, SUCCEEDED, VM_GONE,
    access_denied,
};
pub use texts::{MAX_MESSAGE_BYTES, MAX_NOTE_BYTES, condition, note};
pub use texts::{failure, out_of_time, silent_failure};
