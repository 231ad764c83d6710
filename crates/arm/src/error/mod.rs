//! Errors of calls.

mod azure_error;
mod call_error;

pub use azure_error::{AzureError, MissingPermission};
pub(crate) use call_error::BUDGET;
pub use call_error::ErrorKind;
pub use call_error::{CallInfo, Error, WriteStatus};
