//! Errors of calls.

mod call_error;
mod kind;
mod refusal;

pub use call_error::{CallInfo, Error, WriteStatus};
pub(crate) use kind::BUDGET;
pub use kind::ErrorKind;
pub use refusal::{AzureError, MissingPermission};
