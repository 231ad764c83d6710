use std::fmt;

use http::uri::PathAndQuery;
use serde::{Deserialize, Serialize};
use url::form_urlencoded::byte_serialize;
use url::{Position, Url};

/// Maximum length of a target. Links to operations have a certificate in their query, about 4 KiB.
const MAX_LENGTH: usize = 16 << 10;

/// Path and query of a request, such as `/subscriptions/…/agentPools/p?api-version=…`.
///
/// Contains no scheme, host, user information or fragment, no empty or dot segments (also percent-encoded), and no
/// backslash, space or control character. Joined to an origin, it stays on that origin.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ArmPath(String);

impl ArmPath {
    /// Parses a path and query, and encodes what a URL must encode.
    pub fn parse(text: &str) -> Result<Self, ArmPathError> {
        let path = text.split('?').next().unwrap_or_default();
        if text.len() > MAX_LENGTH {
            return Err(ArmPathError("it is longer than 16 KiB"));
        }
        if !text.starts_with('/') {
            return Err(ArmPathError("it does not start with a slash"));
        }
        if text.chars().any(is_forbidden) {
            return Err(ArmPathError("it contains a space, control character, backslash or `#`"));
        }
        if path.contains("//") {
            return Err(ArmPathError("it contains an empty segment"));
        }
        if path.split('/').any(|segment| matches!(segment, "." | "..")) {
            return Err(ArmPathError("it contains a dot segment"));
        }
        if path.split('%').skip(1).any(hides_a_separator) {
            return Err(ArmPathError("it contains a percent-encoded separator"));
        }
        let origin = Url::parse("https://origin.invalid/").map_err(|_| NOT_A_URL)?;
        let url = join(&origin, text)?;
        let text = &url[Position::BeforePath..Position::AfterQuery];
        match text.parse::<PathAndQuery>() {
            Ok(_) if text.len() <= MAX_LENGTH => Ok(Self(text.to_owned())),
            _ => Err(NOT_A_URL),
        }
    }

    /// Creates a target from a path without query.
    pub(crate) fn at_version(path: &str, api_version: &str) -> Result<Self, ArmPathError> {
        if path.contains('?') {
            return Err(ArmPathError("it contains a query"));
        }
        Self::parse(&format!("{path}?api-version={api_version}"))
    }

    /// Adds a parameter to the query; `name` is not encoded.
    pub(crate) fn add_parameter(&mut self, name: &str, value: &str) {
        // Spaces as `%20`: not every Azure service accepts `+`.
        let escaped: String = byte_serialize(value.as_bytes()).collect();
        let separator = if self.0.contains('?') { "&" } else { "?" };
        self.0.extend([separator, name, "=", &escaped.replace('+', "%20")]);
    }

    /// Returns the URL of this target on a cloud's endpoint, after comparing the origins.
    pub fn to_url(&self, endpoint: &Url) -> Result<Url, ArmPathError> {
        let url = join(endpoint, &self.0)?;
        if url[Position::BeforePath..Position::AfterQuery] != *self.0 {
            return Err(ArmPathError("it is not the path that would be requested"));
        }
        Ok(url)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path without query, which may contain a signature.
    pub fn path(&self) -> &str {
        self.0.split('?').next().unwrap_or_default()
    }

    pub(crate) fn api_version(&self) -> &str {
        let mut parts = self.0.split(['?', '&']).skip(1);
        parts.find_map(|part| part.strip_prefix("api-version=")).unwrap_or_default()
    }

    /// Returns true if the path is in the subscription, ignoring case.
    pub fn is_under(&self, subscription: &str) -> bool {
        let prefix = format!("/subscriptions/{subscription}/");
        let head = self.path().get(..prefix.len());
        !subscription.is_empty() && head.is_some_and(|head| head.eq_ignore_ascii_case(&prefix))
    }
}

/// Joins a target to an origin and rejects a result with another origin.
fn join(origin: &Url, target: &str) -> Result<Url, ArmPathError> {
    let url = origin.join(target).map_err(|_| NOT_A_URL)?;
    if url.origin() != origin.origin() || !url.username().is_empty() || url.password().is_some() {
        return Err(ArmPathError("it leads to another origin"));
    }
    Ok(url)
}

/// Returns true for characters that a URL parser drops, replaces, or reads as the start of another part.
fn is_forbidden(character: char) -> bool {
    character.is_control() || character.is_whitespace() || matches!(character, '\\' | '#')
}

/// Returns true if the text after a percent sign is not an encoded byte, or encodes a separator, a dot, another
/// percent sign or a control character for a server that decodes the path.
fn hides_a_separator(after: &str) -> bool {
    let byte = after.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let byte = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok());
    byte.is_none_or(|byte| byte.is_ascii_control() || matches!(byte, b'/' | b'\\' | b'.' | b'%'))
}

impl TryFrom<String> for ArmPath {
    type Error = ArmPathError;

    fn try_from(text: String) -> Result<Self, ArmPathError> {
        Self::parse(&text)
    }
}

/// Omits the query, which may contain a signature.
impl fmt::Debug for ArmPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.path())
    }
}

