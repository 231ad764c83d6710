//! Bodies and headers of responses, permissions of a token, and forms.

use base64::Engine as _;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use mooring_redact::Secret;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// Enough for a sentence of Entra ID; foreign text, so it is also made safe to print.
const COMPLAINT_CHARS: usize = 300;

/// Returns the token in the member of this name; `None` if the body is not JSON or has no such token.
pub(super) fn token(body: &[u8], name: &str) -> Option<Secret> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let token = body.get(name)?.as_str()?;
    // A token travels in headers and forms: what could break out of them is none.
    let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    is_token.then(|| Secret::from(token))
}

/// Returns true for a registry's list of repositories, which may be empty.
pub(super) fn is_catalog(body: &[u8]) -> bool {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    body.get("repositories").is_some_and(|list| list.is_array() || list.is_null())
}

/// Returns the error message of a registry, IMDS or Entra ID; empty for an unknown format. Other bodies
/// are never quoted.
pub(super) fn complaint(body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let errors = body["errors"].as_array().into_iter().flatten();
    let words = ["error", "error_description"].into_iter().map(|name| &body[name]);
    let words = words.chain(errors.flat_map(|error| [&error["code"], &error["message"]]));
    excerpt(&words.filter_map(Value::as_str).collect::<Vec<_>>().join(": "), COMPLAINT_CHARS)
}

/// Foreign text in printable ASCII, cut.
pub(super) fn excerpt(text: &str, most: usize) -> String {
    let safe = |c: char| if c.is_ascii_graphic() || c == ' ' { c } else { '.' };
    let mut excerpt: String = text.trim().chars().map(safe).take(most).collect();
    if text.trim().chars().nth(most).is_some() {
        excerpt += "...";
    }
    excerpt
}

/// Challenge of a 401 response: the token endpoint and scope.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    pub(super) realm: String,
    pub(super) service: Option<String>,
    pub(super) scope: Option<String>,
}

pub(super) fn challenge(header: &str) -> Option<Challenge> {
    let (scheme, mut rest) = header.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    let (mut realm, mut service, mut scope) = (None, None, None);
    while let Some((name, behind)) = rest.split_once('=') {
        let (value, behind) = match behind.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => behind.split_at(behind.find(',').unwrap_or(behind.len())),
        };
        match name.trim_start_matches([',', ' ']).trim().to_ascii_lowercase().as_str() {
            "realm" => realm = Some(value.to_owned()),
            "service" => service = Some(value.to_owned()),
            "scope" => scope = Some(value.to_owned()),
            _ => {}
        }
        rest = behind;
    }
    Some(Challenge { realm: realm?, service, scope })
}

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
    let claims: Value = serde_json::from_slice(&claims).unwrap_or_default();
    let Some(permissions) = claims.get("permissions") else { return Pull::NotTold };
    let actions = permissions["actions"].as_array();
    if actions.is_some_and(|actions| actions.iter().any(|action| action == "read")) {
        Pull::Allowed
    } else {
        Pull::Missing
    }
}

/// What a form keeps as it is, besides letters and digits.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(super) fn encoded(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter();
    let pairs =
        pairs.map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, UNRESERVED)));
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_requires_a_complete_response() {
        let found = |body: &str| token(body.as_bytes(), "t").map(|t| t.expose().to_owned());
        assert_eq!(found(r#"{"a":[1],"t":"ab.c","z":null}"#).as_deref(), Some("ab.c"));
        for body in [
            "",
            "<html>",
            "[]",
            "{}",
            r#"{"t":""}"#,
            r#"{"t":5}"#,
            r#"{"t":null}"#,
            r#"{"t":"a b"}"#,
            r#"{"t":"a\r\nX: y"}"#,
            r#"{"t":"ab""#,
            r#"{"t":"ab"} x"#,
            r#"{"x":{"t":"ab"}}"#,
        ] {
            assert_eq!(found(body), None, "{body}");
        }
    }

    #[test]
    fn portal_is_not_a_catalog() {
        for body in [r#"{"repositories":["a"]}"#, r#"{"repositories":null}"#] {
            assert!(is_catalog(body.as_bytes()), "{body}");
        }
        for body in ["", "<html>Please log in</html>", "{}", r#"{"repositories":["a"]"#] {
            assert!(!is_catalog(body.as_bytes()), "{body}");
        }
    }

    #[test]
    fn complaints_are_quoted_in_short_and_other_bodies_never() {
        let said = |body: &str| complaint(body.as_bytes());
        let imds = r#"{"error":"invalid_request","error_description":"Identity not found"}"#;
        assert_eq!(said(imds), "invalid_request: Identity not found");
        let registry = r#"{"errors":[5,{"code":"DENIED","message":"no\u001b[2J","detail":[]}]}"#;
        assert_eq!(said(registry), "DENIED: no.[2J");
        assert_eq!(said("<html>secret</html>"), "");
        assert_eq!(said(r#"{"refresh_token":"secret"}"#), "");
        assert_eq!(said(&format!(r#"{{"error":"{}"}}"#, "x".repeat(400))).len(), 303);
    }

    #[test]
    fn challenges_are_read() {
        let read = challenge(
            r#"Bearer realm="https://a/oauth2/token",service="a", scope="registry:catalog:*",x=y"#,
        );
        let expected = Challenge {
            realm: "https://a/oauth2/token".to_owned(),
            service: Some("a".to_owned()),
            scope: Some("registry:catalog:*".to_owned()),
        };
        assert_eq!(read, Some(expected));
        for none in ["", "Bearer", "Basic realm=\"a\"", "Bearer service=a", "Bearer realm=\"a"] {
            assert_eq!(challenge(none), None, "{none}");
        }
    }

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

    #[test]
    fn a_value_cannot_add_a_field() {
        assert_eq!(
            encoded(&[("a", "b&c=d"), ("e", "https://f/ é")]),
            "a=b%26c%3Dd&e=https%3A%2F%2Ff%2F%20%C3%A9"
        );
    }
}
