//! Clients from a kubeconfig.
//!
//! A kubeconfig is a secret, and libraries quote it in errors: the YAML parser prints the lines around a mistake, a
//! failed credential plugin its output, a proxy its password. So only this module opens kubeconfigs and connections,
//! and every error passes through [`redacted_message`].

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};

use mooring_redact::printable;

use crate::error::redacted_message;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Larger than a kubeconfig with certificates of a hundred clusters.
const MAX_SIZE: u64 = 4 << 20;

pub fn read(path: &Path) -> Result<Kubeconfig, String> {
    let message = |why: String| format!("{}: {why}", path.display());
    let too_long = || message(format!("not a kubeconfig: longer than {MAX_SIZE} bytes"));
    let file = File::open(path).map_err(|error| message(error.to_string()))?;
    if let Some(data) = file.metadata().ok().filter(Metadata::is_file) {
        if data.len() > MAX_SIZE {
            return Err(too_long());
        }
        // Handles any encoding and relative paths in the file.
        return Kubeconfig::read_from(path).map_err(|error| message(redacted_message(&error)));
    }
    // A device has no end, and a pipe can be read only once.
    let mut text = String::new();
    let read = file.take(MAX_SIZE + 1).read_to_string(&mut text);
    read.map_err(|error| message(error.to_string()))?;
    if text.len() as u64 > MAX_SIZE {
        return Err(too_long());
    }
    parse(&text).map_err(message)
}

pub fn parse(yaml: &str) -> Result<Kubeconfig, String> {
    Kubeconfig::from_yaml(yaml).map_err(|error| redacted_message(&error))
}

/// Creates a client for the current context of a kubeconfig.
pub async fn client(kubeconfig: Kubeconfig) -> Result<kube::Client, String> {
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await;
    from_config(config.map_err(|error| redacted_message(&error))?)
}

/// Creates a client from a kubeconfig file.
pub async fn client_by_file(path: &Path) -> Result<kube::Client, String> {
    client(read(path)?).await.map_err(|error| format!("{}: {error}", path.display()))
}

pub struct Connection {
    pub client: kube::Client,
    /// None in a pod.
    pub context: Option<String>,
    /// Cluster of the context; none in a pod.
    pub cluster: Option<String>,
    /// URL of the API server, `https://HOST:PORT`.
    pub server: String,
}

/// Connects as kubectl does: with the kubeconfig file, `KUBECONFIG` (several files are merged), `~/.kube/config`, or
/// the pod's service account; with this context, or the current one.
pub async fn connect(path: Option<&Path>, context: Option<&str>) -> Result<Connection, String> {
    let place = path.map_or_else(default_file, |path| path.display().to_string());
    let kubeconfig = match path {
        Some(path) => read(path).map(Some)?,
        None => match Kubeconfig::read() {
            Ok(kubeconfig) => Some(kubeconfig),
            Err(outside) if context.is_some() => {
                return Err(format!("{place}: {}", redacted_message(&outside)));
            }
            Err(_) => None,
        },
    };
    let Some(kubeconfig) = kubeconfig else {
        let config = default_config().await?;
        let server = server(&config);
        let client = from_config(config)?;
        return Ok(Connection { client, context: None, cluster: None, server });
    };
    let name = context.or(kubeconfig.current_context.as_deref()).unwrap_or_default().to_owned();
    let cluster = cluster_of(&kubeconfig, &name);
    if cluster.is_none() && context.is_some() {
        return Err(unknown_context(&kubeconfig, &place, &name));
    }
    if let Some(program) = missing_plugin(&kubeconfig, &name) {
        return Err(format!("{place}: {}", plugin_hint(&program)));
    }
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..Default::default() };
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let config = match (config, path) {
        (Ok(config), _) => config,
        // An empty kubeconfig, as in a pod.
        (Err(_), None) if cluster.is_none() => default_config().await?,
        (Err(error), _) => return Err(format!("{place}: {}", redacted_message(&error))),
    };
    let server = server(&config);
    let context = cluster.is_some().then_some(name);
    let client = create_client(config).await?;
    Ok(Connection { client, context, cluster, server })
}

/// Creates a client on a thread, since a credential plugin runs now and may wait for a user. The thread is not joined: a
/// plugin that hangs does not outlast the command.
async fn create_client(config: kube::Config) -> Result<kube::Client, String> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    std::thread::spawn(move || {
        let _entered = runtime.enter();
        let _ = sender.send(from_config(config));
    });
    receiver.await.unwrap_or_else(|_| Err("the client could not be created".to_owned()))
}

/// Returns the credential plugin of a context, if it is not installed.
fn missing_plugin(kubeconfig: &Kubeconfig, context: &str) -> Option<String> {
    let context = kubeconfig.contexts.iter().find(|one| one.name == context)?;
    let user = context.context.as_ref()?.user.as_ref()?;
    let user = kubeconfig.auth_infos.iter().find(|one| one.name == *user)?;
    let program = user.auth_info.as_ref()?.exec.as_ref()?.command.clone()?;
    let is_found = if program.contains('/') {
        Path::new(&program).exists()
    } else {
        let directories = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&directories).any(|directory| directory.join(&program).is_file())
    };
    (!is_found).then_some(program)
}

