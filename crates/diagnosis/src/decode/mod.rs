//! Bootstrap messages and their exit codes.

pub(crate) mod decoded;
pub(crate) mod decoded_message;
mod inferred_codes;
mod interpret;
pub(crate) mod merge;
pub(crate) mod messages;
