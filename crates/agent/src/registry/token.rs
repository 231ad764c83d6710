//! Permissions of a refresh token.

use base64::Engine as _;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use mooring_contract::json::{MAX_DEPTH, ValueKind};
use mooring_redact::Secret;

use crate::format::json::{members, object};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pull {
    Allowed,
    /// It lists what is allowed, and reading is not there.
    Missing,
    /// It lists nothing: a token of a registry with attribute-based access, or one that cannot be
    /// read. The registry decides when something is pulled.
    NotTold,
}

/// Reads the token, which is a JWT. Its signature is the registry's own business.
///
/// Upstream searches for `read` as a part of any action, which also matches `deleted/read`; here it
/// must be the whole action.
pub(super) fn pull(token: &Secret) -> Pull {
    let Some(claims) = token.expose().split('.').nth(1) else { return Pull::NotTold };
    let decoded = URL_SAFE_NO_PAD.decode(claims).or_else(|_| URL_SAFE.decode(claims));
    let Ok(claims) = decoded else { return Pull::NotTold };
    let mut pull = Pull::NotTold;
    let read = object(&claims, &mut |reader, member| {
        if member != "permissions" {
            return reader.skip(MAX_DEPTH);
        }
        pull = Pull::Missing;
        if reader.peek()? != ValueKind::Object {
            return reader.skip(MAX_DEPTH);
        }
        members(reader, &mut |reader, member| {
            if member != "actions" || reader.peek()? != ValueKind::Array {
                return reader.skip(MAX_DEPTH);
            }
            let mut actions = reader.array()?;
            while actions.next(reader)? {
                if reader.peek()? != ValueKind::String {
                    reader.skip(MAX_DEPTH)?;
                } else if reader.string()? == "read" {
                    pull = Pull::Allowed;
                }
            }
            Ok(())
        })
    });
    read.map_or(Pull::NotTold, |()| pull)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pulling_needs_the_action_read_unless_nothing_is_listed() {
        for (claims, expected) in [
            (r#"{"permissions":{"actions":["write","read"]}}"#, Pull::Allowed),
            (r#"{"sub":"?>","permissions":{"actions":["read"],"notActions":null}}"#, Pull::Allowed),
            (r#"{"permissions":{"actions":["write"]}}"#, Pull::Missing),
            (r#"{"permissions":{"actions":["deleted/read"]}}"#, Pull::Missing),
            (r#"{"permissions":{"actions":[]}}"#, Pull::Missing),
            (r#"{"permissions":{"actions":null}}"#, Pull::Missing),
            (r#"{"permissions":{}}"#, Pull::Missing),
            (r#"{"permissions":null}"#, Pull::Missing),
            (r#"{"sub":"x","exp":1234567890}"#, Pull::NotTold),
            ("not json", Pull::NotTold),
        ] {
            for claims in [URL_SAFE_NO_PAD.encode(claims), URL_SAFE.encode(claims)] {
                let token = Secret::from(format!("e30.{claims}.sig"));
                assert_eq!(pull(&token), expected, "{claims}");
            }
        }
        for opaque in ["", "opaque", "a.!.c"] {
            assert_eq!(pull(&opaque.into()), Pull::NotTold, "{opaque}");
        }
    }
}
