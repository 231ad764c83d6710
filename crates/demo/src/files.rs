//! Files of the demo's own folder.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Makes a folder that only its owner can enter, and those above it.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file that is not there yet, and the folders above it.
pub(crate) fn put(path: &Path, mode: u32, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        folder(parent)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())
}

/// Puts a file in the place of an older one, whole.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension(format!("new-{}", std::process::id()));
    let _ = std::fs::remove_file(&beside);
    put(&beside, 0o644, text)?;
    std::fs::rename(&beside, path)
}

/// A log to which a process writes.
pub(crate) fn log(path: &Path) -> io::Result<std::fs::File> {
    if let Some(parent) = path.parent() {
        folder(parent)?;
    }
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// More than any log of a bootstrap that lasts seconds.
const MOST: u64 = 4 << 20;

/// What a node left behind that tells of its boot: its logs, events and report, and what its system is.
pub(crate) fn left_by(root: &Path) -> Vec<mooring_trace::File> {
    let mut files = Vec::new();
    let mut paths = vec![root.join("var/log/azure"), root.join("etc/os-release")];
    while let Some(path) = paths.pop() {
        let Ok(facts) = std::fs::symlink_metadata(&path) else { continue };
        if facts.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            paths.extend(entries.map(|entry| entry.path()));
        } else if facts.is_file()
            && facts.len() <= MOST
            && let Ok(bytes) = std::fs::read(&path)
        {
            let path = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            files.push(mooring_trace::File { path, bytes });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}
