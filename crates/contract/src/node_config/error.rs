//! Errors and warnings of the node config parser, and the path where they were found.

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;

use mooring_redact::looks_secret;

use crate::json::{Position, Problem};

/// A document that is not an `AKSNodeConfig`. It names the path, never the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    pub problem: Problem,
    /// The field, such as `cluster_config.location`; empty for the document as a whole.
    pub path: String,
    pub position: Position,
}

impl ParseError {
    /// Returns a stable identifier for labels and conditions.
    pub fn reason(&self) -> &'static str {
        self.problem.reason()
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{} ({})", self.problem, self.position)
    }
}

impl std::error::Error for ParseError {}

/// A field or value of a valid document that this version of the contract does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub what: UnknownName,
    /// The field, such as `cluster_config.color`.
    pub path: String,
    pub position: Position,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownName {
    /// A member whose name is not a field.
    Field,
    /// An unknown name of an enum value; the field counts as unset.
    EnumName,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            UnknownName::Field => "unknown field, ignored",
            UnknownName::EnumName => "unknown enum name, the field counts as not set",
        };
        write!(f, "{}: {what} ({})", self.path, self.position)
    }
}

/// Limit for names that are not the contract's.
const MAX_NAME_LEN: usize = 40;

/// One step from the document's root.
#[derive(Debug)]
pub(super) enum Segment<'a> {
    /// A member that the contract knows, by the name that the document uses.
    Field(Cow<'a, str>),
    /// A member that the contract does not know, and its index in the message.
    Unknown(Cow<'a, str>, usize),
    /// An element of a list.
    Index(usize),
    /// An entry of a map, and its index.
    Key(Cow<'a, str>, usize),
}

/// Returns a human-readable path: `kubelet_config.kubelet_flags["--v"]`, `custom_ca_certs[2]`.
///
/// Names that are not the contract's come from the document, which may be hostile, and may be secrets in the
/// place of a name. Unless it is clearly a name, the index is printed: `kubelet_flags[#3]`.
pub(super) fn render(segments: &[Segment<'_>]) -> String {
    let mut path = String::new();
    for segment in segments {
        let dot = if path.is_empty() { "" } else { "." };
        // Writing to a `String` cannot fail.
        let _ = match segment {
            Segment::Field(name) => write!(path, "{dot}{name}"),
            Segment::Unknown(name, _) if is_plain(name) => write!(path, "{dot}{name}"),
            Segment::Unknown(_, place) => write!(path, "{dot}#{place}"),
            Segment::Index(index) => write!(path, "[{index}]"),
            Segment::Key(key, _) if is_plain(key) => write!(path, "[\"{key}\"]"),
            Segment::Key(_, place) => write!(path, "[#{place}]"),
        };
    }
    path
}

/// Returns true for a short name of common characters that does not resemble a secret.
fn is_plain(name: &str) -> bool {
    let is_of_names = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-/".contains(&byte);
    let is_random = |part: &[u8]| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        part.len() >= 16 && digits >= 4
    };
    (1..=MAX_NAME_LEN).contains(&name.len())
        && name.bytes().all(is_of_names)
        && !looks_secret(name)
        && !name.as_bytes().split(|byte| b"_.-/".contains(byte)).any(is_random)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render_key(key: &str) -> String {
        render(&[Segment::Field("m".into()), Segment::Key(key.into(), 3)])
    }

    #[test]
    fn plain_names_are_printed() {
        for name in [
            "--v",
            "net.core.somaxconn",
            "kubernetes.azure.com/cluster",
            "Standard_D4s_v5",
            "RotateKubeletServerCertificate123",
            "2026-11-15",
            &"x".repeat(40),
        ] {
            assert_eq!(render_key(name), format!("m[\"{name}\"]"));
        }
        let path = [Segment::Unknown("colour".into(), 2), Segment::Index(1)];
        assert_eq!(render(&path), "colour[1]");
    }

    #[test]
    fn unusual_names_are_replaced_by_their_index() {
        for name in [
            "",
            "a b",
            "\u{1b}[31m",
            "é",
            "p@ss",
            "http://user:password@proxy",
            "abcdef.0123456789abcdef",
            "eyJhbGciOiJSUzI1NiJ9.e30.c2ln",
            "token-a1b2c3d4e5f6a7b8c9",
            &"x".repeat(41),
        ] {
            assert_eq!(render_key(name), "m[#3]", "{name}");
        }
        assert_eq!(render(&[Segment::Unknown("a b".into(), 2)]), "#2");
    }
}
