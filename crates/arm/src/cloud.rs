//! Endpoints of Azure: the public cloud, a sovereign cloud, or a custom one.

use std::path::PathBuf;

use url::Url;

use crate::path::ArmPath;

const ENDPOINT: &str = "AZURE_RESOURCE_MANAGER_ENDPOINT";
const AUDIENCE: &str = "AZURE_RESOURCE_MANAGER_AUDIENCE";
const AUTHORITY: &str = "AZURE_AUTHORITY_HOST";
const CA: &str = "AZURE_CA_CERTIFICATE";

/// Scope of tokens for the Kubernetes API of AKS clusters: the AKS server application, in every cloud.
const AKS_SCOPE: &str = "6dae42f8-4368-4678-94ff-3960e28e3630/.default";

/// Resource manager and sign-in endpoints of the known clouds.
const KNOWN_CLOUDS: [(&str, &str); 3] = [
    ("https://management.azure.com/", "https://login.microsoftonline.com/"),
    ("https://management.usgovcloudapi.net/", "https://login.microsoftonline.us/"),
    ("https://management.chinacloudapi.cn/", "https://login.chinacloudapi.cn/"),
];

/// Settings of the cloud from flags or the environment. The default is the public cloud.
#[derive(Debug, Clone, Default)]
pub struct CloudSettings {
    /// `AZURE_RESOURCE_MANAGER_ENDPOINT`.
    pub endpoint: Option<String>,
    /// `AZURE_AUTHORITY_HOST`; the default depends on the endpoint.
    pub authority: Option<String>,
    /// `AZURE_RESOURCE_MANAGER_AUDIENCE`; the default is the endpoint.
    pub audience: Option<String>,
    /// `AZURE_CA_CERTIFICATE`: a PEM file with additional trusted certificates.
    pub ca: Option<PathBuf>,
}

