//! Following links without leaving the root.
//!
//! A mounted image's `/usr/bin/oras` may be a link to `/opt/bin/oras`, which is the image's own and
//! not that of the machine that checks it.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::world::{EntryKind, FileInfo, World};

/// As many links as Linux itself follows.
const MAX_LINKS: usize = 40;

/// Target of a path, with all links resolved below the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathTarget {
    /// The path exists; the real path includes the root.
    There {
        path: PathBuf,
        entry: FileInfo,
    },
    Missing,
    /// A broken link to this path (without the root).
    Dangling(PathBuf),
}

/// Resolves `path`, which is absolute relative to `root`.
pub(super) fn resolve(world: &mut dyn World, root: Option<&Path>, path: &Path) -> PathTarget {
    let root = root.unwrap_or(Path::new("/"));
    let mut left: Vec<OsString> = components(path);
    let mut at = PathBuf::new();
    let mut links = 0;
    // True if the path itself is a link, not only a parent directory.
    let mut is_link = false;
    while let Some(word) = left.pop() {
        if word == ".." {
            at.pop();
            continue;
        }
        at.push(&word);
        let real = root.join(&at);
        let Ok(entry) = world.entry(&real) else {
            // Word by word: an empty rest would end the path in a slash.
            let mut wanted = Path::new("/").join(&at);
            wanted.extend(left.iter().rev());
            return if is_link { PathTarget::Dangling(wanted) } else { PathTarget::Missing };
        };
        if entry.kind != EntryKind::Link {
            if left.is_empty() {
                return PathTarget::There { path: real, entry };
            }
            continue;
        }
        links += 1;
        is_link |= left.is_empty();
        let target = match world.read_link(&real) {
            Ok(target) if links <= MAX_LINKS => target,
            _ => return PathTarget::Dangling(Path::new("/").join(at)),
        };
        at.pop();
        if target.is_absolute() {
            at.clear();
        }
        left.extend(components(&target));
    }
    // The root itself, or a path that climbs back to it.
    match world.entry(root) {
        Ok(entry) => PathTarget::There { path: root.to_owned(), entry },
        Err(_) => PathTarget::Missing,
    }
}

/// Returns the components of a path, the last one first.
fn components(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .filter_map(|component| match component {
            Component::Normal(word) => Some(word.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::world::Host;

    #[test]
    fn links_resolve_inside_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for part in ["usr/bin", "opt/bin"] {
            std::fs::create_dir_all(root.join(part)).unwrap();
        }
        std::fs::copy("/bin/true", root.join("opt/bin/tool")).unwrap();
        symlink("usr/bin", root.join("bin")).unwrap();
        symlink("/opt/bin/tool", root.join("usr/bin/absolute")).unwrap();
        symlink("../../opt/bin/tool", root.join("usr/bin/relative")).unwrap();
        symlink("../../../../../opt/bin/tool", root.join("usr/bin/climbing")).unwrap();
        symlink("/bin/sh", root.join("usr/bin/outside")).unwrap();
        symlink("loop", root.join("usr/bin/loop")).unwrap();
        let resolve_path = |path: &str| resolve(&mut Host::default(), Some(root), Path::new(path));
        for good in ["/opt/bin/tool", "/bin/absolute", "/usr/bin/relative", "/usr/bin/climbing"] {
            let PathTarget::There { path, entry } = resolve_path(good) else { panic!("{good}") };
            assert_eq!((path, entry.kind), (root.join("opt/bin/tool"), EntryKind::File), "{good}");
        }
        // The machine that checks has a shell; the image has none.
        let PathTarget::Dangling(outside) = resolve_path("/usr/bin/outside") else {
            panic!("a shell")
        };
        // As text: paths are equal regardless of a trailing slash.
        assert_eq!(outside.as_os_str(), "/usr/bin/sh");
        assert!(matches!(resolve_path("/usr/bin/loop"), PathTarget::Dangling(_)));
        assert_eq!(resolve_path("/usr/bin/none"), PathTarget::Missing);
        // The directory is a link; a missing entry in it is not a broken link.
        assert_eq!(resolve_path("/bin/none"), PathTarget::Missing);
        assert!(matches!(resolve_path("/.."), PathTarget::There { .. }));
    }
}
