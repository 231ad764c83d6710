//! Parsed requests and responses.

mod call;
mod error;
mod path;
pub(crate) mod versions;

pub(crate) use call::{ArmCall, ArmResult};
pub(crate) use error::{ArmError, Reply};
pub(crate) use path::ArmPath;
