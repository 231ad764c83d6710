//! Authentication at the cluster's API: its own tokens, and those of the sign-in endpoint.

use jiff::Timestamp;

use crate::azure::{AKS_SERVER, Azure, Rights};
use crate::exchange::{Request, header};
use crate::kubernetes::User;
use crate::secrets::decode_claims;

/// Returns the request as a user of the cluster, if its token is Azure's and issued for the cluster.
pub(super) fn known(azure: &Azure, request: &Request, now: Timestamp) -> Option<Request> {
    let header = header(request, "authorization")?;
    let claims = decode_claims(header.strip_prefix("Bearer ")?.split('.').nth(1)?)?;
    if claims["aud"].as_str()?.trim_end_matches('/') != AKS_SERVER {
        return None;
    }
    let name = azure.check_token(header, now)?;
    let user = match azure.options().rights {
        // Entra names an application by its object id.
        Rights::Assigned if !azure.administers(&name) => {
            User { name, groups: vec!["system:authenticated".to_owned()] }
        }
        Rights::Assigned | Rights::Owner | Rights::Shipped => {
            User { name, ..User::administrator() }
        }
    };
    let mut known = request.clone();
    known.extensions_mut().insert(user);
    Some(known)
}
