//! How to reach the cluster's Kubernetes API.

use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use kube::config::Kubeconfig;
use mooring_arm::ResourceId;
use mooring_arm::calls::KubeconfigFormat;
use mooring_kube::{Client, TokenSource, kubeconfig as kubeconfigs};

use super::answers::no_cluster;
use super::ways_in::{no_way_in, obstacle, refusal_hint};

/// Where the Kubernetes API's address and rights come from. `KUBECONFIG` is not among them on purpose: it is of
/// whatever cluster somebody worked on last, and a repair that drains another cluster's nodes is no repair.
#[derive(Clone)]
pub enum Access {
    /// From Azure: the user's credentials of this very cluster, and a token in memory.
    Azure,
    /// From a file that was named on purpose.
    File(PathBuf),
    /// From a caller that has one.
    Given(Box<Client>),
}

/// Why there is no way to the cluster, or to what it keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiUnavailable {
    /// There is no such cluster.
    Absent(String),
    /// Azure asks to wait.
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
        let why = format!("the cluster's credentials: {error}{hint}");
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

/// Connects, as far as that is possible without asking the Kubernetes API anything.
pub(crate) async fn connect(
    access: &Access,
    arm: &mooring_arm::Client,
    cluster: &ResourceId,
) -> Result<Client, ApiUnavailable> {
    match access {
        Access::Given(api) => Ok((**api).clone()),
        Access::File(path) => {
            let unusable = |error| format!("the kubeconfig {error}");
            let kubeconfig = kubeconfigs::read(path).map_err(unusable)?;
            let server = server(&kubeconfig);
            let named = |error| format!("{}: {error}", path.display());
            let client = kubeconfigs::client(kubeconfig).await.map_err(named);
            Ok(Client::new(client.map_err(unusable)?).at(server))
        }
        Access::Azure => {
            // What cannot be read is found out by trying.
            let read = arm.cluster(cluster).await.ok();
            let properties = read.as_ref().map(|read| &read.properties);
            if let Some(why) = properties.and_then(no_way_in) {
                return Err(ApiUnavailable::Failed(format!(
                    "the cluster {}: {why}",
                    cluster.name()
                )));
            }
            let obstacle = properties.and_then(obstacle);
            let found = arm.user_credentials(cluster, Some(KubeconfigFormat::Exec)).await;
            let found = found.map_err(|error| ApiUnavailable::by_azure(&error))?;
            let yaml = found.first().map(|found| found.yaml.expose()).unwrap_or_default();
            let unreadable = |error| format!("the kubeconfig that Azure gives: {error}");
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

/// Tokens of Entra for AKS.
struct Entra(mooring_arm::Client);

impl TokenSource for Entra {
    fn token(&self) -> BoxFuture<'_, Result<http::HeaderValue, String>> {
        async {
            let token = self.0.token(&self.0.cloud().aks_scope()).await;
            let token = token.map_err(|error| error.to_string())?;
            let text = format!("Bearer {}", token.secret.expose());
            let mut value = http::HeaderValue::try_from(text)
                .map_err(|_| "the token is no header value".to_owned())?;
            value.set_sensitive(true);
            Ok(value)
        }
        .boxed()
    }
}

/// The address of the API server of the current context.
fn server(kubeconfig: &Kubeconfig) -> Option<String> {
    let current = kubeconfig.current_context.as_deref()?;
    let context = kubeconfig.contexts.iter().find(|named| named.name == current)?;
    let name = &context.context.as_ref()?.cluster;
    let cluster = kubeconfig.clusters.iter().find(|named| named.name == *name)?;
    cluster.cluster.as_ref()?.server.clone()
}

/// Takes everything out of a kubeconfig that reaches beyond it: commands, plugins, files of this machine and proxies.
/// What Azure answers is never executed, and never makes us send a file's content. True if there is nothing left to
/// sign with, so that a token of Entra must do it.
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
    fn what_azure_answers_is_never_executed() {
        let exec = format!(
            "{EXEC}    exec: {{apiVersion: client.authentication.k8s.io/v1beta1, command: kubelogin}}\n"
        );
        let mut kubeconfig = Kubeconfig::from_yaml(&exec).unwrap();
        assert!(keep_inline(&mut kubeconfig));
        assert!(kubeconfig.auth_infos[0].auth_info.as_ref().unwrap().exec.is_none());
    }

    #[test]
    fn what_azure_answers_reads_no_file_and_names_no_proxy() {
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
    fn a_certificate_or_token_of_the_cluster_is_used_as_it_is() {
        for user in ["    token: t\n", "    client-certificate-data: eA==\n"] {
            let mut kubeconfig = Kubeconfig::from_yaml(&format!("{EXEC}{user}")).unwrap();
            assert!(!keep_inline(&mut kubeconfig), "{user}");
        }
    }
}
