//! Types of credentials, and their tokens.

use std::fmt;

use jiff::Timestamp;
use mooring_redact::Secret;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A service principal with a secret, from the environment.
    ClientSecret,
    /// A service principal with a certificate, from the environment.
    ClientCertificate,
    /// A Kubernetes service account, federated.
    WorkloadIdentity,
    /// The identity of the VM, pod or app service.
    ManagedIdentity,
    /// The user who is signed in to `az`.
    AzureCli,
}

impl fmt::Display for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClientSecret => "client secret",
            Self::ClientCertificate => "client certificate",
            Self::WorkloadIdentity => "workload identity",
            Self::ManagedIdentity => "managed identity",
            Self::AzureCli => "Azure CLI",
        })
    }
}

/// A token for a scope.
#[derive(Debug, Clone)]
pub struct Token {
    pub secret: Secret,
    pub expires: Timestamp,
    /// The credential that it is from, if it is known.
    pub credential: Option<Credential>,
}
