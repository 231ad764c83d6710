//! Signatures of notifications.

use std::fmt::Write as _;

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
    let mut text = "v1=".to_owned();
    for byte in context.sign().as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
