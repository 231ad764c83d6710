//! Where a path is: in the log directory, no link is followed on the way to it.

use std::fs::DirBuilder;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

/// The directory of logs, also below the root of a node. Other accounts than root can write there.
const LOGS: [&str; 3] = ["var", "log", "azure"];

/// Permissions of a directory.
const DIRECTORY_MODE: u32 = 0o755;

/// A path from an open folder.
pub(super) struct Place<'a> {
    /// None outside of the log directory.
    folder: Option<OwnedFd>,
    pub(super) path: &'a Path,
}

impl<'a> Place<'a> {
    pub(super) fn of(path: &'a Path) -> io::Result<Self> {
        let Some((above, below)) = split(path) else { return Ok(Self { folder: None, path }) };
        let folders = below.parent().unwrap_or(below);
        let folder = walk(above, folders, |_, _| Ok(()))?;
        Ok(Self { folder: Some(folder), path: below.file_name().map_or(below, Path::new) })
    }

    pub(super) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_ref().map_or(CWD, OwnedFd::as_fd)
    }

    pub(super) fn is_log(&self) -> bool {
        self.folder.is_some()
    }
}

/// Creates a directory and its parents.
pub(super) fn create_dir_all(path: &Path) -> io::Result<()> {
    let (above, below) = split(path).unwrap_or((path, Path::new("")));
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(above)?;
    let create = |folder: BorrowedFd<'_>, name: &Path| match mkdirat(
        folder,
        name,
        Mode::from_raw_mode(DIRECTORY_MODE),
    ) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    };
    walk(above, below, create).map(drop)
}

/// Opens a folder, one part of `below` after the other.
fn walk(
    above: &Path,
    below: &Path,
    before: impl Fn(BorrowedFd<'_>, &Path) -> io::Result<()>,
) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = openat(CWD, above, flags, Mode::empty())?;
    for name in below.components().map(|part| Path::new(part.as_os_str())) {
        before(folder.as_fd(), name)?;
        let opened = openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty());
        folder = opened.map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR => not_a_directory(name),
            error => error.into(),
        })?;
    }
    Ok(folder)
}

/// Splits a path of the log directory before its last part: `/var/log` and `azure/aks/provision.json`.
fn split(path: &Path) -> Option<(&Path, &Path)> {
    let names: Vec<Component<'_>> = path.components().collect();
    let is_logs =
        |names: &[Component<'_>]| names.iter().zip(LOGS).all(|(name, log)| name.as_os_str() == log);
    let at = names.windows(LOGS.len()).position(is_logs)?;
    let above = names.len() - at - (LOGS.len() - 1);
    let parent = path.ancestors().nth(above)?;
    Some((parent, path.strip_prefix(parent).ok()?))
}

fn not_a_directory(name: &Path) -> io::Error {
    let text = format!("{} is a link or not a directory", name.display());
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_of_the_log_directory_is_split_before_it() {
        for (path, parts) in [
            ("/var/log/azure/aks/provision.json", Some(("/var/log", "azure/aks/provision.json"))),
            ("/mnt/node/var/log/azure/a.log", Some(("/mnt/node/var/log", "azure/a.log"))),
            ("var/log/azure", Some(("var/log", "azure"))),
            ("/var/log/azurex/a", None),
            ("/opt/azure/containers/provision.complete", None),
            ("aks-node-controller.log", None),
        ] {
            let parts = parts.map(|(parent, below)| (Path::new(parent), Path::new(below)));
            assert_eq!(split(Path::new(path)), parts, "{path}");
        }
    }
}
