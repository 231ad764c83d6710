//! The simulation as a process: a clock, a lock, a socket, and files with addresses and secrets for clients.

mod admin;
mod files;
mod routes;
mod shell;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use crate::azure::{self, KubernetesAccess};
use crate::cluster::{ClusterOptions, KubernetesApi};
use crate::scenario::Scenario;
use crate::secrets::{self, NoRandomness};
use crate::serve::{self, AuthorityError, CertificateAuthority, HostCheck};
use crate::{karpenter, live_patching};

pub use files::{FilesError, owner, remove_environment};
pub use shell::{LockedAzure, Shell};

#[derive(Debug, Clone)]
pub struct SimulationSettings {
    pub scenario: Scenario,
    /// Listening address; port 0 picks a free port.
    pub address: SocketAddr,
    /// Directory for `ca.pem`, `env.sh` and, with a cluster's API, `kubeconfig`.
    pub state: PathBuf,
    /// Speed-up factor.
    pub speed: f64,
    pub seed: u64,
    /// Port of the cluster's API, on the same address; 0 picks a free port. Without it the API is not served.
    pub kube_port: Option<u16>,
    pub karpenter: Option<karpenter::KarpenterOptions>,
}

#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The address is not available.
    #[error(
        "cannot listen on {0}: {1}\nhint: another program may have the port; port 0 takes a free one"
    )]
    Listen(SocketAddr, std::io::Error),
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// A running simulation. Dropping it ends it.
pub struct Simulation {
    address: SocketAddr,
    shell: Arc<Shell>,
    tasks: tokio::task::JoinSet<()>,
}

/// Starts a simulation: when this returns, the files exist and every port accepts requests.
pub async fn start(settings: SimulationSettings) -> Result<Simulation, SimError> {
    let (listener, address) = listen(settings.address).await?;
    let cluster = match settings.kube_port {
        Some(port) => Some(listen(SocketAddr::new(settings.address.ip(), port)).await?),
        None => None,
    };
    let authority = CertificateAuthority::new()?;
    let host = address.ip().to_string();
    let names = ["127.0.0.1", "localhost", "::1", &host, live_patching::CERTIFICATE_NAME];
    let tls = authority.server(&names, &[live_patching::PROTOCOL, "h2", "http/1.1"])?;
    let mut options = ClusterOptions {
        azure: azure::AzureOptions {
            speed: settings.speed,
            endpoint: format!("https://{address}"),
            client_secret: secrets::random()?,
            token_key: secrets::random()?,
            rights: azure::Rights::Owner,
            ..azure::AzureOptions::default()
        },
        token: secrets::random()?,
        karpenter: settings.karpenter,
        ..ClusterOptions::default()
    };
    // The credential from ARM is like a real one: its user needs a token of the sign-in endpoint.
    options.azure.kubernetes = cluster.as_ref().map(|(_, address)| KubernetesAccess {
        server: format!("https://{address}"),
        ca_pem: authority.pem().to_owned(),
        token: None,
    });
    // Every local user can connect, on loopback as well; only the owner of the directory can read the files.
    let admin_token = secrets::random()?;
    files::write(&settings.state, authority.pem(), &options, &admin_token)?;
    let shell = Shell::new(&settings.scenario, settings.seed, options, admin_token);
    let shell = Arc::new(shell);
    let mut tasks = tokio::task::JoinSet::new();
    let checked = |service| Arc::new(HostCheck::new(address.ip(), service));
    let service: Arc<dyn serve::Service> = Arc::clone(&shell) as Arc<dyn serve::Service>;
    tasks.spawn(serve::serve(listener, Arc::clone(&tls), checked(service)));
    if let Some((listener, _)) = cluster {
        let service = Arc::new(KubernetesApi(shell.world().clone()));
        tasks.spawn(serve::serve(listener, tls, checked(service)));
    }
    tasks.spawn(shell.world().clone().run());
    Ok(Simulation { address, shell, tasks })
}

async fn listen(address: SocketAddr) -> Result<(tokio::net::TcpListener, SocketAddr), SimError> {
    let failed = |error| SimError::Listen(address, error);
    let listener = serve::listen(address).await.map_err(failed)?;
    let taken = listener.local_addr().map_err(failed)?;
    Ok((listener, taken))
}

impl Simulation {
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    pub fn shell(&self) -> &Arc<Shell> {
        &self.shell
    }

    /// Ends it, open connections included.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}
