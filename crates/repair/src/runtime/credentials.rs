//! Credentials for the Kubernetes API.

use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use kube::config::Kubeconfig;
use mooring_arm::ResourceId;
use mooring_arm::calls::{Cluster, KubeconfigFormat};
use mooring_k8s::{Client, TokenSource, kubeconfig as kubeconfigs};

use super::api_access::{missing_credentials, network_restriction, refusal_hint};
use super::responses::no_cluster;

/// Source of credentials for the Kubernetes API. Never `KUBECONFIG`, which may be that of another cluster.
#[derive(Clone)]
pub enum CredentialSource {
    /// User credentials of the cluster from Azure.
    Azure,
    File(PathBuf),
    Given(Box<Client>),
}

/// The Kubernetes API cannot be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiUnavailable {
    Absent(String),
    Throttled(String),
    Failed(String),
}

impl ApiUnavailable {
    pub fn why(&self) -> &str {
        match self {
            Self::Absent(why) | Self::Throttled(why) | Self::Failed(why) => why,
        }
    }

    fn by_azure(error: &mooring_arm::Error) -> Self {
        let hint = refusal_hint(error).map(|hint| format!("; {hint}")).unwrap_or_default();
        let why = format!("cannot get cluster credentials: {error}{hint}");
        match error {
            _ if no_cluster(error) => Self::Absent(why),
            _ if error.is_throttled() => Self::Throttled(why),
            _ => Self::Failed(why),
        }
    }
}

impl From<String> for ApiUnavailable {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

/// Connects without a request to the Kubernetes API.
pub(crate) async fn connect(
    access: &CredentialSource,
    arm: &mooring_arm::Client,
    cluster: &ResourceId,
) -> Result<Client, ApiUnavailable> {
    match access {
        CredentialSource::Given(api) => Ok((**api).clone()),
        CredentialSource::File(path) => {
            let unusable = |error| format!("the kubeconfig {error}");
            let kubeconfig = kubeconfigs::read(path).map_err(unusable)?;
            let server = server(&kubeconfig);
            let named = |error| format!("{}: {error}", path.display());
            let client = kubeconfigs::client(kubeconfig).await.map_err(named);
            Ok(Client::new(client.map_err(unusable)?).at(server))
        }
        CredentialSource::Azure => {
            // Failed reads show when the credentials are requested.
            let read: Option<Cluster> = arm.cluster(cluster).await.ok();
            let properties = read.as_ref().map(|read| &read.properties);
            if let Some(why) = properties.and_then(missing_credentials) {
                return Err(ApiUnavailable::Failed(format!(
                    "the cluster {}: {why}",
                    cluster.name()
                )));
            }
            let obstacle = properties.and_then(network_restriction);
            let found = arm.user_credentials(cluster, Some(KubeconfigFormat::Exec)).await;
            let found = found.map_err(|error| ApiUnavailable::by_azure(&error))?;
            let yaml = found.first().map(|found| found.yaml.expose()).unwrap_or_default();
            let unreadable = |error| format!("the kubeconfig from Azure: {error}");
            let mut kubeconfig = kubeconfigs::parse(yaml).map_err(unreadable)?;
            let wants_token = keep_inline(&mut kubeconfig);
            let server = server(&kubeconfig);
            let client = kubeconfigs::client(kubeconfig).await.map_err(unreadable)?;
            let api = if wants_token {
                Client::signed(client, Arc::new(Entra(arm.clone())))
            } else {
                Client::new(client)
            };
            Ok(api.at(server).with_obstacle(obstacle))
        }
    }
}

/// Entra tokens for AKS.
struct Entra(mooring_arm::Client);

impl TokenSource for Entra {
    fn token(&self) -> BoxFuture<'_, Result<http::HeaderValue, String>> {
        async {
            let token = self.0.token(&self.0.cloud().aks_scope()).await;
            let token = token.map_err(|error| error.to_string())?;
            let text = format!("Bearer {}", token.secret.expose());
            let mut value = http::HeaderValue::try_from(text)
                .map_err(|_| "the token is not a valid header value".to_owned())?;
            value.set_sensitive(true);
            Ok(value)
        }
        .boxed()
    }
}

pub(crate) fn current_context(path: &std::path::Path) -> Option<String> {
    kubeconfigs::read(path).ok()?.current_context
}

/// Returns the API server of the current context.
fn server(kubeconfig: &Kubeconfig) -> Option<String> {
    let current = kubeconfig.current_context.as_deref()?;
    let context = kubeconfig.contexts.iter().find(|named| named.name == current)?;
    let name = &context.context.as_ref()?.cluster;
    let cluster = kubeconfig.clusters.iter().find(|named| named.name == *name)?;
    cluster.cluster.as_ref()?.server.clone()
}

/// Removes commands, plugins, file paths and proxies from a kubeconfig: nothing in a response of Azure is executed, and no
/// file is read or sent because of it. Returns true if no credentials remain, so that an Entra token is needed.
fn keep_inline(kubeconfig: &mut Kubeconfig) -> bool {
    let mut bare = true;
    for user in &mut kubeconfig.auth_infos {
        let Some(auth) = &mut user.auth_info else { continue };
        auth.exec = None;
        auth.auth_provider = None;
        auth.token_file = None;
        auth.client_certificate = None;
        auth.client_key = None;
        bare &= auth.token.is_none() && auth.client_certificate_data.is_none();
    }
    for cluster in kubeconfig.clusters.iter_mut().filter_map(|named| named.cluster.as_mut()) {
        cluster.certificate_authority = None;
        cluster.proxy_url = None;
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXEC: &str = "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- name: c\n  cluster: {server: 'https://127.0.0.1:1'}\ncontexts:\n- name: c\n  context: {cluster: c, user: u}\nusers:\n- name: u\n  user:\n";

    #[test]
    fn server_is_that_of_the_current_context() {
        let kubeconfig = Kubeconfig::from_yaml(&format!("{EXEC}    token: t\n")).unwrap();
        assert_eq!(server(&kubeconfig).as_deref(), Some("https://127.0.0.1:1"));
    }

    #[test]
    fn commands_of_an_azure_kubeconfig_are_never_executed() {
        let exec = format!(
            "{EXEC}    exec: {{apiVersion: client.authentication.k8s.io/v1beta1, command: kubelogin}}\n"
        );
        let mut kubeconfig = Kubeconfig::from_yaml(&exec).unwrap();
        assert!(keep_inline(&mut kubeconfig));
        assert!(kubeconfig.auth_infos[0].auth_info.as_ref().unwrap().exec.is_none());
    }

    #[test]
    fn files_and_proxies_of_an_azure_kubeconfig_are_ignored() {
        let files = EXEC.replace(
            "127.0.0.1:1'",
            "127.0.0.1:1', certificate-authority: /etc/ca, proxy-url: 'http://h:1'",
        ) + "    tokenFile: /etc/shadow\n    client-certificate: /etc/cert\n    client-key: /etc/key\n";
        let mut kubeconfig = Kubeconfig::from_yaml(&files).unwrap();
        assert!(keep_inline(&mut kubeconfig));
        let kept = format!("{kubeconfig:?}");
        assert!(!kept.contains("/etc/") && !kept.contains("http://h:1"), "{kept}");
    }

    #[test]
    fn certificate_or_token_of_the_cluster_is_kept() {
        for user in ["    token: t\n", "    client-certificate-data: eA==\n"] {
            let mut kubeconfig = Kubeconfig::from_yaml(&format!("{EXEC}{user}")).unwrap();
            assert!(!keep_inline(&mut kubeconfig), "{user}");
        }
    }
}
