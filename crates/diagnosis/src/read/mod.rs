//! The facts of a text: what is written around an anchor, and which facts belong to one message.

mod codes;
pub(crate) mod extension;
pub(crate) mod facts;
pub(crate) mod message;
pub(crate) mod reading;
pub(crate) mod report;
mod sentences;
mod status;
mod surroundings;
mod wrappers;