/// The reason why a text is not a target. Does not quote it: a query may contain a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a path on the cloud's own origin: {0}")]
pub struct ArmPathError(&'static str);

const NOT_A_URL: ArmPathError = ArmPathError("it is not part of a valid URL");

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Targets that leave the origin, or that a URL parser changes.
    const FOREIGN: [&str; 28] = [
        "",
        "x",
        "?x",
        "@localhost:9443/steal",
        ".evil.example/x",
        ":443@evil.example/x",
        ":9443/x",
        "//evil.example/x",
        "///evil.example/x",
        "https://evil.example/x",
        "https:evil.example/x",
        "https:/evil.example/x",
        "https:///evil.example/x",
        "http://management.azure.com/x",
        "https://management.azure.com/x",
        "\\\\evil.example/x",
        "/\\evil.example/x",
        "\t//evil.example/x",
        "/\t/evil.example/x",
        "/\n/evil.example/x",
        "\r\n//evil.example/x",
        " //evil.example/x",
        "/a/../..",
        "/a/./b",
        "/a/%2e%2e/b",
        "/a/.%2E/b",
        "/a b",
        "/a#b",
    ];

    /// Targets that mean another path to a server that decodes or shortens them.
    const HIDDEN: [&str; 6] =
        ["/a//b", "/a/%252e%252e/b", "/a/..%2fb", "/a%5cb", "/a%00b", "/a%zz"];

    pub(crate) fn hostile() -> impl Iterator<Item = &'static str> {
        FOREIGN.into_iter().chain(HIDDEN)
    }

    /// Targets of [`FOREIGN`] that were never checked, for tests of the check before the token.
    pub(crate) fn unchecked() -> impl Iterator<Item = ArmPath> {
        FOREIGN.into_iter().map(|text| ArmPath(text.to_owned()))
    }

    fn parsed(text: &str) -> String {
        ArmPath::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}")).0
    }

    #[test]
    fn hostile_target_is_rejected() {
        for text in hostile() {
            assert!(ArmPath::parse(text).is_err(), "{text:?}");
            let json = serde_json::to_string(text).unwrap();
            assert!(serde_json::from_str::<ArmPath>(&json).is_err(), "{text:?}");
        }
    }

    #[test]
    fn target_is_kept_as_it_is_sent() {
        for text in [
            "/",
            "/subscriptions/s/resourceGroups/r(1)_-.x/providers/Microsoft.X/y/z?api-version=v",
            "/ops/1?t=638&c=MII%2B%2F&s=a-b_c~&h=..//@evil",
            "/x?$filter=a%20ge%20%271%27&next=https://evil.example/",
            "/a@evil.example/b:443",
            "/a%20b%C3%A9",
        ] {
            assert_eq!(parsed(text), text);
        }
        assert_eq!(parsed("/gr\u{fc}n/\"?q=\u{202e}"), "/gr%C3%BCn/%22?q=%E2%80%AE");
    }

    #[test]
    fn long_target_is_rejected_also_once_it_is_encoded() {
        let long = |character: &str, times| format!("/{}", character.repeat(times));
        assert_eq!(parsed(&long("a", MAX_LENGTH - 1)).len(), MAX_LENGTH);
        assert!(ArmPath::parse(&long("a", MAX_LENGTH)).is_err());
        assert!(ArmPath::parse(&long("\u{fc}", MAX_LENGTH / 4)).is_err());
    }

    #[test]
    fn path_of_another_subscription_is_not_under_it() {
        let under = |text: &str, id: &str| ArmPath::parse(text).unwrap().is_under(id);
        assert!(under("/subscriptions/s-1/x", "s-1") && under("/SUBSCRIPTIONS/S-1/x?y", "s-1"));
        for (text, id) in [
            ("/subscriptions/s-1", "s-1"),
            ("/subscriptions/s-10/x", "s-1"),
            ("/subscriptions/s-2/x", "s-1"),
            ("/subscriptions/s-2/subscriptions/s-1/x", "s-1"),
            ("/x?/subscriptions/s-1/", "s-1"),
            ("/subscriptions/x", ""),
        ] {
            assert!(!under(text, id), "{text} {id}");
        }
    }

    #[test]
    fn target_on_another_origin_is_not_joined() {
        let origin = Url::parse("https://own.example:8443/").unwrap();
        assert_eq!(join(&origin, "/x").unwrap().as_str(), "https://own.example:8443/x");
        assert!(join(&origin, "https://own.example:8443/x").is_ok());
        for target in [
            "//evil.example/x",
            "/\\evil.example/x",
            "https://evil.example:8443/x",
            "http://own.example:8443/x",
            "https://own.example/x",
            "https://own.example:8443@evil.example/x",
            "https://user@own.example:8443/x",
            "https://:password@own.example:8443/x",
        ] {
            assert!(join(&origin, target).is_err(), "{target}");
        }
    }

    #[test]
    fn debug_output_and_errors_contain_no_query() {
        assert_eq!(format!("{:?}", ArmPath::parse("/a?sig=hunter2").unwrap()), "/a");
        let error = ArmPath::parse("a?sig=hunter2").unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}
