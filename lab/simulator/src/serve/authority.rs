//! A certificate authority for one run. rustls rejects a self-signed server certificate, so a CA signs a leaf.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::PrivateKeyDer;

/// Signs the certificates of a run's servers. Its key stays in memory.
pub struct CertificateAuthority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("cannot use the certificate for TLS: {0}")]
    Tls(#[from] rustls::Error),
}

impl CertificateAuthority {
    pub fn new() -> Result<Self, AuthorityError> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, "mooring simulator CA");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let pem = params.self_signed(&key)?.pem();
        Ok(Self { issuer: Issuer::new(params, key), pem })
    }

    /// Certificate for clients to trust.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Returns the TLS configuration of a server with these names (DNS names and addresses) and protocols.
    pub fn server(
        &self,
        names: &[&str],
        protocols: &[&str],
    ) -> Result<Arc<rustls::ServerConfig>, AuthorityError> {
        let key = KeyPair::generate()?;
        let mut params =
            CertificateParams::new(names.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        params.distinguished_name.push(DnType::CommonName, "mooring simulator");
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let leaf = params.signed_by(&key, &self.issuer)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(
                vec![leaf.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )?;
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Ok(Arc::new(config))
    }
}
