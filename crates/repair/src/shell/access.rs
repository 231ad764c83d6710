//! How to reach the cluster's Kubernetes API.

use std::path::{Path, PathBuf};

use kube::config::{KubeConfigOptions, Kubeconfig};
use mooring_arm::ResourceId;
use mooring_arm::calls::KubeconfigFormat;

use super::kube_api::KubeApi;
use super::told;

/// Where the Kubernetes API's address and rights come from. `KUBECONFIG` is not among them on purpose: it is of
/// whatever cluster somebody worked on last, and a repair that drains another cluster's nodes is no repair.
#[derive(Clone)]
pub enum Access {
    /// From Azure: the user's credentials of this very cluster, and a token in memory.
    Azure,
    /// From a file that was named on purpose.
    File(PathBuf),
    /// From a caller that has one.
    Given(Box<KubeApi>),
}

/// Connects, as far as that is possible without asking the Kubernetes API anything.
pub(crate) async fn connect(
    access: &Access,
    arm: &mooring_arm::Client,
    cluster: &ResourceId,
) -> Result<KubeApi, String> {
    match access {
        Access::Given(api) => Ok((**api).clone()),
        Access::File(path) => {
            let kubeconfig = read(path)?;
            Ok(KubeApi::new(client(kubeconfig).await?))
        }
        Access::Azure => {
            let found = arm.user_credentials(cluster, Some(KubeconfigFormat::Exec)).await;
            let found = found.map_err(|error| format!("the cluster's credentials: {error}"))?;
            let yaml = found.first().map(|found| found.yaml.expose()).unwrap_or_default();
            let mut kubeconfig = Kubeconfig::from_yaml(yaml)
                .map_err(|_| "the cluster's kubeconfig cannot be read".to_owned())?;
            let wants_token = strip_commands(&mut kubeconfig);
            let client = client(kubeconfig).await?;
            Ok(if wants_token {
                KubeApi::signed(client, arm.clone())
            } else {
                KubeApi::new(client)
            })
        }
    }
}

fn read(path: &Path) -> Result<Kubeconfig, String> {
    Kubeconfig::read_from(path)
        .map_err(|error| format!("the kubeconfig {}: {}", path.display(), told(&error.to_string())))
}

/// Takes commands and plugins out of a kubeconfig; true if there is nothing else to sign with, so that a
/// token of Entra must do it. What Azure answers is never executed.
fn strip_commands(kubeconfig: &mut Kubeconfig) -> bool {
    let mut bare = true;
    for user in &mut kubeconfig.auth_infos {
        let Some(auth) = &mut user.auth_info else { continue };
        auth.exec = None;
        auth.auth_provider = None;
        bare &= auth.token.is_none() && auth.client_certificate_data.is_none();
    }
    bare
}

async fn client(kubeconfig: Kubeconfig) -> Result<kube::Client, String> {
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let mut config = config.map_err(|error| format!("kubeconfig: {}", told(&error.to_string())))?;
    // Nothing is repeated unseen: an eviction that is refused has a meaning.
    config.default_retry = false;
    config.connect_timeout = Some(std::time::Duration::from_secs(5));
    kube::Client::try_from(config)
        .map_err(|error| format!("kubeconfig: {}", told(&error.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXEC: &str = "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- name: c\n  cluster: {server: 'https://127.0.0.1:1'}\ncontexts:\n- name: c\n  context: {cluster: c, user: u}\nusers:\n- name: u\n  user:\n";

    #[test]
    fn what_azure_answers_is_never_executed() {
        let exec = format!(
            "{EXEC}    exec: {{apiVersion: client.authentication.k8s.io/v1beta1, command: kubelogin}}\n"
        );
        let mut kubeconfig = Kubeconfig::from_yaml(&exec).unwrap();
        assert!(strip_commands(&mut kubeconfig));
        assert!(kubeconfig.auth_infos[0].auth_info.as_ref().unwrap().exec.is_none());
    }

    #[test]
    fn a_certificate_or_token_of_the_cluster_is_used_as_it_is() {
        for user in ["    token: t\n", "    client-certificate-data: eA==\n"] {
            let mut kubeconfig = Kubeconfig::from_yaml(&format!("{EXEC}{user}")).unwrap();
            assert!(!strip_commands(&mut kubeconfig), "{user}");
        }
    }
}
