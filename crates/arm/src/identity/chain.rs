//! Selected credentials, tried in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use azure_core::cloud::{CloudConfiguration, CustomConfiguration};
use azure_core::credentials::TokenCredential;
use azure_core::http::{ClientOptions, RetryOptions, Transport};
use azure_identity::{
    AzureCliCredential, AzureCliCredentialOptions, ClientAssertionCredential,
    ClientAssertionCredentialOptions, ClientSecretCredential, ClientSecretCredentialOptions,
    ManagedIdentityCredential, ManagedIdentityCredentialOptions, UserAssignedId,
    WorkloadIdentityCredential, WorkloadIdentityCredentialOptions,
};
use jiff::Timestamp;
use mooring_redact::Secret;

use super::certificate::ClientCertificate;
use super::{Credential, IdentityError, IdentitySettings, Token};
use crate::cloud::Cloud;
use crate::text::safe;

/// Timeout of the only credential.
const SINGLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout of the last of several credentials: all together take less than ten seconds.
const LAST_TIMEOUT: Duration = Duration::from_secs(8);
/// Timeout of a credential that is followed by others. Without a metadata service, requests to its address get no
/// response; with one, the response is immediate.
const CHAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Credentials in the order in which they are tried. The first that returned a token is tried first from then on.
#[derive(Debug)]
pub struct Chain {
    links: Vec<(Credential, Arc<dyn TokenCredential>)>,
    good: AtomicUsize,
    /// Redacted in every error.
    secrets: Vec<Secret>,
}

impl Chain {
    pub(crate) fn new(
        cloud: &Cloud,
        settings: &IdentitySettings,
        sign_in: &reqwest::Client,
        metadata: &reqwest::Client,
    ) -> Result<Self, IdentityError> {
        let chosen = settings.choose()?;
        let alone = chosen.len() == 1;
        let mut links = Vec::new();
        for credential in chosen {
            let transport = match credential {
                Credential::ManagedIdentity => metadata.clone(),
                _ => sign_in.clone(),
            };
            let options = options(cloud, transport, alone);
            links.push((credential, create(credential, cloud, settings, options)?));
        }
        Ok(Self {
            links,
            good: AtomicUsize::new(0),
            secrets: settings.secret.iter().chain(&settings.header).cloned().collect(),
        })
    }

    pub(crate) async fn token(&self, scope: &str) -> Result<Token, IdentityError> {
        let good = self.good.load(Ordering::Relaxed);
        let mut failures = Vec::new();
        for turn in 0..self.links.len() {
            let at = (good + turn) % self.links.len();
            let (credential, link) = &self.links[at];
            let last = turn + 1 == self.links.len();
            let timeout = match (last, self.links.len()) {
                (_, 1) => SINGLE_TIMEOUT,
                (true, _) => LAST_TIMEOUT,
                (false, _) => CHAIN_TIMEOUT,
            };
            match tokio::time::timeout(timeout, link.get_token(&[scope], None)).await {
                Ok(Ok(token)) => {
                    self.good.store(at, Ordering::Relaxed);
                    let expires = Timestamp::from_second(token.expires_on.unix_timestamp());
                    return Ok(Token {
                        secret: Secret::from(token.token.secret()),
                        expires: expires.unwrap_or(Timestamp::MAX),
                        credential: Some(*credential),
                    });
                }
                Ok(Err(error)) => failures.push((*credential, self.describe(&error))),
                Err(_) => failures
                    .push((*credential, format!("no response within {}s", timeout.as_secs()))),
            }
        }
        Err(IdentityError::AllFailed(failures))
    }

    /// Formats an error. It may quote a response of Entra, the identity service or `az`, so our secrets and likely
    /// other secrets are redacted.
    fn describe(&self, error: &azure_core::Error) -> String {
        let mut text = error.to_string();
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !text.contains(&cause_text) {
                text.push_str(": ");
                text.push_str(&cause_text);
            }
            source = cause.source();
        }
        for secret in self.secrets.iter().filter(|secret| !secret.is_empty()) {
            text = text.replace(secret.expose(), mooring_redact::MASK);
        }
        safe(&text)
    }
}

