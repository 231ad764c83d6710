//! Errors of authentication.

use std::path::PathBuf;

use super::Credential;

/// Reason for a missing token. Quoted messages are redacted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    #[error(
        "invalid AZURE_TOKEN_CREDENTIALS value {0}: use dev, prod, EnvironmentCredential, WorkloadIdentityCredential, ManagedIdentityCredential or AzureCliCredential"
    )]
    UnknownCredential(String),
    #[error("{variable} is not set; {credential} requires it")]
    Missing { credential: Credential, variable: &'static str },
    #[error("AZURE_CA_CERTIFICATE: {}: {why}", path.display())]
    Certificates { path: PathBuf, why: String },
    #[error("AZURE_CLIENT_CERTIFICATE_PATH: {}: {why}", path.display())]
    ClientCertificate { path: PathBuf, why: String },
    #[error("failed to set up the HTTP client: {0}")]
    Setup(String),
    #[error("failed to get a token from Azure: {}", .0.iter().map(|(credential, why)| format!("{credential}: {why}")).collect::<Vec<_>>().join("; "))]
    AllFailed(Vec<(Credential, String)>),
}
