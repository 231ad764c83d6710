//! The real file system. In the log directory, where other accounts than root can write, no link is followed on the way to
//! a file.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, RenameFlags, flock, mkdirat, openat,
    renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use crate::world::{EntryKind, FileInfo, Files, Host, ReadFailure, Replace, Space};

/// Enough for the head of a program.
const PAGE: u64 = 4096;

impl Files for Host {
    fn read(&mut self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadFailure> {
        let file = open(path, OFlags::RDONLY, 0, Links::Follow).map_err(ReadFailure::Open)?;
        // The size from the file system saves growing; it decides nothing, since a growing file has none.
        let length = file.metadata().map_or(0, |found| found.len()).min(limit);
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1);
        // One byte more distinguishes a file of the limit's size from a larger one.
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(ReadFailure::Read)?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > limit) {
            return Err(ReadFailure::TooLarge { limit });
        }
        Ok(bytes)
    }

    fn read_at(&mut self, path: &Path, offset: u64, count: u64) -> io::Result<Vec<u8>> {
        let mut file = open(path, OFlags::RDONLY, 0, Links::Refuse)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::with_capacity(usize::try_from(count.min(PAGE)).unwrap_or_default());
        file.take(count).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn kind(&mut self, path: &Path) -> io::Result<EntryKind> {
        let place = Place::of(path)?;
        let found = statat(place.folder(), place.path, AtFlags::empty())?;
        Ok(kind_of(FileType::from_raw_mode(found.st_mode)))
    }

    fn entry(&mut self, path: &Path) -> io::Result<FileInfo> {
        let place = Place::of(path)?;
        let found = statat(place.folder(), place.path, AtFlags::SYMLINK_NOFOLLOW)?;
        let length = u64::try_from(found.st_size).unwrap_or_default();
        let kind = kind_of(FileType::from_raw_mode(found.st_mode));
        Ok(FileInfo { kind, mode: found.st_mode & 0o7777, length })
    }

    fn read_link(&mut self, path: &Path) -> io::Result<PathBuf> {
        fs::read_link(path)
    }

    fn space(&mut self, path: &Path) -> io::Result<Space> {
        let facts = rustix::fs::statvfs(path)?;
        Ok(Space {
            free_bytes: facts.f_bavail.saturating_mul(facts.f_frsize),
            free_files: (facts.f_files > 0).then_some(facts.f_favail),
        })
    }

    fn create_dir_all(&mut self, path: &Path) -> io::Result<()> {
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

    fn append(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let access = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
        let mut file = open(path, access, LOG_MODE, Links::Refuse).map_err(|error| {
            if error.kind() == io::ErrorKind::IsADirectory { not_a_regular_file() } else { error }
        })?;
        let mode = file.metadata()?.permissions().mode() & 0o7777;
        if mode & !LOG_MODE != 0 {
            file.set_permissions(fs::Permissions::from_mode(mode & LOG_MODE))?;
        }
        file.write_all(bytes)
    }

    fn write_new(&mut self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
        // A link in this place is an error, not followed.
        let access = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mut file = open(path, access, mode, Links::Refuse)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.write_all(bytes)
    }

    fn rename(&mut self, from: &Path, to: &Path, replace: Replace) -> io::Result<()> {
        let (from, to) = (Place::of(from)?, Place::of(to)?);
        match replace {
            Replace::Yes => rename_with(&from, &to, RenameFlags::empty()),
            Replace::No => rename_new(&from, &to),
            Replace::Exchange => rename_with(&from, &to, RenameFlags::EXCHANGE),
        }
    }

    fn sync(&mut self, path: &Path) -> io::Result<()> {
        open(path, OFlags::RDONLY, 0, Links::Follow)?.sync_all()
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        let place = Place::of(path)?;
        Ok(unlinkat(place.folder(), place.path, AtFlags::empty())?)
    }

    fn lock(&mut self, path: &Path) -> io::Result<bool> {
        let file = open(path, OFlags::WRONLY | OFlags::CREATE, 0o600, Links::Refuse)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => self.locks.push(file),
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }
}

/// What happens to a link at the end of a path. In the log directory, none is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    Follow,
    Refuse,
}

/// Opens a regular file or a directory, and never waits: not for the writer of a FIFO, nor for its reader. The check is
/// made on the open file, so what is renamed into its place later cannot change its result.
fn open(path: &Path, access: OFlags, mode: u32, links: Links) -> io::Result<File> {
    let place = Place::of(path)?;
    let follows = links == Links::Follow && !place.is_log();
    let mut flags = access | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    if !follows {
        flags |= OFlags::NOFOLLOW;
    }
    let file = match openat(place.folder(), place.path, flags, Mode::from_raw_mode(mode)) {
        Ok(file) => File::from(file),
        Err(Errno::LOOP) if !follows => return Err(not_a_regular_file()),
        // A FIFO without a reader, a socket.
        Err(Errno::NXIO) => return Err(not_a_regular_file()),
        Err(error) => return Err(error.into()),
    };
    let kind = file.metadata()?.file_type();
    if kind.is_file() || kind.is_dir() { Ok(file) } else { Err(not_a_regular_file()) }
}

fn kind_of(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

/// Permissions of a log: its group may read it, others may not.
const LOG_MODE: u32 = 0o640;

fn not_a_regular_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}

/// Fails if `to` exists, atomically if the file system supports it.
fn rename_new(from: &Place<'_>, to: &Place<'_>) -> io::Result<()> {
    match rename_with(from, to, RenameFlags::NOREPLACE) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            if statat(to.folder(), to.path, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            rename_with(from, to, RenameFlags::empty())
        }
        result => result,
    }
}

fn rename_with(from: &Place<'_>, to: &Place<'_>, flags: RenameFlags) -> io::Result<()> {
    let renamed = if flags.is_empty() {
        renameat(from.folder(), from.path, to.folder(), to.path)
    } else {
        renameat_with(from.folder(), from.path, to.folder(), to.path, flags)
    };
    match renamed {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) if !flags.is_empty() => {
            Err(io::ErrorKind::Unsupported.into())
        }
        result => Ok(result?),
    }
}

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
    #[expect(clippy::disallowed_methods, reason = "a test's own files need no atomic writer")]
    fn part_of_a_file_is_read_up_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "0123456789").unwrap();
        for (offset, count, part) in [(0, 3, "012"), (3, 3, "345"), (8, 3, "89"), (10, 1, "")] {
            assert_eq!(Host::default().read_at(&path, offset, count).unwrap(), part.as_bytes());
        }
        assert_eq!(Host::default().read_at(&path, 99, 1).unwrap(), b"");
        assert_eq!(Host::default().read_at(&path, 0, u64::MAX).unwrap().len(), 10);
        assert!(Host::default().read_at(&folder.path().join("none"), 0, 1).is_err());
    }

    #[test]
    fn free_files_are_unknown_where_none_are_counted() {
        for path in ["/", "/proc"] {
            let counts = rustix::fs::statvfs(path).is_ok_and(|facts| facts.f_files != 0);
            let free_files = Host::default().space(Path::new(path)).unwrap().free_files;
            assert_eq!(free_files.is_some(), counts, "{path}");
        }
    }

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
