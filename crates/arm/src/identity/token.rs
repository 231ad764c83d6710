//! A token for a scope.

use jiff::Timestamp;
use mooring_redact::Secret;

use super::credential::Credential;

#[derive(Debug, Clone)]
pub struct Token {
    pub secret: Secret,
    pub expires: Timestamp,
    /// The credential that it is from, if it is known.
    pub credential: Option<Credential>,
}
