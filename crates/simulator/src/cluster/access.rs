//! Whom the cluster's API lets in: its own tokens, and what the sign-in endpoint gives for it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::AUTHORIZATION;
use jiff::Timestamp;
use serde_json::Value;

use crate::azure::{AKS_SERVER, Azure};
use crate::exchange::Request;
use crate::kubernetes::User;

/// The request as somebody whom the cluster knows, if its token is Azure's and meant for the cluster.
pub(super) fn known(azure: &Azure, request: &Request, now: Timestamp) -> Option<Request> {
    let header = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
    let audience = audience(header.strip_prefix("Bearer ")?)?;
    if audience.trim_end_matches('/') != AKS_SERVER {
        return None;
    }
    let principal = azure.check_token(header, now)?;
    let groups = ["system:masters", "system:authenticated"].map(str::to_owned).to_vec();
    let mut known = request.clone();
    known.extensions_mut().insert(User { name: principal, groups });
    Some(known)
}

/// For whom a token was made. Whether it is genuine is another question.
fn audience(token: &str) -> Option<String> {
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    Some(claims["aud"].as_str()?.to_owned())
}