fn plugin_hint(program: &str) -> String {
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = printable(&name);
    let hint = match name.as_str() {
        "kubelogin" => "`az aks install-cli` installs it".to_owned(),
        "az" => "install the Azure CLI".to_owned(),
        _ => format!("install {name}, or use a context with other credentials"),
    };
    format!("the credential plugin `{name}` is not installed\nhint: {hint}")
}

fn unknown_context(kubeconfig: &Kubeconfig, place: &str, name: &str) -> String {
    let known: Vec<&str> = kubeconfig.contexts.iter().map(|one| one.name.as_str()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    printable(&format!("{place}: context {name:?} not found; contexts: {known}"))
}

/// Returns the names of the contexts, the current one first.
pub fn contexts(path: Option<&Path>) -> Vec<String> {
    let kubeconfig = match path {
        Some(path) => read(path).ok(),
        None => Kubeconfig::read().ok(),
    };
    let Some(kubeconfig) = kubeconfig else { return Vec::new() };
    let mut names: Vec<String> = kubeconfig.contexts.into_iter().map(|one| one.name).collect();
    names.sort_by_key(|name| Some(name) != kubeconfig.current_context.as_ref());
    names
}

fn server(config: &kube::Config) -> String {
    let url = &config.cluster_url;
    let port = url.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
    let (scheme, host) = (url.scheme_str().unwrap_or("https"), url.host().unwrap_or_default());
    format!("{scheme}://{host}{port}")
}

fn cluster_of(kubeconfig: &Kubeconfig, context: &str) -> Option<String> {
    let context = kubeconfig.contexts.iter().find(|one| one.name == context)?;
    Some(context.context.as_ref()?.cluster.clone())
}

async fn default_config() -> Result<kube::Config, String> {
    let by_file = kube::Config::from_kubeconfig(&KubeConfigOptions::default()).await;
    by_file.or_else(|outside| {
        kube::Config::incluster().map_err(|inside| {
            format!(
                "{}: {}; in-cluster: {}",
                default_file(),
                redacted_message(&outside),
                redacted_message(&inside)
            )
        })
    })
}

fn default_file() -> String {
    match std::env::var("KUBECONFIG") {
        Ok(files) if !files.is_empty() => format!("KUBECONFIG={files}"),
        _ => "~/.kube/config".to_owned(),
    }
}

/// Creates a client without automatic retries, so that callers decide about them.
fn from_config(mut config: kube::Config) -> Result<kube::Client, String> {
    // kube does not validate the token.
    let token = config.auth_info.token.as_ref().map(secrecy::ExposeSecret::expose_secret);
    if token.is_some_and(|token| !token.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err("invalid token in kubeconfig: contains whitespace".to_owned());
    }
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    kube::Client::try_from(config).map_err(|error| redacted_message(&error))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const YAML: &str = "apiVersion: v1\nkind: Config\ncurrent-context: c\n";

    #[test]
    fn endless_device_is_rejected() {
        let error = read(Path::new("/dev/zero")).unwrap_err();
        assert!(error.contains("/dev/zero") && error.contains("longer than"), "{error}");
        assert!(read(Path::new("/nowhere")).unwrap_err().contains("/nowhere"));
        let long = tempfile::NamedTempFile::new().unwrap();
        long.as_file().set_len(MAX_SIZE + 1).unwrap();
        assert!(read(long.path()).unwrap_err().contains("longer than"));
    }

    #[test]
    fn cluster_is_read_from_the_context() {
        let yaml = "current-context: c\ncontexts: [{name: d, context: {cluster: x, user: u}}, {name: c, context: {cluster: prod, user: u}}]\n";
        let kubeconfig = parse(yaml).unwrap();
        assert_eq!(cluster_of(&kubeconfig, "c").as_deref(), Some("prod"));
        assert_eq!(cluster_of(&kubeconfig, "d").as_deref(), Some("x"));
        assert_eq!(cluster_of(&parse(YAML).unwrap(), "c"), None);
        let unknown = unknown_context(&kubeconfig, "f", "prd");
        assert_eq!(unknown, "f: context \"prd\" not found; contexts: d, c");
    }

    #[tokio::test]
    async fn missing_credential_plugin_is_named_with_an_install_hint() {
        let yaml = |command: &str| {
            format!(
                "current-context: c\nclusters: [{{name: prod, cluster: {{server: 'https://127.0.0.1:1'}}}}]\ncontexts: [{{name: c, context: {{cluster: prod, user: u}}}}]\nusers: [{{name: u, user: {{exec: {{apiVersion: client.authentication.k8s.io/v1, command: {command}}}}}}}]\n"
            )
        };
        for (command, hint) in [
            ("/nowhere/kubelogin", "hint: `az aks install-cli` installs it"),
            ("no-such-plugin", "hint: install no-such-plugin, or use"),
        ] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(yaml(command).as_bytes()).unwrap();
            let error = connect(Some(file.path()), None).await.map(drop).unwrap_err();
            assert!(error.contains("is not installed") && error.contains(hint), "{error}");
        }
        assert_eq!(missing_plugin(&parse(&yaml("sh")).unwrap(), "c"), None);
    }

    #[test]
    fn files_and_pipes_are_read() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(YAML.as_bytes()).unwrap();
        assert_eq!(read(file.path()).unwrap().current_context.as_deref(), Some("c"));
        // Some editors write UTF-16.
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
