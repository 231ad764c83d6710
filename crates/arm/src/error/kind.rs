//! Kinds of errors.

use std::time::Duration;

use super::azure_error::AzureError;
use crate::identity::IdentityError;
use crate::world::TransportError;

/// What a call waits for until Azure accepts more requests.
pub(crate) const BUDGET: &str = "the request budget";

#[derive(Debug)]
pub enum ErrorKind {
    NotFound(AzureError),
    /// 401: the token was not accepted.
    Unauthorized(AzureError),
    Forbidden(AzureError),
    /// 409: usually another operation is running on the same resource.
    Conflict(AzureError),
    /// 409 `ScopeLocked`: a resource lock blocks the call.
    Locked(AzureError),
    /// 412: `If-Match` or `If-None-Match` did not hold.
    PreconditionFailed(AzureError),
    /// 429 after all attempts.
    Throttled {
        refusal: AzureError,
        retry_after: Option<Duration>,
    },
    /// Any other 4xx: bad request, quota, policy.
    Refused(AzureError),
    /// 5xx or 408 after all attempts, or an unexpected status.
    Server(AzureError),
    /// No response, or an incomplete one.
    Transport(TransportError),
    /// The deadline passed while waiting for this, such as the request budget.
    Deadline(&'static str),
    Identity(IdentityError),
    BudgetFull,
    /// A response without required content.
    Malformed(String),
    /// A link to another host, to which no token is sent.
    ForeignLink(String),
    /// A call that cannot be sent.
    Invalid(String),
}
