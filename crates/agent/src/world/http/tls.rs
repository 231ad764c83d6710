//! Trusted certificates and the handshake.

use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore,
    SignatureScheme, StreamOwned,
};

use crate::world::http::{Duplex, HttpFailure, HttpFailureKind, Limits, Phase};

/// Two round trips, with a margin for a slow connection.
const HANDSHAKE: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub struct Roots {
    config: Option<Arc<ClientConfig>>,
    count: usize,
}

impl Roots {
    /// No server is trusted.
    pub fn none() -> Self {
        Self { config: None, count: 0 }
    }

    /// The certificates in these PEM texts; what is none, or a broken one, is passed over.
    pub fn from_pem(texts: &[Vec<u8>]) -> Self {
        let mut store = RootCertStore::empty();
        for text in texts {
            store.add_parsable_certificates(CertificateDer::pem_slice_iter(text).flatten());
        }
        let count = store.len();
        // An explicit provider: a process-wide default could conflict.
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map(|builder| builder.with_root_certificates(store).with_no_client_auth());
        Self { config: config.ok().map(Arc::new), count }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub(super) fn config(&self) -> Result<&Arc<ClientConfig>, HttpFailure> {
        self.config
            .as_ref()
            .ok_or_else(|| failed(&"no CA certificates to check the server against"))
    }
}

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Roots({})", self.count)
    }
}

/// Verifies a certificate for one fixed name, independent of the name in the handshake.
#[derive(Debug)]
struct Pinned {
    verifier: Arc<WebPkiServerVerifier>,
    name: ServerName<'static>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.verifier.verify_server_cert(end_entity, intermediates, &self.name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

/// A connection with TLS that is not for requests of HTTP/1.1.
#[derive(Debug, Clone)]
pub struct Dial<'a> {
    /// The host, which is also the server name in the handshake.
    pub host: &'a str,
    pub port: u16,
    /// The CA in PEM that alone may vouch for the server.
    pub ca: &'a [u8],
    /// The name that the server's certificate must be for.
    pub certificate_name: &'static str,
    /// The application protocols to choose from.
    pub protocols: &'static [&'static str],
    pub limit: Duration,
}

/// Returns settings that accept only a certificate of the CA for a fixed name. An error without a CA.
pub(super) fn pinned(dial: &Dial<'_>) -> Result<Arc<ClientConfig>, HttpFailure> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(CertificateDer::pem_slice_iter(dial.ca).flatten());
    let name = ServerName::try_from(dial.certificate_name).map_err(|error| failed(&error))?;
    let provider = Arc::new(ring::default_provider());
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(&provider))
            .build()
            .map_err(|_| failed(&"no CA certificate to verify the server with"))?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned { verifier, name }))
        .with_no_client_auth();
    config.alpn_protocols = dial.protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok(Arc::new(config))
}

/// A server that offers none of the configured protocols may choose none.
pub(super) fn handshake(
    mut stream: Box<dyn Duplex>,
    host: &str,
    config: &Arc<ClientConfig>,
    limits: &Limits,
) -> Result<StreamOwned<ClientConnection, Box<dyn Duplex>>, HttpFailure> {
    let name = ServerName::try_from(host.to_owned()).map_err(|error| failed(&error))?;
    let mut connection =
        ClientConnection::new(Arc::clone(config), name).map_err(|error| failed(&error))?;
    limits.phase(HANDSHAKE);
    while connection.is_handshaking() {
        connection.complete_io(&mut stream).map_err(|error| failure(Phase::Tls, &error))?;
    }
    Ok(StreamOwned::new(connection, stream))
}

pub(super) fn failed(reason: &dyn fmt::Display) -> HttpFailure {
    HttpFailure::new(HttpFailureKind::Tls, format!("TLS: {reason}"))
}

/// Classifies an error of a connection, with TLS or without.
pub(super) fn failure(phase: Phase, error: &io::Error) -> HttpFailure {
    let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match (of_tls, error.kind()) {
        (Some(rustls::Error::InvalidCertificate(problem)), _) => {
            let text = format!("TLS: invalid peer certificate: {}", describe(problem));
            HttpFailure::new(HttpFailureKind::Certificate, text)
        }
        (Some(error), _) => failed(error),
        (None, io::ErrorKind::TimedOut) => HttpFailure::timed_out(phase),
        (None, _) if phase == Phase::Tls => {
            failed(&format!("the connection ended in the handshake ({error})"))
        }
        (None, _) => {
            let text = format!("the connection was cut {} ({error})", phase.doing());
            HttpFailure::new(HttpFailureKind::Cut, text)
        }
    }
}

/// Returns a readable message for a certificate error; the library prints only names of variants.
fn describe(problem: &CertificateError) -> String {
    let known = match problem {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet; check the clock of this node"
        }
        CertificateError::Revoked => "it is revoked",
        CertificateError::UnknownIssuer => "its issuer is not trusted (UnknownIssuer)",
        CertificateError::BadSignature => "its signature is wrong",
        CertificateError::BadEncoding => "it cannot be read",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another name"
        }
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "it is a CA's own certificate, which no server may use"
        }
        other => {
            // Without the names of the wrappers around it.
            let text = other.to_string();
            return text.trim_start_matches("Other(OtherError(").trim_end_matches("))").to_owned();
        }
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Named(&'static str);

    impl fmt::Display for Named {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl std::error::Error for Named {}

    #[test]
    fn certificate_problems_are_sentences() {
        let other = |name| CertificateError::Other(rustls::OtherError(Arc::new(Named(name))));
        for (problem, expected) in [
            (CertificateError::Expired, "expired"),
            (CertificateError::UnknownIssuer, "issuer is not trusted"),
            (CertificateError::NotValidForName, "another name"),
            (other("CaUsedAsEndEntity"), "a CA's own certificate"),
            (other("MaximumPathDepthExceeded"), "MaximumPathDepthExceeded"),
        ] {
            let text = describe(&problem);
            assert!(text.contains(expected) && !text.contains("Other"), "{text}");
        }
    }

    #[test]
    fn failures_name_what_was_being_done() {
        let cut = std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        for (phase, doing) in [
            (Phase::Connect, "connecting"),
            (Phase::Tunnel, "asking the proxy for a tunnel"),
            (Phase::Request, "sending the request"),
            (Phase::Head, "waiting for the response"),
            (Phase::Body, "reading the response body"),
        ] {
            assert_eq!(HttpFailure::timed_out(phase).text, format!("timed out {doing}"));
            let seen = failure(phase, &cut);
            assert_eq!(seen.kind, HttpFailureKind::Cut);
            assert_eq!(seen.text, format!("the connection was cut {doing} ({cut})"));
        }
        let seen = failure(Phase::Tls, &cut);
        assert_eq!(seen.kind, HttpFailureKind::Tls);
        assert!(seen.text.contains("in the handshake"), "{}", seen.text);
        assert_eq!(HttpFailure::timed_out(Phase::Tls).text, "timed out in the TLS handshake");
    }
}
