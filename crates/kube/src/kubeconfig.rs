//! A client from a kubeconfig.
//!
//! A kubeconfig is a secret, and the libraries that read one quote it where they fail: the YAML reader shows the
//! lines around a mistake, a failed credential plugin all that it printed, a proxy its password. So whatever opens a
//! kubeconfig or a connection does it here, and every failure goes through [`redacted_message`].

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};

use crate::error::redacted_message;

/// No connection takes longer than this to come about.
const CONNECT: Duration = Duration::from_secs(5);

/// One with certificates of a hundred clusters is shorter.
const LONGEST: u64 = 4 << 20;

/// Reads the file that was named.
///
/// # Errors
/// A sentence that names the file, and nothing of what stands in it.
pub fn read(path: &Path) -> Result<Kubeconfig, String> {
    let told = |why: String| format!("{}: {why}", path.display());
    let too_long = || told(format!("this is no kubeconfig: it is longer than {LONGEST} bytes"));
    let file = File::open(path).map_err(|error| told(error.to_string()))?;
    if let Some(data) = file.metadata().ok().filter(Metadata::is_file) {
        if data.len() > LONGEST {
            return Err(too_long());
        }
        // In any encoding, and with the files that it names beside it.
        return Kubeconfig::read_from(path).map_err(|error| told(redacted_message(&error)));
    }
    // A device has no end, and what comes through a pipe is there only once.
    let mut text = String::new();
    let read = file.take(LONGEST + 1).read_to_string(&mut text);
    read.map_err(|error| told(error.to_string()))?;
    if text.len() as u64 > LONGEST {
        return Err(too_long());
    }
    parse(&text).map_err(told)
}

/// Reads a kubeconfig that is in memory.
///
/// # Errors
/// A sentence with nothing of the text.
pub fn parse(yaml: &str) -> Result<Kubeconfig, String> {
    Kubeconfig::from_yaml(yaml).map_err(|error| redacted_message(&error))
}

/// A client by a kubeconfig's current context.
///
/// # Errors
/// A sentence with nothing of the kubeconfig but the name of its context, cluster or files.
pub async fn client(kubeconfig: Kubeconfig) -> Result<kube::Client, String> {
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await;
    by_config(config.map_err(|error| redacted_message(&error))?)
}

/// A client by the file that was named.
///
/// # Errors
/// As [`read`] and [`client`].
pub async fn client_by_file(path: &Path) -> Result<kube::Client, String> {
    client(read(path)?).await.map_err(|error| format!("{}: {error}", path.display()))
}

/// A client, and what its cluster is called.
pub struct Connection {
    pub client: kube::Client,
    /// The cluster of the kubeconfig's current context; none in a pod.
    pub cluster: Option<String>,
    /// The address of the API server, as `https://HOST:PORT`.
    pub server: String,
}

/// Connects by the file that was named, else as [`usual_client`] does.
///
/// # Errors
/// As [`client_by_file`] and [`usual_client`].
pub async fn connect(path: Option<&Path>) -> Result<Connection, String> {
    let options = KubeConfigOptions::default();
    let (config, kubeconfig) = match path {
        Some(path) => {
            let kubeconfig = read(path)?;
            let config = kube::Config::from_custom_kubeconfig(kubeconfig.clone(), &options).await;
            let told = |error| format!("{}: {}", path.display(), redacted_message(&error));
            (config.map_err(told)?, Some(kubeconfig))
        }
        None => (usual_config().await?, Kubeconfig::read().ok()),
    };
    let url = &config.cluster_url;
    let port = url.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
    let (scheme, host) = (url.scheme_str().unwrap_or("https"), url.host().unwrap_or_default());
    let server = format!("{scheme}://{host}{port}");
    let cluster = kubeconfig.as_ref().and_then(current_cluster);
    Ok(Connection { client: by_config(config)?, cluster, server })
}

/// The name of the cluster of the current context.
fn current_cluster(kubeconfig: &Kubeconfig) -> Option<String> {
    let current = kubeconfig.current_context.as_deref()?;
    let context = kubeconfig.contexts.iter().find(|one| one.name == current)?;
    Some(context.context.as_ref()?.cluster.clone())
}

/// A client by what every tool of Kubernetes goes by: `KUBECONFIG`, the user's own kubeconfig, or the pod's account.
///
/// # Errors
/// A sentence on both ways.
pub async fn usual_client() -> Result<kube::Client, String> {
    by_config(usual_config().await?)
}

async fn usual_config() -> Result<kube::Config, String> {
    let by_file = kube::Config::from_kubeconfig(&KubeConfigOptions::default()).await;
    by_file.or_else(|outside| {
        kube::Config::incluster().map_err(|inside| {
            format!(
                "by {}: {}; as a pod: {}",
                usual_file(),
                redacted_message(&outside),
                redacted_message(&inside)
            )
        })
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
    kube::Client::try_from(config).map_err(|error| redacted_message(&error))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const YAML: &str = "apiVersion: v1\nkind: Config\ncurrent-context: c\n";

    #[test]
    fn a_device_without_an_end_is_no_kubeconfig() {
        let error = read(Path::new("/dev/zero")).unwrap_err();
        assert!(error.contains("/dev/zero") && error.contains("longer than"), "{error}");
        assert!(read(Path::new("/nowhere")).unwrap_err().contains("/nowhere"));
        let long = tempfile::NamedTempFile::new().unwrap();
        long.as_file().set_len(LONGEST + 1).unwrap();
        assert!(read(long.path()).unwrap_err().contains("longer than"));
    }

    #[test]
    fn cluster_is_that_of_the_current_context() {
        let yaml = "current-context: c\ncontexts: [{name: d, context: {cluster: x, user: u}}, {name: c, context: {cluster: prod, user: u}}]\n";
        assert_eq!(current_cluster(&parse(yaml).unwrap()).as_deref(), Some("prod"));
        assert_eq!(current_cluster(&parse(YAML).unwrap()), None);
    }

    #[test]
    fn a_file_and_a_pipe_are_read_alike() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(YAML.as_bytes()).unwrap();
        assert_eq!(read(file.path()).unwrap().current_context.as_deref(), Some("c"));
        // Some editors write two bytes for every letter.
        let wide: Vec<u8> =
            format!("\u{feff}{YAML}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&wide).unwrap();
        assert_eq!(read(file.path()).unwrap().current_context.as_deref(), Some("c"));
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(YAML.as_bytes()).unwrap();
        drop(writer);
        let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
        assert_eq!(read(Path::new(&path)).unwrap().current_context.as_deref(), Some("c"));
    }
}
