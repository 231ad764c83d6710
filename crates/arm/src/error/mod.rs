//! Errors of calls.

mod azure_error;
mod call_error;
mod kind;

pub use azure_error::{AzureError, MissingPermission};
pub use call_error::{CallInfo, Error, WriteStatus};
pub(crate) use kind::BUDGET;
pub use kind::ErrorKind;
