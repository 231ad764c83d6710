//! Errors of starting a real API server.

use std::path::PathBuf;

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
