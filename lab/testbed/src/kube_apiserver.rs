//! A kube-apiserver over its own etcd, on loopback, with an empty store.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use crate::process::ServerProcess;

/// Startup timeout; a start takes five seconds on an idle host.
const STARTUP_TIMEOUT: Duration = Duration::from_mins(2);
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A free port can be taken by another process before the server binds it.
const ATTEMPTS: usize = 3;

/// Conventional variable for the directory of a kube-apiserver.
const ASSETS: &str = "KUBEBUILDER_ASSETS";
/// Set by `cargo xtask test --quick`, which runs no real server.
const QUICK: &str = "MOORING_TEST_QUICK";

/// Users, each with the token `<name>-token`.
#[derive(Debug, Clone, Copy)]
pub struct Users;

impl Users {
    /// Member of the group `system:masters`.
    pub const ADMIN: &'static str = "admin";
    /// Users without permissions until a test binds roles.
    pub const OTHERS: [&'static str; 8] =
        ["ann", "ben", "cleo", "dan", "eve", "finn", "gus", "hal"];
}

/// A real API server. Dropping it stops it and deletes its data.
pub struct RealCluster {
    // Dropped in this order: without its etcd the server would hang.
    apiserver: ServerProcess,
    etcd: ServerProcess,
    folder: tempfile::TempDir,
    url: String,
    authority: String,
    version: String,
}

impl RealCluster {
    /// Starts a server. Returns `None` if this host has no kube-apiserver.
    pub async fn start() -> Result<Option<Self>, ServerStartError> {
        let Some(program) = apiserver()? else { return Ok(None) };
        let mut last = ServerStartError::NotReady(String::new());
        for _ in 0..ATTEMPTS {
            match Self::attempt(&program).await {
                Ok(cluster) => return Ok(Some(cluster)),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn attempt(program: &Path) -> Result<Self, ServerStartError> {
        let folder = tempfile::tempdir()?;
        let certificates = Certificates::new()?;
        place(folder.path(), "server.crt", &certificates.server)?;
        place(folder.path(), "server.key", &certificates.server_key)?;
        place(folder.path(), "tokens.csv", &tokens())?;
        let [client_port, peer_port, port] = free_ports()?;

        let etcd = etcd_bin_vendored::etcd_bin_path()
            .map_err(|error| ServerStartError::Etcd(error.to_string()))?;
        let client_url = format!("http://127.0.0.1:{client_port}");
        let peer_url = format!("http://127.0.0.1:{peer_port}");
        let etcd = ServerProcess::start(
            etcd,
            &[
                flag("name", "only"),
                flag("data-dir", folder.path().join("etcd").display()),
                flag("listen-client-urls", &client_url),
                flag("advertise-client-urls", &client_url),
                flag("listen-peer-urls", &peer_url),
                flag("initial-advertise-peer-urls", &peer_url),
                flag("initial-cluster", format!("only={peer_url}")),
                // The data need not survive a power failure.
                "--unsafe-no-fsync".to_owned(),
            ],
            folder.path().join("etcd.log"),
        )?;
        let file = |name: &str| folder.path().join(name).display().to_string();
        let apiserver = ServerProcess::start(
            program,
            &[
                flag("etcd-servers", &client_url),
                flag("bind-address", "127.0.0.1"),
                flag("advertise-address", "127.0.0.1"),
                flag("secure-port", port),
                flag("tls-cert-file", file("server.crt")),
                flag("tls-private-key-file", file("server.key")),
                flag("cert-dir", file("certificates")),
                flag("token-auth-file", file("tokens.csv")),
                flag("authorization-mode", "RBAC"),
                flag("service-account-issuer", "https://127.0.0.1"),
                // Service account tokens need any signing key.
                flag("service-account-key-file", file("server.crt")),
                flag("service-account-signing-key-file", file("server.key")),
                flag("service-cluster-ip-range", "10.96.0.0/16"),
                // No endpoint to maintain, and no controller that creates service accounts.
                flag("endpoint-reconciler-type", "none"),
                flag("disable-admission-plugins", "ServiceAccount"),
            ],
            folder.path().join("apiserver.log"),
        )?;
        let url = format!("https://127.0.0.1:{port}");
        let mut cluster = Self {
            apiserver,
            etcd,
            folder,
            url,
            authority: certificates.authority,
            version: String::new(),
        };
        cluster.become_ready().await?;
        Ok(cluster)
    }

    async fn become_ready(&mut self) -> Result<(), ServerStartError> {
        let client = self.client(Users::ADMIN).await?;
        let other = self.client(Users::OTHERS[0]).await?;
        let ready = async {
            // A server whose etcd has exited may become ready with the etcd of another server on the same port.
            while self.apiserver.is_running() && self.etcd.is_running() {
                // The namespace represents the objects that the server creates after its start; discovery represents
                // the default RBAC.
                if is_ok(&client, "/readyz").await
                    && is_ok(&client, "/api/v1/namespaces/default").await
                    && is_ok(&other, "/api").await
                    && self.etcd.is_running()
                {
                    return true;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
            false
        };
        if !tokio::time::timeout(STARTUP_TIMEOUT, ready).await.unwrap_or(false) {
            return Err(ServerStartError::NotReady(self.apiserver.log_tail()));
        }
        let version = client.apiserver_version().await;
        self.version =
            version.map_err(|error| ServerStartError::Client(error.to_string()))?.git_version;
        Ok(())
    }

    /// Kills the API server; its data stay in etcd.
    pub fn stop(&mut self) {
        self.apiserver.stop();
    }

    /// Starts a stopped API server again, at the same address.
    pub async fn restart(&mut self) -> Result<(), ServerStartError> {
        self.apiserver.restart()?;
        self.become_ready().await
    }

    /// Returns a client authenticated as this user.
    pub async fn client(&self, user: &str) -> Result<Client, ServerStartError> {
        let kubeconfig = Kubeconfig::from_yaml(&self.kubeconfig(user))
            .map_err(|error| ServerStartError::Client(error.to_string()))?;
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .map_err(|error| ServerStartError::Client(error.to_string()))?;
        // Tests check each response, so retries are disabled.
        config.default_retry = false;
        config.proxy_url = None;
        Client::try_from(config).map_err(|error| ServerStartError::Client(error.to_string()))
    }

    pub fn kubeconfig(&self, user: &str) -> String {
        kubeconfig(&self.url, &self.authority, user)
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The certificate authority in PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Version such as `v1.20.2`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Minor version, for tests that depend on it.
    pub fn minor(&self) -> u32 {
        self.version.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or(0)
    }

    /// Directory of its files and logs.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn process(&self) -> u32 {
        self.apiserver.id()
    }
}

/// Returns the kube-apiserver to use, or `None` if none was built. A missing file in a given directory is an error.
fn apiserver() -> Result<Option<PathBuf>, ServerStartError> {
    if std::env::var_os(QUICK).is_some() {
        return Ok(None);
    }
    if let Some(folder) = std::env::var_os(ASSETS).filter(|folder| !folder.is_empty()) {
        let program = Path::new(&folder).join("kube-apiserver");
        return if program.is_file() {
            Ok(Some(program))
        } else {
            Err(ServerStartError::NotThere(program))
        };
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/kube-assets");
    let Ok(output) = Command::new(script).arg("--where").output() else { return Ok(None) };
    let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let program = Path::new(&folder).join("kube-apiserver");
    Ok(program.is_file().then_some(program))
}

async fn is_ok(client: &Client, path: &str) -> bool {
    let request = http::Request::get(path).body(Vec::new());
    match request {
        Ok(request) => client.request_text(request).await.is_ok(),
        Err(_) => false,
    }
}

fn kubeconfig(url: &str, authority: &str, user: &str) -> String {
    let authority = BASE64_STANDARD.encode(authority);
    serde_json::json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": user, "namespace": "default"}}],
        "clusters": [{"name": "test", "cluster": {"server": url, "certificate-authority-data": authority}}],
        "users": [{"name": user, "user": {"token": token(user)}}],
    })
    .to_string()
}

fn token(user: &str) -> String {
    format!("{user}-token")
}

/// The server's token file: token, name, uid, groups.
fn tokens() -> String {
    let admin = Users::ADMIN;
    let others = Users::OTHERS.map(|user| format!("{},{user},{user}\n", token(user)));
    format!("{},{admin},{admin},system:masters\n{}", token(admin), others.concat())
}

fn flag(name: &str, value: impl std::fmt::Display) -> String {
    format!("--{name}={value}")
}

/// Returns free, distinct ports.
fn free_ports() -> std::io::Result<[u16; 3]> {
    let mut ports = [0; 3];
    let mut held = Vec::new();
    for port in &mut ports {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        *port = listener.local_addr()?.port();
        held.push(listener);
    }
    Ok(ports)
}

#[expect(clippy::disallowed_methods, reason = "nobody reads this file while it is written")]
fn place(folder: &Path, name: &str, content: &str) -> std::io::Result<()> {
    std::fs::write(folder.join(name), content)
}

#[derive(Debug, thiserror::Error)]
pub enum ServerStartError {
    /// `KUBEBUILDER_ASSETS` is a directory without it.
    #[error("KUBEBUILDER_ASSETS is set, but there is no {0}")]
    NotThere(PathBuf),
    /// No etcd for this platform.
    #[error("there is no etcd for this platform: {0}")]
    Etcd(String),
    #[error("cannot prepare the server: {0}")]
    Io(#[from] std::io::Error),
    #[error("cannot make certificates: {0}")]
    Certificates(#[from] rcgen::Error),
    #[error("cannot make a client: {0}")]
    Client(String),
    /// Exited, or did not become ready in time.
    #[error("the server did not become ready; its last words:\n{0}")]
    NotReady(String),
}

/// Certificates of one server, in PEM.
pub(crate) struct Certificates {
    pub(crate) authority: String,
    pub(crate) server: String,
    pub(crate) server_key: String,
}

impl Certificates {
    /// Generates certificates for a server on loopback.
    pub(crate) fn new() -> Result<Self, rcgen::Error> {
        let authority_key = KeyPair::generate()?;
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, "mooring testbed CA");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority = params.self_signed(&authority_key)?.pem();
        let issuer = Issuer::new(params, authority_key);

        let key = KeyPair::generate()?;
        let names = ["127.0.0.1", "localhost"].map(str::to_owned).to_vec();
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, "kube-apiserver");
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let server = params.signed_by(&key, &issuer)?.pem();
        Ok(Self { authority, server, server_key: key.serialize_pem() })
    }
}
