//! Where in the document the parser stands.

use std::borrow::Cow;
use std::fmt::Write as _;

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
/// Names come from the document, which may be hostile: what is not plain is escaped, what is long
/// is cut.
pub(super) fn render(segments: &[Segment<'_>]) -> String {
    let mut path = String::new();
    for segment in segments {
        match segment {
            Segment::Field(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                push_name(&mut path, name);
            }
            Segment::Index(index) => {
                // Writing to a `String` cannot fail.
                let _ = write!(path, "[{index}]");
            }
            Segment::Key(key) => {
                path.push_str("[\"");
                push_name(&mut path, key);
                path.push_str("\"]");
            }
        }
    }
    path
}

fn push_name(path: &mut String, name: &str) {
    // Longer than any name of the contract (57) and most label keys.
    const MAX_CHARACTERS: usize = 80;
    for (count, character) in name.chars().enumerate() {
        if count == MAX_CHARACTERS {
            path.push('…');
            return;
        }
        if character.is_ascii_graphic() && !matches!(character, '"' | '\\') {
            path.push(character);
        } else {
            path.extend(character.escape_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_are_escaped_and_cut() {
        let name = format!("a\n\u{1b}[31m\u{202e}\"{}", "x".repeat(500));
        let path = render(&[Segment::Field("m".into()), Segment::Key(name.into())]);
        assert!(path.starts_with("m[\"a\\n\\u{1b}[31m\\u{202e}\\\""), "{path}");
        assert!(path.ends_with("x…\"]") && path.len() < 200, "{path}");
    }
}
