//! Clients from a kubeconfig.
//!
//! A kubeconfig is a secret, and libraries quote it in errors: the YAML parser prints the lines around a mistake, a
//! failed credential plugin its output, a proxy its password. So only this module opens kubeconfigs and connections,
//! and every error passes through [`redacted_message`].
//!
//! The library starts credential plugins by itself, so their process ids are read from `/proc`. Hosts without it keep
//! a plugin that hangs.

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::config::{ExecConfig, KubeConfigOptions, Kubeconfig};
use mooring_redact::{Limit, foreign, printable};
use rustix::process::{Pid, Signal, kill_process};

use crate::error::{PLUGIN, redacted_message};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// A server that sends nothing for this long has gone away: a watch has a bookmark every minute, and a forwarded port
/// answers a ping every minute.
pub const IDLE_LIMIT: Duration = Duration::from_secs(150);

/// Larger than a kubeconfig with certificates of a hundred clusters.
const MAX_SIZE: u64 = 4 << 20;
const MAX_HINT: Limit = Limit::Chars(400);

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

/// Reads the files of `KUBECONFIG`, or `~/.kube/config`.
fn read_default() -> Result<Kubeconfig, String> {
    let files = std::env::var_os("KUBECONFIG").unwrap_or_default();
    let files: Vec<PathBuf> =
        std::env::split_paths(&files).filter(|file| !file.as_os_str().is_empty()).collect();
    match files.as_slice() {
        [] => Kubeconfig::read().map_err(|error| redacted_message(&error)),
        files => merge(files),
    }
}

/// Merges files. Missing ones are skipped, as kubectl does.
fn merge(files: &[PathBuf]) -> Result<Kubeconfig, String> {
    let mut existing = files.iter().filter(|file| file.exists()).peekable();
    if existing.peek().is_none() {
        return Err("no such file".to_owned());
    }
    existing.try_fold(Kubeconfig::default(), |merged, file| {
        merged.merge(read(file)?).map_err(|error| redacted_message(&error))
    })
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
        Some(path) => read(path)?,
        None => match read_default() {
            Ok(kubeconfig) => kubeconfig,
            Err(outside) if context.is_some() => return Err(format!("{place}: {outside}")),
            Err(outside) => {
                let config = in_cluster(&outside)?;
                let server = server(&config);
                let client = from_config(config)?;
                return Ok(Connection { client, context: None, cluster: None, server });
            }
        },
    };
    let name = context.or(kubeconfig.current_context.as_deref()).unwrap_or_default().to_owned();
    let cluster = cluster_of(&kubeconfig, &name);
    if cluster.is_none() && context.is_some() {
        return Err(unknown_context(&kubeconfig, &place, &name));
    }
    let plugin = plugin_of(&kubeconfig, &name).cloned();
    if let Some(hint) = plugin.as_ref().and_then(missing_plugin) {
        return Err(format!("{place}: {hint}"));
    }
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..Default::default() };
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let config = match (config, path) {
        (Ok(config), _) => config,
        // An empty kubeconfig, as in a pod.
        (Err(error), None) if cluster.is_none() => in_cluster(&redacted_message(&error))?,
        (Err(error), _) => return Err(format!("{place}: {}", redacted_message(&error))),
    };
    let server = server(&config);
    let context = cluster.is_some().then_some(name);
    let client = create_client(config).await.map_err(|error| match &plugin {
        Some(plugin) => {
            error.replace(PLUGIN, &format!("the credential plugin `{}`", name_of(plugin)))
        }
        None => error,
    })?;
    Ok(Connection { client, context, cluster, server })
}

/// Creates a client on a thread, since a credential plugin runs now and may wait for a user. The thread is not joined; a
/// plugin that still runs when the future is dropped is killed.
async fn create_client(config: kube::Config) -> Result<kube::Client, String> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let (thread, started) = std::sync::mpsc::channel();
    let runtime = tokio::runtime::Handle::current();
    std::thread::spawn(move || {
        let _ = thread.send(Thread::current());
        let _entered = runtime.enter();
        let _ = sender.send(from_config(config));
    });
    let _killed_on_drop = started.recv().ok().flatten();
    receiver.await.unwrap_or_else(|_| Err("the client could not be created".to_owned()))
}

