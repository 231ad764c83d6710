//! Files in the directory of the demo.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Creates a directory with mode 0700, and its parents.
pub(crate) fn directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a new file, and its parent directories.
pub(crate) fn put(path: &Path, mode: u32, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        directory(parent)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())
}

/// Replaces a file atomically.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension(format!("new-{}", std::process::id()));
    let _ = std::fs::remove_file(&beside);
    put(&beside, 0o644, text)?;
    std::fs::rename(&beside, path)
}

pub(crate) fn log(path: &Path) -> io::Result<std::fs::File> {
    if let Some(parent) = path.parent() {
        directory(parent)?;
    }
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// Larger than any log of a short bootstrap.
const MAX_LOG: u64 = 4 << 20;

/// Reads the files of a node that its timeline needs: logs, events, report and release file.
pub(crate) fn left_by(root: &Path) -> Vec<mooring_trace::TraceFile> {
    let mut files = Vec::new();
    let mut paths = vec![root.join("var/log/azure"), root.join("etc/os-release")];
    while let Some(path) = paths.pop() {
        let Ok(facts) = std::fs::symlink_metadata(&path) else { continue };
        if facts.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            paths.extend(entries.map(|entry| entry.path()));
        } else if facts.is_file()
            && facts.len() <= MAX_LOG
            && let Ok(bytes) = std::fs::read(&path)
        {
            let path = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            files.push(mooring_trace::TraceFile { path, bytes });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}
