//! Why a real API server could not be started.

use std::path::PathBuf;

/// Why there is no server although there should be one.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// `KUBEBUILDER_ASSETS` names a folder without it.
    #[error("KUBEBUILDER_ASSETS is set, but there is no {0}")]
    NotThere(PathBuf),
    /// The crate has no etcd for this platform.
    #[error("there is no etcd for this platform: {0}")]
    Etcd(String),
    /// Files, ports and processes.
    #[error("cannot prepare the server: {0}")]
    Io(#[from] std::io::Error),
    #[error("cannot make certificates: {0}")]
    Certificates(#[from] rcgen::Error),
    #[error("cannot make a client: {0}")]
    Client(String),
    /// It ended, or did not become ready in time.
    #[error("the server did not become ready; its last words:\n{0}")]
    NotReady(String),
}
