//! Authentication to Azure: selection and order of credentials, tokens.

mod certificate;
mod chain;

use std::fmt;
use std::path::PathBuf;

use jiff::Timestamp;
use mooring_redact::Secret;

pub use chain::Chain;

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

#[derive(Debug, Clone, Default)]
pub struct IdentitySettings {
    /// `AZURE_TENANT_ID`.
    pub tenant: Option<String>,
    /// `AZURE_CLIENT_ID`.
    pub client: Option<String>,
    /// `AZURE_CLIENT_SECRET`.
    pub secret: Option<Secret>,
    /// `AZURE_CLIENT_CERTIFICATE_PATH`.
    pub certificate: Option<PathBuf>,
    /// `IDENTITY_HEADER`, the secret of the App Service identity endpoint.
    pub header: Option<Secret>,
    /// `AZURE_FEDERATED_TOKEN_FILE`.
    pub token_file: Option<PathBuf>,
    /// `AZURE_TOKEN_CREDENTIALS`: `dev`, `prod`, or a credential's name.
    pub credentials: Option<String>,
}

impl IdentitySettings {
    pub fn from_env() -> Self {
        let value = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        Self {
            tenant: value("AZURE_TENANT_ID"),
            client: value("AZURE_CLIENT_ID"),
            secret: value("AZURE_CLIENT_SECRET").map(Secret::from),
            certificate: value("AZURE_CLIENT_CERTIFICATE_PATH").map(PathBuf::from),
            header: value("IDENTITY_HEADER").map(Secret::from),
            token_file: value("AZURE_FEDERATED_TOKEN_FILE").map(PathBuf::from),
            credentials: value("AZURE_TOKEN_CREDENTIALS"),
        }
    }

    /// Returns true if a credential is named or configured, so that no other is tried.
    pub const fn is_configured(&self) -> bool {
        self.secret.is_some()
            || self.certificate.is_some()
            || self.token_file.is_some()
            || self.credentials.is_some()
    }

    /// Returns the credentials to try, in order. An explicitly configured credential is used alone; otherwise the
    /// managed identity is tried, then the user who is signed in to `az`.
    pub fn choose(&self) -> Result<Vec<Credential>, IdentityError> {
        use Credential::{
            AzureCli, ClientCertificate, ClientSecret, ManagedIdentity, WorkloadIdentity,
        };
        let has_certificate = self.secret.is_none() && self.certificate.is_some();
        let principal = if has_certificate { ClientCertificate } else { ClientSecret };
        let production = if self.secret.is_some() || has_certificate {
            principal
        } else if self.token_file.is_some() {
            WorkloadIdentity
        } else {
            ManagedIdentity
        };
        let Some(named) = &self.credentials else {
            return Ok(match production {
                ManagedIdentity => vec![ManagedIdentity, AzureCli],
                configured => vec![configured],
            });
        };
        Ok(vec![match named.trim().to_ascii_lowercase().as_str() {
            "prod" => production,
            "environmentcredential" => principal,
            "clientsecretcredential" => ClientSecret,
            "workloadidentitycredential" => WorkloadIdentity,
            "managedidentitycredential" => ManagedIdentity,
            "dev" | "azureclicredential" => AzureCli,
            _ => return Err(IdentityError::UnknownCredential(mooring_redact::identifier(named))),
        }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Credential::{
        AzureCli, ClientCertificate, ClientSecret, ManagedIdentity, WorkloadIdentity,
    };

    fn settings(secret: bool, file: bool, credentials: &str) -> IdentitySettings {
        IdentitySettings {
            secret: secret.then(|| Secret::from("hunter2")),
            token_file: file.then(|| PathBuf::from("/var/run/token")),
            credentials: (!credentials.is_empty()).then(|| credentials.to_owned()),
            ..IdentitySettings::default()
        }
    }

    #[test]
    fn configured_credential_is_a_secret_a_file_or_a_name() {
        assert!(!settings(false, false, "").is_configured());
        assert!(settings(true, false, "").is_configured());
        assert!(settings(false, true, "").is_configured());
        assert!(settings(false, false, "dev").is_configured());
    }

    #[test]
    fn order_is_secret_workload_identity_managed_identity_cli() {
        for (secret, file, named, chosen) in [
            (true, true, "", vec![ClientSecret]),
            (false, true, "", vec![WorkloadIdentity]),
            (false, false, "", vec![ManagedIdentity, AzureCli]),
            (true, true, "dev", vec![AzureCli]),
            (true, true, "prod", vec![ClientSecret]),
            (false, true, "PROD", vec![WorkloadIdentity]),
            (false, false, "prod", vec![ManagedIdentity]),
            (true, false, "ManagedIdentityCredential", vec![ManagedIdentity]),
            (true, false, "AzureCLICredential", vec![AzureCli]),
            (false, false, "EnvironmentCredential", vec![ClientSecret]),
        ] {
            assert_eq!(
                settings(secret, file, named).choose().unwrap(),
                chosen,
                "{secret} {file} {named}"
            );
        }
    }

    #[test]
    fn certificate_comes_after_the_secret() {
        let chosen = |secret, file, named| {
            let certificate = Some(PathBuf::from("/c.pem"));
            IdentitySettings { certificate, ..settings(secret, file, named) }.choose().unwrap()
        };
        assert_eq!(chosen(true, true, ""), [ClientSecret]);
        for named in ["", "prod", "EnvironmentCredential"] {
            assert_eq!(chosen(false, true, named), [ClientCertificate], "{named}");
        }
        assert_eq!(chosen(false, false, "dev"), [AzureCli]);
    }

    #[test]
    fn unknown_credential_error_lists_valid_names() {
        let error = settings(false, false, "visualstudio").choose().unwrap_err().to_string();
        assert!(
            error.starts_with("invalid AZURE_TOKEN_CREDENTIALS value visualstudio: use dev, prod"),
            "{error}"
        );
    }

    #[test]
    fn debug_output_contains_no_secret() {
        assert!(!format!("{:?}", settings(true, true, "")).contains("hunter2"));
    }
}
