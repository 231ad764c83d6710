//! Authentication at the cluster's API: its own tokens, and those of the sign-in endpoint.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::AUTHORIZATION;
use jiff::Timestamp;
use serde_json::Value;

use crate::azure::{AKS_SERVER, Azure};
use crate::exchange::Request;
use crate::kubernetes::User;

/// Returns the request as a user of the cluster, if its token is Azure's and issued for the cluster.
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

/// Returns the audience of a token without verifying it.
fn audience(token: &str) -> Option<String> {
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    Some(claims["aud"].as_str()?.to_owned())
}
