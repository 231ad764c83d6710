//! Why there is no token.

use std::path::PathBuf;

use super::Credential;

/// Why there is no token. What others say in it was searched for secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// A setting that names no credential.
    #[error(
        "AZURE_TOKEN_CREDENTIALS is {0}: it must be dev, prod, or the name of a credential (EnvironmentCredential, WorkloadIdentityCredential, ManagedIdentityCredential, AzureCliCredential)"
    )]
    UnknownCredential(String),
    /// A credential lacks a setting.
    #[error("{credential} needs {variable}, which is not set")]
    Missing { credential: Credential, variable: &'static str },
    /// The file of further certificates cannot be used.
    #[error("AZURE_CA_CERTIFICATE: {}: {why}", path.display())]
    Certificates { path: PathBuf, why: String },
    /// No network client could be made.
    #[error("cannot prepare the network: {0}")]
    Setup(String),
    /// Every credential that was asked failed.
    #[error("no token from Azure: {}", .0.iter().map(|(credential, why)| format!("{credential}: {why}")).collect::<Vec<_>>().join("; "))]
    AllFailed(Vec<(Credential, String)>),
}
