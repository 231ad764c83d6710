//! The shell around the models: a clock, a lock, a socket, and files that tell clients where to go.

mod admin;
mod files;
mod shell;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use files::FilesError;
pub use shell::Shell;

use crate::azure::Options;
use crate::scenario::Scenario;
use crate::serve::{self, Authority, AuthorityError};

/// How often the models are moved on while nobody asks.
const BEAT: Duration = Duration::from_millis(250);

/// What to simulate, and where.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The world to begin with.
    pub scenario: Scenario,
    /// Where to listen; port 0 takes a free one.
    pub address: SocketAddr,
    /// The folder for `ca.pem` and `env.sh`.
    pub state: PathBuf,
    /// How much faster than Azure things happen.
    pub speed: f64,
    /// What chance is drawn from.
    pub seed: u64,
}

/// The simulation could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The address is not to be had.
    #[error(
        "cannot listen on {0}: {1}\nhint: another program may have the port; `--port 0` takes a free one"
    )]
    Listen(SocketAddr, std::io::Error),
    /// No certificate.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// The folder or a file in it.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// A simulation that answers. Dropping it ends it.
pub struct Simulation {
    address: SocketAddr,
    shell: Arc<Shell>,
    tasks: tokio::task::JoinSet<()>,
}

/// Starts a simulation: when this returns, the files are there and the port answers.
pub async fn start(settings: Settings) -> Result<Simulation, SimError> {
    let listener = serve::listen(settings.address)
        .await
        .map_err(|error| SimError::Listen(settings.address, error))?;
    let address =
        listener.local_addr().map_err(|error| SimError::Listen(settings.address, error))?;
    let authority = Authority::new()?;
    let host = address.ip().to_string();
    let tls = authority.server(&["127.0.0.1", "localhost", "::1", &host], &["h2", "http/1.1"])?;
    let options = Options {
        speed: settings.speed,
        endpoint: format!("https://{address}"),
        ..Options::default()
    };
    files::write(&settings.state, authority.pem(), &options)?;
    let shell = Arc::new(Shell::new(&settings.scenario, settings.seed, options));
    let mut tasks = tokio::task::JoinSet::new();
    let service: Arc<dyn serve::Service> = Arc::clone(&shell) as Arc<dyn serve::Service>;
    tasks.spawn(async move { serve::serve(listener, tls, service).await });
    let beaten = Arc::clone(&shell);
    tasks.spawn(async move {
        let mut beat = tokio::time::interval(BEAT);
        loop {
            beat.tick().await;
            beaten.settle();
        }
    });
    Ok(Simulation { address, shell, tasks })
}

impl Simulation {
    /// Where it answers: `https://127.0.0.1:N`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The models behind it. A Kubernetes API that is to share the world takes Azure's changes here, and
    /// tells Azure where it is (`Azure::set_kubernetes`).
    #[must_use]
    pub fn shell(&self) -> &Arc<Shell> {
        &self.shell
    }

    /// Ends it, open connections included.
    pub async fn stop(mut self) {
        self.tasks.shutdown().await;
    }
}
