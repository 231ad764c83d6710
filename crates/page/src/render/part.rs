//! Parts of a page, with their revisions.

use std::hash::Hasher as _;

/// Wraps a section that the script exchanges when its revision changes.
pub(super) fn part(name: &str, html: &str) -> String {
    format!("<div data-part=\"{name}\" data-revision=\"{:016x}\">{html}</div>\n", revision(html))
}

/// Returns a hash of the content. Elapsed times are not content: the script keeps them current.
pub(super) fn revision(html: &str) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once(" data-since>") {
        hasher.write(before.as_bytes());
        rest = after.split_once("</time>").map_or("", |(_, after)| after);
    }
    hasher.write(rest.as_bytes());
    hasher.finish()
}
