//! Errors of calls.

mod azure_error;

use std::fmt;
use std::time::Duration;

use http::Method;

use crate::identity::IdentityError;
use crate::path::resource_id::ResourceIdError;
use crate::world::TransportError;

pub use azure_error::{AzureError, MissingPermission};

#[derive(Debug)]
pub struct Error {
    pub kind: ErrorKind,
    pub write_status: WriteStatus,
    pub call: Box<CallInfo>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallInfo {
    pub method: Method,
    /// Path without the query, which may contain a signature.
    pub path: String,
    /// `x-ms-correlation-request-id`, which identifies the call in Azure's logs.
    pub correlation_id: String,
    pub attempts: u32,
}

/// Effect of a failed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteStatus {
    /// The call was a read, was rejected or never sent.
    NotApplied,
    /// The response was lost or inconclusive. A conflict after such an attempt may be with our own earlier one, so
    /// callers read the resource before acting again.
    Unknown,
}

impl Error {
    pub fn refusal(&self) -> Option<&AzureError> {
        self.parts().1
    }

    pub fn is_not_found(&self) -> bool {
        matches!(self.kind, ErrorKind::NotFound(_))
    }

    /// Returns true if the call was throttled, by Azure or by the client's budget.
    pub fn is_throttled(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::Throttled { .. } | ErrorKind::BudgetFull | ErrorKind::Deadline(BUDGET)
        )
    }

    /// Returns the reason for labels and conditions.
    pub fn reason(&self) -> &'static str {
        self.parts().0
    }

    /// Returns the reason, and the error that Azure returned.
    fn parts(&self) -> (&'static str, Option<&AzureError>) {
        match &self.kind {
            ErrorKind::NotFound(refusal) => ("NotFound", Some(refusal)),
            ErrorKind::Unauthorized(refusal) => ("Unauthorized", Some(refusal)),
            ErrorKind::Forbidden(refusal) => ("Forbidden", Some(refusal)),
            ErrorKind::Conflict(refusal) => ("Conflict", Some(refusal)),
            ErrorKind::Locked(refusal) => ("Locked", Some(refusal)),
            ErrorKind::PreconditionFailed(refusal) => ("PreconditionFailed", Some(refusal)),
            ErrorKind::Throttled { refusal, .. } => ("Throttled", Some(refusal)),
            ErrorKind::Refused(refusal) => ("Refused", Some(refusal)),
            ErrorKind::Server(refusal) => ("ServerError", Some(refusal)),
            ErrorKind::Transport(_) => ("NoAnswer", None),
            ErrorKind::Deadline(_) => ("Deadline", None),
            ErrorKind::Identity(_) => ("NoToken", None),
            ErrorKind::BudgetFull => ("BudgetFull", None),
            ErrorKind::Malformed(_) => ("Malformed", None),
            ErrorKind::ForeignLink(_) => ("ForeignLink", None),
            ErrorKind::Invalid(_) => ("Invalid", None),
        }
    }

    /// Creates an error of a call that was not sent.
    pub(crate) fn invalid(method: Method, path: &str, why: impl Into<String>) -> Self {
        let call = CallInfo { method, path: path.to_owned(), ..CallInfo::default() };
        Self {
            kind: ErrorKind::Invalid(why.into()),
            write_status: WriteStatus::NotApplied,
            call: Box::new(call),
        }
    }

    /// Creates an error for an unexpected successful response.
    pub(crate) fn malformed(
        method: Method,
        path: &str,
        correlation_id: &str,
        what: impl Into<String>,
    ) -> Self {
        let mut error = Self::invalid(method, path, "");
        error.kind = ErrorKind::Malformed(what.into());
        error.call.attempts = 1;
        correlation_id.clone_into(&mut error.call.correlation_id);
        error
    }
}

impl From<ResourceIdError> for Error {
    fn from(error: ResourceIdError) -> Self {
        Self::invalid(Method::GET, "", error.to_string())
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::Transport(error) => write!(f, "{error}")?,
            ErrorKind::Deadline(waiting_for) => {
                write!(f, "timed out waiting for {waiting_for}")?;
            }
            ErrorKind::Identity(error) => write!(f, "{error}")?,
            ErrorKind::BudgetFull => {
                f.write_str("too many calls are waiting for the request budget")?;
            }
            ErrorKind::Malformed(what) => write!(f, "invalid response from Azure: {what}")?,
            ErrorKind::ForeignLink(origin) => {
                write!(f, "invalid response from Azure: link to another host, {origin}")?;
            }
            ErrorKind::Invalid(what) => f.write_str(what)?,
            _ => {
                if let Some(refusal) = self.refusal() {
                    write!(f, "{refusal}")?;
                }
            }
        }
        if self.call.path.is_empty() {
            return Ok(());
        }
        write!(f, " ({} {}", self.call.method, self.call.path)?;
        if self.call.attempts > 1 {
            write!(f, ", {} attempts", self.call.attempts)?;
        }
        if self.write_status == WriteStatus::Unknown {
            f.write_str(", may have been applied")?;
        }
        if !self.call.correlation_id.is_empty() {
            write!(f, ", correlation id {}", self.call.correlation_id)?;
        }
        f.write_str(")")
    }
}

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
