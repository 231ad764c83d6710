//! Messages of bootstraps, and the exit code of each.

pub(crate) mod decoded;
pub(crate) mod decoded_message;
mod implied;
mod interpret;
pub(crate) mod merge;
pub(crate) mod messages;
