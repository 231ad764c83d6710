//! Kinds of errors.

use std::time::Duration;

use super::refusal::Refusal;
use crate::identity::IdentityError;
use crate::world::TransportError;

/// What a call waits for until Azure accepts more requests.
pub(crate) const BUDGET: &str = "the request budget";

#[derive(Debug)]
pub enum ErrorKind {
    NotFound(Refusal),
    /// 401: the token was not accepted.
    Unauthorized(Refusal),
    Forbidden(Refusal),
    /// 409: usually another operation is running on the same resource.
    Conflict(Refusal),
    /// 409 `ScopeLocked`: a resource lock blocks the call.
    Locked(Refusal),
    /// 412: `If-Match` or `If-None-Match` did not hold.
    PreconditionFailed(Refusal),
    /// 429 after all attempts.
    Throttled {
        refusal: Refusal,
        retry_after: Option<Duration>,
    },
    /// Any other 4xx: bad request, quota, policy.
    Refused(Refusal),
    /// 5xx or 408 after all attempts, or an unexpected status.
    Server(Refusal),
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
