//! A service principal with a certificate: assertions that its key signs.

use std::fmt;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;

use azure_core::http::ClientMethodOptions;
use azure_identity::ClientAssertion;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jiff::Timestamp;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{RSA_PSS_SHA256, RsaKeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;

use super::IdentityError;

/// Seconds until an assertion expires.
const LIFETIME: i64 = 600;

pub(super) struct ClientCertificate {
    client: String,
    /// The token endpoint.
    audience: String,
    /// SHA-256 of the certificate.
    thumbprint: String,
    key: RsaKeyPair,
}

impl fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCertificate").finish_non_exhaustive()
    }
}

impl ClientCertificate {
    /// Reads a PEM file with a certificate and its RSA key.
    pub(super) fn read(
        path: &Path,
        client: String,
        audience: String,
    ) -> Result<Self, IdentityError> {
        let failed = |why: &str| IdentityError::ClientCertificate {
            path: path.to_owned(),
            why: why.to_owned(),
        };
        let pem = std::fs::read(path).map_err(|error| failed(&error.to_string()))?;
        let certificate =
            CertificateDer::from_pem_slice(&pem).map_err(|_| failed("no certificate in PEM"))?;
        let key = PrivateKeyDer::from_pem_slice(&pem)
            .map_err(|_| failed("no private key in PEM without a password"))?;
        let key = match &key {
            PrivateKeyDer::Pkcs8(key) => RsaKeyPair::from_pkcs8(key.secret_pkcs8_der()).ok(),
            PrivateKeyDer::Pkcs1(key) => RsaKeyPair::from_der(key.secret_pkcs1_der()).ok(),
            _ => None,
        };
        let key = key.ok_or_else(|| failed("the private key is not an RSA key"))?;
        let thumbprint = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, &certificate));
        Ok(Self { client, audience, thumbprint, key })
    }

    /// Returns a JSON web token as Entra requires it; none without randomness.
    fn sign(&self, now: Timestamp) -> Option<String> {
        let random = SystemRandom::new();
        let mut id = [0; 16];
        random.fill(&mut id).ok()?;
        let now = now.as_second();
        let head = json!({"alg": "PS256", "typ": "JWT", "x5t#S256": self.thumbprint});
        let claims = json!({
            "aud": self.audience, "iss": self.client, "sub": self.client,
            "jti": BASE64_URL_SAFE_NO_PAD.encode(id), "nbf": now, "exp": now + LIFETIME,
        });
        let encode = |part: &serde_json::Value| BASE64_URL_SAFE_NO_PAD.encode(part.to_string());
        let text = format!("{}.{}", encode(&head), encode(&claims));
        let mut signature = vec![0; self.key.public().modulus_len()];
        self.key.sign(&RSA_PSS_SHA256, &random, text.as_bytes(), &mut signature).ok()?;
        Some(format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)))
    }
}

impl ClientAssertion for ClientCertificate {
    fn secret<'a, 'b, 'c>(
        &'a self,
        _: Option<ClientMethodOptions<'b>>,
    ) -> Pin<Box<dyn Future<Output = azure_core::Result<String>> + Send + 'c>>
    where
        'a: 'c,
        'b: 'c,
        Self: 'c,
    {
        let signed = self.sign(Timestamp::now());
        Box::pin(async move {
            let kind = azure_core::error::ErrorKind::Credential;
            let failed = || azure_core::Error::with_message(kind, "the assertion was not signed");
            signed.ok_or_else(failed)
        })
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{RSA_PSS_2048_8192_SHA256, UnparsedPublicKey};
    use serde_json::Value;

    use super::*;

    fn file(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
    }

    fn read(name: &str) -> Result<ClientCertificate, IdentityError> {
        ClientCertificate::read(&file(name), "app".to_owned(), "https://login/t".to_owned())
    }

    #[test]
    fn assertion_is_signed_by_the_key_and_names_the_certificate() {
        let certificate = read("client-certificate.pem").unwrap();
        let token = certificate.sign("2026-05-26T00:00:00Z".parse().unwrap()).unwrap();
        let (text, signature) = token.rsplit_once('.').unwrap();
        let decode = |part: &str| BASE64_URL_SAFE_NO_PAD.decode(part).unwrap();
        let (head, claims) = text.split_once('.').unwrap();
        let [head, claims] =
            [head, claims].map(|part| serde_json::from_slice::<Value>(&decode(part)).unwrap());
        // openssl x509 -outform der | openssl dgst -sha256 -binary | basenc --base64url
        let thumbprint = "WMXdCXYv0M0oPfrg-y5etTqC8GHVWSYmKMTbROHEfu4";
        assert_eq!(head, json!({"alg": "PS256", "typ": "JWT", "x5t#S256": thumbprint}));
        assert_eq!((&claims["iss"], &claims["sub"]), (&json!("app"), &json!("app")));
        assert_eq!(claims["aud"], "https://login/t");
        assert_eq!(
            (&claims["nbf"], &claims["exp"]),
            (&json!(1_779_753_600), &json!(1_779_754_200))
        );
        let key = certificate.key.public().as_ref();
        let key = UnparsedPublicKey::new(&RSA_PSS_2048_8192_SHA256, key);
        key.verify(text.as_bytes(), &decode(signature)).unwrap();
    }

    #[test]
    fn unusable_file_is_named_with_the_reason() {
        for (name, why) in
            [("nosuch.pem", "No such file"), ("../it/main.rs", "no certificate in PEM")]
        {
            let error = read(name).unwrap_err().to_string();
            assert!(error.starts_with("AZURE_CLIENT_CERTIFICATE_PATH: "), "{error}");
            assert!(error.contains(name) && error.contains(why), "{error}");
        }
    }
}
