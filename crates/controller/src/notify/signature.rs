//! Signatures of notifications.

use data_encoding::HEXLOWER;
use jiff::Timestamp;
use mooring_redact::Secret;
use ring::hmac;

pub const TIMESTAMP_HEADER: &str = "Mooring-Timestamp";
pub const SIGNATURE_HEADER: &str = "Mooring-Signature";

/// Returns `v1=` and the HMAC-SHA256 of `SECONDS.BODY` in hexadecimal digits, where the seconds are the value of the
/// timestamp header. A receiver rejects old timestamps, so that a recorded request cannot be repeated.
pub fn sign(key: &Secret, at: Timestamp, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.expose().as_bytes());
    let mut context = hmac::Context::with_key(&key);
    context.update(at.as_second().to_string().as_bytes());
    context.update(b".");
    context.update(body.as_bytes());
    format!("v1={}", HEXLOWER.encode(context.sign().as_ref()))
}
