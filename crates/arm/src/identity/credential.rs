//! Types of credentials.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A service principal with a secret, from the environment.
    ClientSecret,
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
            Self::WorkloadIdentity => "workload identity",
            Self::ManagedIdentity => "managed identity",
            Self::AzureCli => "Azure CLI",
        })
    }
}
