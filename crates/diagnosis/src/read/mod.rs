//! Facts around anchors, and their assignment to messages.

mod codes;
mod context;
mod envelopes;
pub(crate) mod extension;
pub(crate) mod facts;
pub(crate) mod message;
pub(crate) mod reading;
pub(crate) mod report;
mod sentences;
mod status;
