//! Client assertions: tokens that an application signs with the key of its registered certificate.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jiff::Timestamp;
use ring::digest::{SHA256, digest};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::Value;
use webpki::EndEntityCert;
use webpki::ring::RSA_PSS_2048_8192_SHA256_LEGACY_KEY;

use crate::secrets::decode_claims;

const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// Entra accepts clocks that differ by so many seconds.
const SKEW: i64 = 300;

/// The application that signs in.
pub(super) struct Application<'a> {
    pub(super) client_id: &'a str,
    /// PEM of the registered certificate, if any.
    pub(super) certificate: Option<&'a str>,
    /// Endpoints for which an assertion may be issued.
    pub(super) audiences: [String; 2],
}

impl Application<'_> {
    /// Returns why Entra refuses an assertion.
    pub(super) fn check(&self, kind: &str, assertion: &str, now: Timestamp) -> Result<(), Refusal> {
        if kind != TYPE {
            return Err(Refusal::Type);
        }
        let [head, body, signature] = assertion.split('.').collect::<Vec<_>>()[..] else {
            return Err(Refusal::Malformed);
        };
        let (Some(header), Some(claims)) = (decode_claims(head), decode_claims(body)) else {
            return Err(Refusal::Malformed);
        };
        let is_client = |name: &str| claims[name] == self.client_id;
        if !is_client("iss") {
            // Of another issuer, which the application would have to trust.
            return Err(Refusal::Federated);
        }
        if !is_client("sub") {
            return Err(Refusal::Subject);
        }
        if !self.audiences.iter().any(|audience| claims["aud"] == **audience) {
            return Err(Refusal::Audience);
        }
        let second = |name: &str| claims[name].as_i64().ok_or(Refusal::Expired);
        let now = now.as_second();
        if second("nbf")? > now + SKEW || second("exp")? <= now - SKEW {
            return Err(Refusal::Expired);
        }
        let text = &assertion[..head.len() + 1 + body.len()];
        self.check_signature(&header, text.as_bytes(), signature)
    }

    fn check_signature(&self, header: &Value, text: &[u8], signature: &str) -> Result<(), Refusal> {
        let pem = self.certificate.ok_or(Refusal::Key)?;
        let certificate =
            CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| Refusal::Key)?;
        let thumbprint = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, &certificate));
        if header["x5t#S256"] != *thumbprint {
            return Err(Refusal::Key);
        }
        if header["alg"] != "PS256" {
            return Err(Refusal::Signature);
        }
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).map_err(|_| Refusal::Signature)?;
        EndEntityCert::try_from(&certificate)
            .and_then(|key| {
                key.verify_signature(RSA_PSS_2048_8192_SHA256_LEGACY_KEY, text, &signature)
            })
            .map_err(|_| Refusal::Signature)
    }
}

/// Why an assertion is refused, with Entra's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("AADSTS50027: JWT token is invalid or malformed.")]
    Malformed,
    #[error("AADSTS900144: The request body must contain the parameter 'client_assertion_type'.")]
    Type,
    #[error("AADSTS70021: No matching federated identity record found for presented assertion.")]
    Federated,
    #[error(
        "AADSTS700021: Client assertion application identifier doesn't match 'client_id' parameter."
    )]
    Subject,
    #[error("AADSTS700023: Client assertion audience claim does not match Realm issuer.")]
    Audience,
    #[error("AADSTS700024: Client assertion is not within its valid time range.")]
    Expired,
    #[error(
        "AADSTS700027: The certificate with identifier used to sign the client assertion is not registered on application."
    )]
    Key,
    #[error("AADSTS700027: Client assertion contains an invalid signature.")]
    Signature,
}

#[cfg(test)]
mod tests {
    use ring::rand::SystemRandom;
    use ring::signature::{RSA_PSS_SHA256, RsaKeyPair};
    use rustls::pki_types::PrivateKeyDer;
    use serde_json::json;

    use super::*;

    const PEM: &str =
        include_str!("../../../../../../crates/arm/tests/fixtures/client-certificate.pem");
    /// SHA-256 of that certificate.
    const THUMBPRINT: &str = "WMXdCXYv0M0oPfrg-y5etTqC8GHVWSYmKMTbROHEfu4";
    const NOW: i64 = 1_800_000_000;

    fn sign(header: &Value, claims: &Value) -> String {
        let PrivateKeyDer::Pkcs8(key) = PrivateKeyDer::from_pem_slice(PEM.as_bytes()).unwrap()
        else {
            panic!("PKCS #8");
        };
        let key = RsaKeyPair::from_pkcs8(key.secret_pkcs8_der()).unwrap();
        let encode = |part: &Value| BASE64_URL_SAFE_NO_PAD.encode(part.to_string());
        let text = format!("{}.{}", encode(header), encode(claims));
        let mut signature = vec![0; key.public().modulus_len()];
        let random = SystemRandom::new();
        key.sign(&RSA_PSS_SHA256, &random, text.as_bytes(), &mut signature).unwrap();
        format!("{text}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
    }

    fn check(certificate: Option<&str>, assertion: &str) -> Result<(), Refusal> {
        let audiences = ["https://login/t/oauth2/v2.0/token", "https://login/t/v2.0"];
        let audiences = audiences.map(str::to_owned);
        let now = Timestamp::from_second(NOW).unwrap();
        Application { client_id: "app", certificate, audiences }.check(TYPE, assertion, now)
    }

    #[test]
    fn an_assertion_is_of_the_certificate_for_this_endpoint_and_now() {
        let header = json!({"alg": "PS256", "typ": "JWT", "x5t#S256": THUMBPRINT});
        let claims = json!({
            "aud": "https://login/t/oauth2/v2.0/token", "iss": "app", "sub": "app",
            "nbf": NOW, "exp": NOW + 600,
        });
        let with = |document: &Value, name: &str, value: Value| {
            let mut other = document.clone();
            other[name] = value;
            other
        };
        let good = sign(&header, &claims);
        assert_eq!(check(Some(PEM), &good), Ok(()));
        assert_eq!(check(None, &good), Err(Refusal::Key));
        for (name, value, refusal) in [
            ("iss", json!("other"), Refusal::Federated),
            ("sub", json!("other"), Refusal::Subject),
            ("aud", json!("https://other/t/oauth2/v2.0/token"), Refusal::Audience),
            ("exp", json!(NOW - SKEW), Refusal::Expired),
            ("nbf", json!(NOW + SKEW + 1), Refusal::Expired),
            ("exp", Value::Null, Refusal::Expired),
        ] {
            let other = sign(&header, &with(&claims, name, value));
            assert_eq!(check(Some(PEM), &other), Err(refusal), "{name}");
        }
        for (name, value, refusal) in [
            ("x5t#S256", json!("A".repeat(43)), Refusal::Key),
            ("x5t#S256", Value::Null, Refusal::Key),
            ("alg", json!("none"), Refusal::Signature),
        ] {
            let other = sign(&with(&header, name, value), &claims);
            assert_eq!(check(Some(PEM), &other), Err(refusal), "{name}");
        }
        // Signed for other claims.
        let (_, signature) = good.rsplit_once('.').unwrap();
        let other = sign(&header, &with(&claims, "exp", json!(NOW + 601)));
        let (text, _) = other.rsplit_once('.').unwrap();
        let forged = format!("{text}.{signature}");
        assert_eq!(check(Some(PEM), &forged), Err(Refusal::Signature));
        assert_eq!(check(Some(PEM), "a.b"), Err(Refusal::Malformed));
    }
}
