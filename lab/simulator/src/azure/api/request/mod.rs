//! Parsed requests and responses.

mod call;
mod error;
mod path;
mod reply;
pub(crate) mod versions;

pub(crate) use call::{ArmCall, ArmResult};
pub(crate) use error::ArmError;
pub(crate) use path::ArmPath;
pub(crate) use reply::Reply;