fn options(cloud: &Cloud, client: reqwest::Client, alone: bool) -> ClientOptions {
    let mut custom = CustomConfiguration::default();
    custom.authority_host = cloud.authority().to_string();
    ClientOptions {
        transport: Some(Transport::new(Arc::new(client))),
        cloud: Some(Arc::new(CloudConfiguration::Custom(custom))),
        // In a chain the next credential is the retry.
        retry: if alone { RetryOptions::default() } else { RetryOptions::none() },
        ..ClientOptions::default()
    }
}

fn create(
    credential: Credential,
    cloud: &Cloud,
    settings: &IdentitySettings,
    client_options: ClientOptions,
) -> Result<Arc<dyn TokenCredential>, IdentityError> {
    let missing = |variable| IdentityError::Missing { credential, variable };
    let tenant = || settings.tenant.clone().ok_or(missing("AZURE_TENANT_ID"));
    let client = || settings.client.clone().ok_or(missing("AZURE_CLIENT_ID"));
    let failed = |error: azure_core::Error| {
        IdentityError::AllFailed(vec![(credential, safe(&error.to_string()))])
    };
    Ok(match credential {
        Credential::ClientSecret => {
            let secret = settings.secret.as_ref().ok_or(missing("AZURE_CLIENT_SECRET"))?;
            ClientSecretCredential::new(
                &tenant()?,
                client()?,
                azure_core::credentials::Secret::new(secret.expose().to_owned()),
                Some(ClientSecretCredentialOptions { client_options }),
            )
            .map_err(failed)?
        }
        Credential::ClientCertificate => {
            let path = settings.certificate.as_deref();
            let path = path.ok_or(missing("AZURE_CLIENT_CERTIFICATE_PATH"))?;
            let (tenant, client) = (tenant()?, client()?);
            let authority = cloud.authority().as_str().trim_end_matches('/');
            let audience = format!("{authority}/{tenant}/oauth2/v2.0/token");
            let certificate = ClientCertificate::read(path, client.clone(), audience)?;
            let options = ClientAssertionCredentialOptions { client_options };
            ClientAssertionCredential::new(tenant, client, certificate, Some(options))
                .map_err(failed)?
        }
        Credential::WorkloadIdentity => {
            let token_file = settings.token_file.clone();
            let token_file = token_file.ok_or(missing("AZURE_FEDERATED_TOKEN_FILE"))?;
            WorkloadIdentityCredential::new(Some(WorkloadIdentityCredentialOptions {
                credential_options: ClientAssertionCredentialOptions { client_options },
                client_id: Some(client()?),
                tenant_id: Some(tenant()?),
                token_file_path: Some(token_file),
            }))
            .map_err(failed)?
        }
        Credential::ManagedIdentity => {
            ManagedIdentityCredential::new(Some(ManagedIdentityCredentialOptions {
                user_assigned_id: settings.client.clone().map(UserAssignedId::ClientId),
                client_options,
            }))
            .map_err(failed)?
        }
        Credential::AzureCli => AzureCliCredential::new(Some(AzureCliCredentialOptions {
            tenant_id: settings.tenant.clone(),
            ..AzureCliCredentialOptions::default()
        }))
        .map_err(failed)?,
    })
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use azure_core::credentials::{AccessToken, TokenRequestOptions};
    use azure_core::time::OffsetDateTime;

    use super::*;

    /// A credential that fails, succeeds or never responds, and counts its requests.
    #[derive(Debug)]
    struct Fake {
        fails: bool,
        hangs: bool,
        requests: AtomicUsize,
    }

    impl TokenCredential for Fake {
        fn get_token<'a, 'b, 'c, 'd, 'e>(
            &'a self,
            _: &'b [&'c str],
            _: Option<TokenRequestOptions<'d>>,
        ) -> Pin<Box<dyn Future<Output = azure_core::Result<AccessToken>> + Send + 'e>>
        where
            'a: 'e,
            'b: 'e,
            'c: 'e,
            'd: 'e,
        {
            self.requests.fetch_add(1, Ordering::Relaxed);
            let result = if self.fails {
                let kind = azure_core::error::ErrorKind::Credential;
                Err(azure_core::Error::with_message(kind, "not signed in"))
            } else {
                Ok(AccessToken::new("token", OffsetDateTime::UNIX_EPOCH))
            };
            let hangs = self.hangs;
            Box::pin(async move {
                if hangs {
                    std::future::pending::<()>().await;
                }
                result
            })
        }
    }

    #[tokio::test]
    async fn successful_credential_is_tried_first() {
        let [failing, working] = [true, false]
            .map(|fails| Arc::new(Fake { fails, hangs: false, requests: AtomicUsize::new(0) }));
        let chain = Chain {
            links: vec![
                (Credential::WorkloadIdentity, Arc::<Fake>::clone(&failing)),
                (Credential::AzureCli, Arc::<Fake>::clone(&working)),
            ],
            good: AtomicUsize::new(0),
            secrets: Vec::new(),
        };
        for requests in 1..=3 {
            chain.token("scope").await.unwrap();
            let counted = [&failing, &working].map(|fake| fake.requests.load(Ordering::Relaxed));
            assert_eq!(counted, [1, requests]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn several_credentials_take_less_than_ten_seconds() {
        let hanging = || -> Arc<dyn TokenCredential> {
            Arc::new(Fake { fails: false, hangs: true, requests: AtomicUsize::new(0) })
        };
        let start = tokio::time::Instant::now();
        let links =
            vec![(Credential::ManagedIdentity, hanging()), (Credential::AzureCli, hanging())];
        let chain = Chain { links, good: AtomicUsize::new(0), secrets: Vec::new() };
        let IdentityError::AllFailed(failures) = chain.token("scope").await.unwrap_err() else {
            panic!("another error");
        };
        let messages: Vec<&str> = failures.iter().map(|(_, why)| why.as_str()).collect();
        assert_eq!(messages, [1, 8].map(|seconds| format!("no response within {seconds}s")));
        assert_eq!(start.elapsed(), Duration::from_secs(9));
    }

    #[test]
    fn error_contains_each_cause_once_and_no_secret() {
        let secrets = ["", "hunter2"].map(Secret::from).to_vec();
        let chain = Chain { links: Vec::new(), good: AtomicUsize::new(0), secrets };
        for (message, text) in [
            ("no token for hunter2", "no token for [secret]: connection refused"),
            ("connection refused by host", "connection refused by host"),
        ] {
            let kind = azure_core::error::ErrorKind::Credential;
            let cause = std::io::Error::other("connection refused");
            assert_eq!(chain.describe(&azure_core::Error::with_error(kind, cause, message)), text);
        }
    }

    #[test]
    fn chain_with_several_credentials_is_not_retried() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let cloud = Cloud::new(crate::cloud::CloudSettings::default()).unwrap();
        for (alone, expected) in [(true, RetryOptions::default()), (false, RetryOptions::none())] {
            let options = options(&cloud, reqwest::Client::new(), alone);
            assert_eq!(format!("{:?}", options.retry), format!("{expected:?}"), "{alone}");
        }
    }

    #[test]
    fn azure_cli_signs_in_to_the_configured_tenant() {
        let settings =
            IdentitySettings { tenant: Some("tenant-1".to_owned()), ..IdentitySettings::default() };
        let cloud = Cloud::new(crate::cloud::CloudSettings::default()).unwrap();
        let cli =
            create(Credential::AzureCli, &cloud, &settings, ClientOptions::default()).unwrap();
        assert!(format!("{cli:?}").contains("tenant-1"), "{cli:?}");
    }
}
