//! A CA and a leaf that rustls accepts; it rejects those that the server generates.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

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