/// Returns the credential plugin of a context.
fn plugin_of<'a>(kubeconfig: &'a Kubeconfig, context: &str) -> Option<&'a ExecConfig> {
    let context = kubeconfig.contexts.iter().find(|one| one.name == context)?;
    let user = context.context.as_ref()?.user.as_ref()?;
    let user = kubeconfig.auth_infos.iter().find(|one| one.name == *user)?;
    user.auth_info.as_ref()?.exec.as_ref()
}

/// Returns the file name of a credential plugin.
fn name_of(plugin: &ExecConfig) -> String {
    let program = Path::new(plugin.command.as_deref().unwrap_or_default());
    printable(&program.file_name().unwrap_or_default().to_string_lossy())
}

/// Returns how to install a credential plugin, if it is not installed.
fn missing_plugin(plugin: &ExecConfig) -> Option<String> {
    let program = plugin.command.as_deref()?;
    let is_found = if program.contains('/') {
        Path::new(program).exists()
    } else {
        let directories = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&directories).any(|directory| directory.join(program).is_file())
    };
    if is_found {
        return None;
    }
    let name = name_of(plugin);
    let own = plugin.install_hint.as_deref().map(|hint| foreign(hint, MAX_HINT));
    let hint = match (own.filter(|hint| !hint.is_empty()), name.as_str()) {
        (Some(own), _) => own,
        (None, "kubelogin") => "`az aks install-cli` installs it".to_owned(),
        (None, "az") => "install the Azure CLI".to_owned(),
        (None, _) => format!("install {name}, or use a context with other credentials"),
    };
    Some(format!("the credential plugin `{name}` is not installed\nhint: {hint}"))
}

