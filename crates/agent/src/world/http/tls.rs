//! Whom to trust, and the handshake.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::deadline::{Duplex, Limits};
use super::{HttpFailure, HttpFailureKind, Phase};

/// Two round trips and some arithmetic; the rest is patience with a bad line.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Who may vouch for a server.
#[derive(Clone)]
pub struct Roots {
    config: Option<Arc<ClientConfig>>,
    count: usize,
}

impl Roots {
    /// Nobody: no server is trusted.
    #[must_use]
    pub fn none() -> Self {
        Self { config: None, count: 0 }
    }

    /// The certificates in these PEM texts; what is none, or a broken one, is passed over.
    #[must_use]
    pub fn from_pem(texts: &[Vec<u8>]) -> Self {
        let mut store = RootCertStore::empty();
        for text in texts {
            store.add_parsable_certificates(CertificateDer::pem_slice_iter(text).flatten());
        }
        let count = store.len();
        // One provider, named: there is no default to install, so none to clash with.
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map(|builder| builder.with_root_certificates(store).with_no_client_auth());
        Self { config: config.ok().map(Arc::new), count }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }
}

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Roots({})", self.count)
    }
}

/// Proves who the server is, and hides what follows from everybody else.
pub(super) fn handshake(
    mut stream: Box<dyn Duplex>,
    host: &str,
    roots: &Roots,
    limits: &Limits,
) -> Result<Box<dyn Duplex>, HttpFailure> {
    let failed = |text: String| HttpFailure::new(HttpFailureKind::Tls, format!("TLS: {text}"));
    let Some(config) = &roots.config else {
        return Err(failed("no CA certificates to check the server against".to_owned()));
    };
    let name = ServerName::try_from(host.to_owned()).map_err(|error| failed(error.to_string()))?;
    let mut connection = ClientConnection::new(Arc::clone(config), name)
        .map_err(|error| failed(error.to_string()))?;
    limits.phase(HANDSHAKE);
    while connection.is_handshaking() {
        connection.complete_io(&mut stream).map_err(|error| failure(Phase::Tls, &error))?;
    }
    Ok(Box::new(StreamOwned::new(connection, stream)))
}

/// What an error on a connection, with TLS or without, means.
pub(super) fn failure(phase: Phase, error: &io::Error) -> HttpFailure {
    let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match (of_tls, error.kind()) {
        (Some(error @ rustls::Error::InvalidCertificate(_)), _) => {
            HttpFailure::new(HttpFailureKind::Certificate, format!("TLS: {error}"))
        }
        (Some(error), _) => HttpFailure::new(HttpFailureKind::Tls, format!("TLS: {error}")),
        (None, io::ErrorKind::TimedOut) => HttpFailure::timed_out(phase),
        (None, _) if phase == Phase::Tls => {
            let text = format!("TLS: the connection ended in the handshake ({error})");
            HttpFailure::new(HttpFailureKind::Tls, text)
        }
        (None, _) => {
            let text = format!("the connection was cut {} ({error})", phase.doing());
            HttpFailure::new(HttpFailureKind::Cut, text)
        }
    }
}