impl CloudSettings {
    pub fn from_env() -> Self {
        let value = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            endpoint: value(ENDPOINT),
            authority: value(AUTHORITY),
            audience: value(AUDIENCE),
            ca: std::env::var_os(CA).filter(|value| !value.is_empty()).map(PathBuf::from),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cloud {
    endpoint: Url,
    authority: Url,
    audience: String,
    ca: Option<PathBuf>,
}

impl Cloud {
    pub fn new(settings: CloudSettings) -> Result<Self, CloudError> {
        let endpoint = origin(ENDPOINT, settings.endpoint.as_deref().unwrap_or(KNOWN_CLOUDS[0].0))?;
        let known = KNOWN_CLOUDS.iter().find(|(known, _)| *known == endpoint.as_str());
        let known = known.map(|(_, authority)| *authority);
        let Some(authority) = settings.authority.as_deref().or(known) else {
            return Err(CloudError::NoAuthority { endpoint: endpoint.to_string() });
        };
        let authority = origin(AUTHORITY, authority)?;
        let audience = settings.audience.as_deref().unwrap_or(endpoint.as_str());
        let audience = audience.trim_end_matches('/').to_owned();
        if audience.is_empty() || audience.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(CloudError::Audience);
        }
        Ok(Self { endpoint, authority, audience, ca: settings.ca })
    }

    /// Returns the URL of the resource manager, with a trailing slash.
    pub fn endpoint(&self) -> &Url {
        &self.endpoint
    }

    /// Returns the sign-in URL, with a trailing slash.
    pub fn authority(&self) -> &Url {
        &self.authority
    }

    pub fn ca(&self) -> Option<&std::path::Path> {
        self.ca.as_deref()
    }

    /// Returns the scope of tokens for the resource manager.
    pub fn scope(&self) -> String {
        format!("{}/.default", self.audience)
    }

    /// Returns the scope of tokens for the Kubernetes API of AKS clusters with Entra sign-in.
    pub fn aks_scope(&self) -> String {
        AKS_SCOPE.to_owned()
    }

    /// Returns path and query of a link from Azure if it leads to this cloud: no other host may receive a token.
    pub(crate) fn own_link(&self, link: &str) -> Result<ArmPath, ForeignLink> {
        let invalid = || ForeignLink("an invalid URL".to_owned());
        let url = self.endpoint.join(link).map_err(|_| invalid())?;
        let has_user = !url.username().is_empty() || url.password().is_some();
        if url.origin() != self.endpoint.origin() || has_user {
            let origin = url.origin().ascii_serialization();
            return Err(ForeignLink(crate::text::safe(&origin)));
        }
        let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
        ArmPath::parse(target).map_err(|_| invalid())
    }
}

/// The origin of a link to another host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForeignLink(pub(crate) String);

/// Parses an HTTPS URL without path, query or user.
fn origin(variable: &'static str, text: &str) -> Result<Url, CloudError> {
    let wrong = |why| CloudError::Address { variable, why };
    let url = Url::parse(text.trim()).map_err(|_| wrong("is not a URL"))?;
    if url.scheme() != "https" {
        return Err(wrong("must start with https://, because it receives tokens"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("must not contain a user name or password"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("has no host"));
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("must not have a path or query"));
    }
    Ok(url)
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CloudError {
    #[error("{variable} {why}")]
    Address { variable: &'static str, why: &'static str },
    #[error("AZURE_AUTHORITY_HOST is not set, and the sign-in endpoint of {endpoint} is unknown")]
    NoAuthority { endpoint: String },
    #[error("AZURE_RESOURCE_MANAGER_AUDIENCE is empty or contains spaces")]
    Audience,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud(endpoint: &str, authority: &str) -> Result<Cloud, CloudError> {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Cloud::new(CloudSettings {
            endpoint: some(endpoint),
            authority: some(authority),
            ..CloudSettings::default()
        })
    }

    #[test]
    fn cluster_tokens_use_the_aks_server_application() {
        let cloud = cloud("https://management.usgovcloudapi.net", "").unwrap();
        assert_eq!(cloud.aks_scope(), "6dae42f8-4368-4678-94ff-3960e28e3630/.default");
    }

    #[test]
    fn known_endpoint_determines_the_sign_in_url() {
        for (endpoint, authority, scope) in [
            ("", "https://login.microsoftonline.com/", "https://management.azure.com/.default"),
            (
                "https://management.usgovcloudapi.net",
                "https://login.microsoftonline.us/",
                "https://management.usgovcloudapi.net/.default",
            ),
            (
                "https://management.chinacloudapi.cn/",
                "https://login.chinacloudapi.cn/",
                "https://management.chinacloudapi.cn/.default",
            ),
        ] {
            let cloud = cloud(endpoint, "").unwrap();
            assert_eq!((cloud.authority().as_str(), cloud.scope().as_str()), (authority, scope));
        }
    }

    #[test]
    fn rejected_url_error_names_its_variable() {
        for (endpoint, authority, message) in [
            (
                "http://127.0.0.1:1",
                "https://a",
                "AZURE_RESOURCE_MANAGER_ENDPOINT must start with https://, because it receives tokens",
            ),
            ("nonsense", "https://a", "AZURE_RESOURCE_MANAGER_ENDPOINT is not a URL"),
            (
                "https://u:p@a",
                "https://a",
                "AZURE_RESOURCE_MANAGER_ENDPOINT must not contain a user name or password",
            ),
            (
                "https://a",
                "http://b",
                "AZURE_AUTHORITY_HOST must start with https://, because it receives tokens",
            ),
        ] {
            assert_eq!(cloud(endpoint, authority).unwrap_err().to_string(), message);
        }
        for (parts, why) in [
            (["https://u@a", "https://:p@a", "https://u:p@a"], "contain a user name or password"),
            (["https://a/b", "https://a?b", "https://a#b"], "have a path or query"),
        ] {
            for authority in parts {
                let error = cloud("", authority).unwrap_err().to_string();
                assert_eq!(error, format!("AZURE_AUTHORITY_HOST must not {why}"), "{authority}");
            }
        }
        assert!(
            cloud("https://127.0.0.1:1", "")
                .unwrap_err()
                .to_string()
                .contains("AZURE_AUTHORITY_HOST")
        );
    }

    #[test]
    fn links_to_other_origins_are_rejected() {
        let cloud = cloud("https://127.0.0.1:8443", "https://127.0.0.1:8443").unwrap();
        for (link, target) in
            [("https://127.0.0.1:8443/a/b?c=d%20e#f", "/a/b?c=d%20e"), ("/a?b=c d", "/a?b=c%20d")]
        {
            assert_eq!(cloud.own_link(link).unwrap().as_str(), target);
        }
        for foreign in [
            "https://127.0.0.1/a",
            "http://127.0.0.1:8443/a",
            "https://evil/a",
            "//evil/a",
            "https://x@127.0.0.1:8443/a",
            "https://:x@127.0.0.1:8443/a",
            "/\\evil/a",
            "https://127.0.0.1:8443//evil/a",
            "https://127.0.0.1:8443/\\evil/a",
            "https://127.0.0.1:8443@evil/a",
            "https://127.0.0.1:8443.evil/a",
            "\thttps://evil/a",
            "ht\ntps://evil/a",
            "/a/%2e%2e%2fb",
            "data:x",
        ] {
            assert!(cloud.own_link(foreign).is_err(), "{foreign}");
        }
    }
}