fn unknown_context(kubeconfig: &Kubeconfig, place: &str, name: &str) -> String {
    let known: Vec<&str> = kubeconfig.contexts.iter().map(|one| one.name.as_str()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    printable(&format!("{place}: context {name:?} not found; contexts: {known}"))
}

/// Returns the names of the contexts, the current one first.
pub fn contexts(path: Option<&Path>) -> Vec<String> {
    let Ok(kubeconfig) = path.map_or_else(read_default, read) else { return Vec::new() };
    let mut names: Vec<String> = kubeconfig.contexts.into_iter().map(|one| one.name).collect();
    names.sort_by_key(|name| Some(name) != kubeconfig.current_context.as_ref());
    names
}

/// Returns true if `KUBECONFIG` or `~/.kube/config` has a current context that exists.
pub fn has_current_context() -> bool {
    let Ok(kubeconfig) = read_default() else { return false };
    let current = kubeconfig.current_context.as_deref();
    current.is_some_and(|name| cluster_of(&kubeconfig, name).is_some())
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

/// Returns the service account of a pod; `outside` is the error of the kubeconfig.
fn in_cluster(outside: &str) -> Result<kube::Config, String> {
    kube::Config::incluster().map_err(|inside| {
        format!("{}: {outside}; in-cluster: {}", default_file(), redacted_message(&inside))
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
    config.read_timeout = Some(IDLE_LIMIT);
    config.reset_reader_on_write = true;
    kube::Client::try_from(config).map_err(|error| redacted_message(&error))
}

/// A thread whose child processes are killed, with their children, when the value is dropped.
pub(crate) struct Thread(PathBuf);

impl Thread {
    /// Returns the current thread, if `/proc` has it.
    pub(crate) fn current() -> Option<Self> {
        let thread = std::fs::read_link("/proc/thread-self").ok()?;
        Some(Self(Path::new("/proc").join(thread)))
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        for child in descendants(&self.0).into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(child, Signal::KILL);
        }
    }
}

/// Returns the processes that a thread started, parents first.
fn descendants(thread: &Path) -> Vec<i32> {
    let children = std::fs::read_to_string(thread.join("children")).unwrap_or_default();
    let mut all = Vec::new();
    for child in children.split_whitespace().filter_map(|id| id.parse().ok()) {
        all.push(child);
        let threads = std::fs::read_dir(format!("/proc/{child}/task"));
        for thread in threads.into_iter().flatten().flatten() {
            all.extend(descendants(&thread.path()));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;

    use futures::AsyncReadExt as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::time::Instant;

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

    fn file_with(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    /// Returns a kubeconfig with a credential plugin: its command, and more members.
    fn yaml(command: &str) -> String {
        format!(
            "current-context: c\nclusters: [{{name: prod, cluster: {{server: 'https://127.0.0.1:1'}}}}]\ncontexts: [{{name: c, context: {{cluster: prod, user: u}}}}]\nusers: [{{name: u, user: {{exec: {{apiVersion: client.authentication.k8s.io/v1, command: {command}}}}}}}]\n"
        )
    }

    fn plugin_file(command: &str) -> tempfile::NamedTempFile {
        file_with(&yaml(command))
    }

    #[tokio::test]
    async fn missing_credential_plugin_is_named_with_an_install_hint() {
        for (command, hint) in [
            ("/nowhere/kubelogin", "hint: `az aks install-cli` installs it"),
            ("no-such-plugin", "hint: install no-such-plugin, or use"),
        ] {
            let file = plugin_file(command);
            let error = connect(Some(file.path()), None).await.map(drop).unwrap_err();
            assert!(error.contains("is not installed") && error.contains(hint), "{error}");
        }
        let kubeconfig = parse(&yaml("sh")).unwrap();
        assert_eq!(missing_plugin(plugin_of(&kubeconfig, "c").unwrap()), None);
        let own =
            parse(&yaml("no-such-plugin, installHint: \"brew install it\\nthen log in\"")).unwrap();
        let hint = missing_plugin(plugin_of(&own, "c").unwrap()).unwrap();
        assert!(hint.ends_with("\nhint: brew install it then log in"), "{hint}");
    }

    #[tokio::test]
    async fn failed_credential_plugin_is_named_with_its_status() {
        let file = plugin_file(
            "sh, args: [-c, 'echo CANARY; echo CANARY >&2; exit 7'], interactiveMode: Never",
        );
        let error = connect(Some(file.path()), None).await.map(drop).unwrap_err();
        assert!(error.contains("the credential plugin `sh` failed (exit status: 7)"), "{error}");
        assert!(!error.contains("CANARY"), "{error}");
    }

    #[tokio::test]
    async fn hanging_credential_plugin_ends_with_the_command() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let path = format!("/proc/{}/fd/{}", std::process::id(), writer.as_raw_fd());
        let script = format!("exec 9>{path}; echo started >&9; sleep 600; sleep 600");
        let file = plugin_file(&format!("sh, args: [-c, '{script}'], interactiveMode: Never"));
        let started = tokio::task::spawn_blocking(move || {
            let mut line = [0; 8];
            reader.read_exact(&mut line).unwrap();
            reader
        });
        let connecting = connect(Some(file.path()), None);
        let mut reader = tokio::select! {
            _ = connecting => panic!("the plugin ended"),
            reader = started => reader.unwrap(),
        };
        drop(writer);
        // The pipe ends when the last process that has it ends.
        let mut rest = String::new();
        let ended = tokio::task::spawn_blocking(move || reader.read_to_string(&mut rest));
        tokio::time::timeout(Duration::from_mins(1), ended).await.unwrap().unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn server_that_sends_nothing_has_gone_away() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let client = from_config(kube::Config::new(url.parse().unwrap())).unwrap();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
        tokio::spawn(async move {
            let mut open = Vec::new();
            for answer in ["", head] {
                let (mut stream, _) = listener.accept().await.unwrap();
                assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
                stream.write_all(answer.as_bytes()).await.unwrap();
                open.push(stream);
            }
            std::future::pending::<()>().await;
        });
        let watch = || client.request_stream(http::Request::get("/x").body(Vec::new()).unwrap());
        let started = Instant::now();
        assert!(watch().await.is_err(), "no head");
        assert_eq!(started.elapsed().as_secs(), IDLE_LIMIT.as_secs());
        let mut watching = Box::pin(watch().await.unwrap());
        assert!(watching.read(&mut [0; 9]).await.is_err(), "no body");
        assert_eq!(started.elapsed().as_secs(), 2 * IDLE_LIMIT.as_secs());
    }

    #[test]
    fn missing_files_of_a_list_are_skipped() {
        let one = file_with("contexts: [{name: a, context: {cluster: x, user: u}}]\n");
        let two = file_with(
            "current-context: b\ncontexts: [{name: b, context: {cluster: y, user: u}}]\n",
        );
        let (one, two) = (one.path().to_owned(), two.path().to_owned());
        let missing = PathBuf::from("/nowhere/kubeconfig");
        let merged = merge(&[one, missing.clone(), two]).unwrap();
        assert_eq!(merged.contexts.len(), 2);
        assert_eq!(merged.current_context.as_deref(), Some("b"));
        assert_eq!(merge(&[missing]).unwrap_err(), "no such file");
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
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        assert_eq!(read(Path::new(&path)).unwrap().current_context.as_deref(), Some("c"));
    }
}
