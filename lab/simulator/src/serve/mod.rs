//! TLS servers of models.

mod authority;
mod connection;
mod host;

pub use authority::{AuthorityError, CertificateAuthority};
pub use connection::Service;
pub use host::HostCheck;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Serves on this listener until the future is dropped.
///
/// A failed connection does not affect the others.
pub async fn serve(
    listener: TcpListener,
    tls: Arc<rustls::ServerConfig>,
    service: Arc<dyn Service>,
) {
    let acceptor = TlsAcceptor::from(tls);
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    let (acceptor, service) = (acceptor.clone(), Arc::clone(&service));
                    connections.spawn(async move {
                        if let Err(error) = connection::serve(stream, acceptor, service).await {
                            tracing::debug!(%peer, error, "connection ended");
                        }
                    });
                }
                Err(error) => {
                    // Probably out of file descriptors, which may pass.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::task::yield_now().await;
                }
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
}

/// Listens on an address; port 0 picks a free port.
pub async fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    TcpListener::bind(address).await
}
