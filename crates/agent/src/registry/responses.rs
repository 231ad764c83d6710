//! Bodies and headers of responses.

use mooring_contract::json::{MAX_DEPTH, ValueKind};
use mooring_redact::Secret;

use crate::format::json::{members, object};

/// Enough for a sentence of Entra ID; foreign text, so it is also made safe to print.
const COMPLAINT_CHARS: usize = 300;

/// Returns the token in the member of this name; `None` if the body is not JSON or has no such token.
pub(super) fn token(body: &[u8], name: &str) -> Option<Secret> {
    let mut found = None;
    object(body, &mut |reader, member| {
        if member == name && reader.peek()? == ValueKind::String {
            found = Some(reader.string()?.into_owned());
            return Ok(());
        }
        reader.skip(MAX_DEPTH)
    })
    .ok()?;
    // A token travels in headers and forms: what could break out of them is none.
    let is_token = |text: &String| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
    found.filter(is_token).map(Secret::from)
}

/// Returns true for a registry's list of repositories, which may be empty.
pub(super) fn is_catalog(body: &[u8]) -> bool {
    let mut found = false;
    let read = object(body, &mut |reader, member| {
        if member == "repositories" {
            found = matches!(reader.peek()?, ValueKind::Array | ValueKind::Null);
        }
        reader.skip(MAX_DEPTH)
    });
    read.is_ok() && found
}

/// Returns the error message of a registry, IMDS or Entra ID; empty for an unknown format. Other bodies
/// are never quoted.
pub(super) fn complaint(body: &[u8]) -> String {
    let mut words: Vec<String> = Vec::new();
    let understood = object(body, &mut |reader, member| match (member, reader.peek()?) {
        ("error" | "error_description", ValueKind::String) => {
            words.push(reader.string()?.into_owned());
            Ok(())
        }
        ("errors", ValueKind::Array) => {
            let mut elements = reader.array()?;
            while elements.next(reader)? {
                if reader.peek()? != ValueKind::Object {
                    reader.skip(MAX_DEPTH)?;
                    continue;
                }
                members(reader, &mut |reader, member| match (member, reader.peek()?) {
                    ("code" | "message", ValueKind::String) => {
                        words.push(reader.string()?.into_owned());
                        Ok(())
                    }
                    _ => reader.skip(MAX_DEPTH),
                })?;
            }
            Ok(())
        }
        _ => reader.skip(MAX_DEPTH),
    });
    if understood.is_err() {
        return String::new();
    }
    excerpt(&words.join(": "), COMPLAINT_CHARS)
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
}
