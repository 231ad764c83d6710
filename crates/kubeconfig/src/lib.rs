//! The way to a cluster's API.
//!
//! A kubeconfig is a secret, and the libraries that read one quote it where they fail: the YAML reader shows the
//! lines around a mistake, a failed credential plugin all that it printed, a proxy its password. So whatever opens a
//! kubeconfig or a connection does it here, and every failure goes through [`words`].

mod words;

use std::path::Path;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};

pub use words::words;

/// No connection takes longer than this to come about.
const CONNECT: Duration = Duration::from_secs(5);

/// Reads the file that was named.
///
/// # Errors
/// A sentence that names the file, and nothing of what stands in it.
pub fn read(path: &Path) -> Result<Kubeconfig, String> {
    Kubeconfig::read_from(path).map_err(|error| format!("{}: {}", path.display(), words(&error)))
}

/// Reads a kubeconfig that is in memory.
///
/// # Errors
/// A sentence with nothing of the text.
pub fn parse(yaml: &str) -> Result<Kubeconfig, String> {
    Kubeconfig::from_yaml(yaml).map_err(|error| words(&error))
}

/// A client by a kubeconfig's current context.
///
/// # Errors
/// A sentence with nothing of the kubeconfig but the name of its context, cluster or files.
pub async fn client(kubeconfig: Kubeconfig) -> Result<kube::Client, String> {
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await;
    by_config(config.map_err(|error| words(&error))?)
}

/// A client by the file that was named.
///
/// # Errors
/// As [`read`] and [`client`].
pub async fn client_by_file(path: &Path) -> Result<kube::Client, String> {
    client(read(path)?).await.map_err(|error| format!("{}: {error}", path.display()))
}

/// A client by what every tool of Kubernetes goes by: `KUBECONFIG`, the user's own kubeconfig, or the pod's account.
///
/// # Errors
/// A sentence on both ways.
pub async fn usual_client() -> Result<kube::Client, String> {
    let by_file = kube::Config::from_kubeconfig(&KubeConfigOptions::default()).await;
    by_config(match by_file {
        Ok(config) => config,
        Err(outside) => kube::Config::incluster().map_err(|inside| {
            format!("by {}: {}; as a pod: {}", usual_file(), words(&outside), words(&inside))
        })?,
    })
}

fn usual_file() -> String {
    match std::env::var("KUBECONFIG") {
        Ok(files) if !files.is_empty() => format!("KUBECONFIG={files}"),
        _ => "~/.kube/config".to_owned(),
    }
}

/// A client that repeats nothing unseen: whoever asks again has a reason, and says so.
fn by_config(mut config: kube::Config) -> Result<kube::Client, String> {
    // kube takes it for granted that it is one.
    let token = config.auth_info.token.as_ref().map(secrecy::ExposeSecret::expose_secret);
    if token.is_some_and(|token| !token.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err("the kubeconfig's token is none: it holds blanks or line breaks".to_owned());
    }
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT);
    kube::Client::try_from(config).map_err(|error| words(&error))
}
