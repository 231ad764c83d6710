//! Where in the document the parser stands.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::shown;

/// One step from the document's root.
#[derive(Debug)]
pub(super) enum Segment<'a> {
    /// A member, by the name that the document uses.
    Field(Cow<'a, str>),
    /// An element of a list.
    Index(usize),
    /// An entry of a map.
    Key(Cow<'a, str>),
}

/// A path for people: `kubelet_config.kubelet_flags["--v"]`, `custom_ca_certs[2]`.
///
/// Names come from the document, which may be hostile, so they are [`shown`], not copied.
pub(super) fn render(segments: &[Segment<'_>]) -> String {
    let mut path = String::new();
    for segment in segments {
        // Writing to a `String` cannot fail.
        let _ = match segment {
            Segment::Field(name) if path.is_empty() => write!(path, "{}", shown(name)),
            Segment::Field(name) => write!(path, ".{}", shown(name)),
            Segment::Index(index) => write!(path, "[{index}]"),
            Segment::Key(key) => write!(path, "[\"{}\"]", shown(key)),
        };
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_are_escaped_and_cut() {
        let name = format!("a\n\u{1b}[31m\u{202e}\"{}", "x".repeat(500));
        let path = render(&[Segment::Field("m".into()), Segment::Key(name.into())]);
        assert!(path.starts_with("m[\"a\\n\\u{1b}[31m\\u{202e}\\\""), "{path}");
        assert!(path.ends_with("x... (511 bytes)\"]") && path.len() < 200, "{path}");
    }
}
