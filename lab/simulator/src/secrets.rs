//! Secrets of one run: created at its start, stored in its files, compared in constant time; and the claims of its tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mooring_contract::Secret;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::Value;

/// The system returned no random bytes.
#[derive(Debug, thiserror::Error)]
#[error("the system returned no random bytes for the secrets of this run")]
pub struct NoRandomness;

/// Returns a secret that does not depend on any seed.
pub(crate) fn random() -> Result<Secret, NoRandomness> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(Secret::from(URL_SAFE_NO_PAD.encode(bytes)))
}

/// Returns the part of a token before its claims.
pub(crate) fn token_head() -> String {
    URL_SAFE_NO_PAD.encode(r#"{"typ":"JWT","alg":"none-simulated"}"#)
}

/// Returns claims as a part of a token.
pub(crate) fn encode_claims(claims: &Value) -> String {
    URL_SAFE_NO_PAD.encode(claims.to_string())
}

/// Returns the claims in a part of a token without verifying them.
pub(crate) fn decode_claims(part: &str) -> Option<Value> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

/// Returns true if `sent` is the secret, in constant time.
pub(crate) fn matches(secret: &Secret, sent: &str) -> bool {
    is_signed(secret, "", &sign(&Secret::from(sent), ""))
}

pub(crate) fn sign(key: &Secret, text: &str) -> String {
    URL_SAFE_NO_PAD.encode(hmac::sign(&key_of(key), text.as_bytes()))
}

pub(crate) fn is_signed(key: &Secret, text: &str, signature: &str) -> bool {
    let signature = URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
    hmac::verify(&key_of(key), text.as_bytes(), &signature).is_ok()
}

fn key_of(key: &Secret) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, key.expose().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_matches_only_itself() {
        let secret = random().unwrap();
        assert!(matches(&secret, secret.expose()));
        let half = &secret.expose()[..20];
        for other in ["", "x", half, random().unwrap().expose()] {
            assert!(!matches(&secret, other), "{other}");
        }
    }

    #[test]
    fn a_signature_is_of_one_key_and_one_text() {
        let key = Secret::from("k");
        let signature = sign(&key, "text");
        assert!(is_signed(&key, "text", &signature));
        assert!(!is_signed(&key, "texts", &signature));
        assert!(!is_signed(&Secret::from("l"), "text", &signature));
        assert!(!is_signed(&key, "text", "no base64!"));
    }
}
